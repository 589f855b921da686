#include "revise.hpp"

#include <algorithm>

namespace epignn {

Revision::Revision(const Algebra& algebra, int entities, Mask start) : algebra_(&algebra), start_(start) {
  grow(entities);
}

void Revision::grow(int entities) {
  const int old = n_;
  const std::vector<Mask> labels = std::move(labels_);
  std::vector<std::vector<std::int64_t>> of_pair = std::move(of_pair_);
  n_ = entities;
  const std::size_t pairs = static_cast<std::size_t>(n_) * n_;
  labels_.assign(pairs, start_);
  of_pair_.assign(pairs, {});
  queued_.assign(pairs, 0);
  for (int i = 0; i < n_; ++i) labels_[at(i, i)] = algebra_->identity;
  for (int i = 0; i < old; ++i)
    for (int j = 0; j < old; ++j) {
      labels_[at(i, j)] = labels[static_cast<std::size_t>(i) * old + j];
      of_pair_[at(i, j)] = std::move(of_pair[static_cast<std::size_t>(i) * old + j]);
    }
  for (const Pair& pair : news_) queued_[key(pair.i, pair.j)] = 1;
  if (start_ != algebra_->universal)  // that two names mean two things is news too
    for (int j = old; j < n_; ++j)
      for (int i = 0; i < j; ++i) wake(i, j);
}

void Revision::wake(int i, int j) {
  char& queued = queued_[key(i, j)];
  if (!queued) news_.push_back({i, j});
  queued = 1;
}

// False when nothing is left of the pair.
bool Revision::narrow(int i, int j, Mask mask, std::int64_t why) {
  const Mask before = labels_[at(i, j)], now = before & mask;
  if (now == before) return true;
  trail_.push_back({i, j, why, next_++, before});
  labels_[at(i, j)] = now;
  labels_[at(j, i)] = i == j ? now : algebra_->converse(now);
  ++refinements;
  if (!now) {
    conflict[0] = i;
    conflict[1] = j;
    return false;
  }
  wake(i, j);
  return true;
}

bool Revision::apply(std::int64_t fact) {
  Fact& one = facts_[fact];
  const std::int64_t number = next_;
  const bool possible = narrow(one.i, one.j, one.mask, ~fact);
  if (next_ > number) one.entry = number;
  return possible;
}

// Carry what is known from i to k on to every j.
bool Revision::through(int i, int k) {
  const Mask left = labels_[at(i, k)];
  const int pieces = (algebra_->relations + 3) / 4;
  Mask table[16][16];
  for (int p = 0; p < pieces; ++p)
    for (Mask bits = 0; bits < 16; ++bits)
      table[p][bits] = algebra_->compose(left, (bits << (4 * p)) & algebra_->universal);
  for (int j = 0; j < n_; ++j) {
    if (j == i || j == k) continue;
    const Mask right = labels_[at(k, j)];
    Mask possible = 0;
    for (int p = 0; p < pieces; ++p) possible |= table[p][(right >> (4 * p)) & 15];
    if (labels_[at(i, j)] & ~possible && !narrow(i, j, possible, k)) return false;
  }
  return true;
}

bool Revision::derive_again(Pair pair) {
  const auto [i, j] = pair;
  for (std::int64_t fact : of_pair_[key(i, j)])
    if (facts_[fact].entry < 0 && !apply(fact)) return false;
  for (int k = 0; k < n_; ++k)
    if (k != i && k != j && !narrow(i, j, algebra_->compose(label(i, k), label(k, j)), k)) return false;
  return true;
}

// Do all that waits, until nothing changes. What a contradiction interrupts waits on.
bool Revision::settle(const Interrupt& interrupt) {
  std::int64_t steps = 0;
  while (conflict[0] < 0) {
    if (!again_.empty()) {
      const Pair pair = again_.back();
      if (derive_again(pair)) again_.pop_back();
    } else if (!waiting_.empty()) {
      const std::int64_t fact = waiting_.front();
      waiting_.pop_front();
      apply(fact);
    } else if (!news_.empty()) {
      const auto [i, j] = news_.front();
      if (through(i, j) && through(j, i)) {
        queued_[key(i, j)] = 0;
        news_.pop_front();
      }
      if ((++steps & 4095) == 0) interrupt();
    } else {
      return true;
    }
  }
  return false;
}

bool Revision::add(int i, int j, Mask mask, const Interrupt& interrupt) {
  const auto fact = static_cast<std::int64_t>(facts_.size());
  facts_.push_back({i, j, mask, -1, true});
  of_pair_[key(i, j)].push_back(fact);
  waiting_.push_back(fact);
  return settle(interrupt);
}

bool Revision::remove(std::int64_t fact, const Interrupt& interrupt) {
  Fact& gone = facts_[fact];
  if (!gone.there) return settle(interrupt);
  gone.there = false;
  std::vector<std::int64_t>& others = of_pair_[key(gone.i, gone.j)];
  others.erase(std::find(others.begin(), others.end(), fact));
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), fact), waiting_.end());
  if (gone.entry < 0) return settle(interrupt);
  const auto begin = std::lower_bound(trail_.begin(), trail_.end(), gone.entry,
                                      [](const Entry& entry, std::int64_t number) { return entry.number < number; });
  std::vector<char> falls(labels_.size(), 0);  // by key: whether what is known of a pair rests on the fact
  auto kept = begin;
  for (auto entry = begin; entry != trail_.end(); ++entry) {
    const int i = entry->i, j = entry->j;
    const bool was = falls[key(i, j)];
    const bool rests = was || (entry->why < 0 ? ~entry->why == fact
                                              : falls[key(i, static_cast<int>(entry->why))] ||
                                                    falls[key(static_cast<int>(entry->why), j)]);
    if (!rests) {
      *kept++ = *entry;
      continue;
    }
    if (entry->why < 0) facts_[~entry->why].entry = -1;
    if (was) continue;
    falls[key(i, j)] = 1;
    labels_[at(i, j)] = entry->before;
    labels_[at(j, i)] = i == j ? entry->before : algebra_->converse(entry->before);
    again_.push_back({i, j});
    if ((conflict[0] == i && conflict[1] == j) || (conflict[0] == j && conflict[1] == i))
      conflict[0] = conflict[1] = -1;
  }
  trail_.erase(kept, trail_.end());
  return settle(interrupt);
}

std::vector<std::int64_t> Revision::reasons(int i, int j) const {
  std::vector<char> wanted(labels_.size(), 0);
  wanted[key(i, j)] = 1;
  std::vector<std::int64_t> found;
  for (auto entry = trail_.rbegin(); entry != trail_.rend(); ++entry) {
    if (!wanted[key(entry->i, entry->j)]) continue;
    if (entry->why < 0) {
      found.push_back(~entry->why);
    } else {
      wanted[key(entry->i, static_cast<int>(entry->why))] = 1;
      wanted[key(static_cast<int>(entry->why), entry->j)] = 1;
    }
  }
  return found;
}

}  // namespace epignn
