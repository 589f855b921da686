#include "closure.hpp"

#include <algorithm>

#include "inline.hpp"

namespace epignn {
namespace {

// dst and src are the rows of two entities; WORDS of them at a time stay in registers.
template <int WORDS>
EPIGNN_INLINE void meet(std::uint64_t* dst, const std::uint64_t* src, int words, const Plan& plan) {
  for (int w = 0; w < words; w += WORDS) {
    for (const Plan::Group& group : plan.groups) {
      std::uint64_t any[WORDS] = {};
      for (std::uint8_t s : group.from) {
        const std::uint64_t* from = src + static_cast<std::size_t>(s) * words + w;
        for (int q = 0; q < WORDS; ++q) any[q] |= from[q];
      }
      for (std::uint8_t t : group.into) {
        std::uint64_t* into = dst + static_cast<std::size_t>(t) * words + w;
        for (int q = 0; q < WORDS; ++q) into[q] &= any[q];
      }
    }
  }
}

void meet_narrow(std::uint64_t* dst, const std::uint64_t* src, int words, const Plan& plan) {
  meet<1>(dst, src, words, plan);
}

void meet_wide(std::uint64_t* dst, const std::uint64_t* src, int words, const Plan& plan) {
  meet<8>(dst, src, words, plan);
}

int padded(int entities) {
  int words = (entities + 63) / 64;
  return words <= 2 ? words : (words + 7) / 8 * 8;
}

}  // namespace

Plans::Plans(const Algebra& algebra) : algebra_(algebra) {
  if (algebra.relations <= 16) small_.resize(std::size_t{1} << algebra.relations);
}

const Plan& Plans::operator[](Mask mask) {
  if (small_.empty()) {
    auto found = large_.find(mask);
    return found != large_.end() ? found->second : large_.emplace(mask, make(mask)).first->second;
  }
  std::unique_ptr<Plan>& plan = small_[mask];
  if (!plan) plan = std::make_unique<Plan>(make(mask));
  return *plan;
}

Plan Plans::make(Mask mask) const {
  const int relations = algebra_.relations;
  std::vector<Mask> sources(relations, 0);  // by t: the s with t in mask∘s
  for (Mask rest = mask; rest; rest &= rest - 1)
    for (int s = 0; s < relations; ++s)
      for (Mask ts = algebra_.composition[lowest(rest) * relations + s]; ts; ts &= ts - 1)
        sources[lowest(ts)] |= Mask{1} << s;
  Plan plan;
  std::vector<Mask> seen;
  for (int t = 0; t < relations; ++t) {
    if (sources[t] == algebra_.universal) continue;
    auto at = std::find(seen.begin(), seen.end(), sources[t]) - seen.begin();
    if (at == static_cast<std::ptrdiff_t>(seen.size())) {
      seen.push_back(sources[t]);
      plan.groups.emplace_back();
      for (Mask from = sources[t]; from; from &= from - 1)
        plan.groups.back().from.push_back(static_cast<std::uint8_t>(lowest(from)));
    }
    plan.groups[at].into.push_back(static_cast<std::uint8_t>(t));
  }
  return plan;
}

Closure::Closure(const Algebra& algebra, std::shared_ptr<Plans> plans, int entities)
    : algebra_(&algebra),
      plans_(std::move(plans)),
      n_(entities),
      words_(padded(entities)),
      block_(static_cast<std::size_t>(words_) * algebra.relations),
      bits_(block_ * entities, 0),
      valid_(words_, 0),
      awake_(static_cast<std::size_t>(words_) * entities, 0),
      queued_(entities, 0),
      before_(block_),
      work_(words_),
      used_(entities) {
  for (int j = 0; j < n_; ++j) valid_[j / 64] |= Word{1} << (j % 64);
  for (int i = 0; i < n_; ++i) {
    for (int t = 0; t < algebra.relations; ++t)
      std::copy(valid_.begin(), valid_.end(), row(i) + static_cast<std::size_t>(t) * words_);
    for (int t = 0; t < algebra.relations; ++t)
      if (!(algebra.identity >> t & 1))
        row(i)[static_cast<std::size_t>(t) * words_ + i / 64] &= ~(Word{1} << (i % 64));
  }
}

Closure Closure::grown(int entities) const {
  Closure larger(*algebra_, plans_, entities);
  for (int i = 0; i < n_; ++i)
    for (int t = 0; t < algebra_->relations; ++t)
      for (int w = 0; w < (n_ + 63) / 64; ++w) {
        Word& target = larger.row(i)[static_cast<std::size_t>(t) * larger.words_ + w];
        target = (target & ~valid_[w]) | row(i)[static_cast<std::size_t>(t) * words_ + w];
      }
  for (int i = 0; i < n_; ++i)  // news not yet acted on stays news
    for (int w = 0; w < words_; ++w)
      for (Word rest = awake_[static_cast<std::size_t>(i) * words_ + w]; rest; rest &= rest - 1)
        larger.wake(i, w * 64 + lowest(rest));
  larger.statistics = statistics;
  std::copy(conflict, conflict + 2, larger.conflict);
  return larger;
}

Mask Closure::label(int i, int j) const {
  const Word* at = row(i) + j / 64;
  Mask result = 0;
  for (int t = 0; t < algebra_->relations; ++t, at += words_) result |= (*at >> (j % 64) & 1) << t;
  return result;
}

void Closure::matrix(Mask* out) const {
  std::fill(out, out + static_cast<std::size_t>(n_) * n_, 0);
  for (int i = 0; i < n_; ++i, out += n_)
    for (int t = 0; t < algebra_->relations; ++t)
      for (int w = 0; w < words_; ++w)
        for (Word rest = row(i)[static_cast<std::size_t>(t) * words_ + w]; rest; rest &= rest - 1)
          out[w * 64 + lowest(rest)] |= Mask{1} << t;
}

std::vector<Mask> Closure::triangle() const {
  std::vector<Mask> pairs(static_cast<std::size_t>(n_) * static_cast<std::size_t>(std::max(n_ - 1, 0)) / 2, 0);
  Mask* out = pairs.data();
  for (int i = 0; i < n_; ++i) {
    const int after = i + 1;
    for (int t = 0; t < algebra_->relations; ++t)
      for (int w = after / 64; w < words_; ++w) {
        Word rest = row(i)[static_cast<std::size_t>(t) * words_ + w];
        if (w == after / 64) rest &= ~Word{0} << (after % 64);
        for (; rest; rest &= rest - 1) out[w * 64 + lowest(rest) - after] |= Mask{1} << t;
      }
    out += n_ - after;
  }
  return pairs;
}

void Closure::wake(int i, int k) {
  awake_[static_cast<std::size_t>(i) * words_ + k / 64] |= Word{1} << (k % 64);
  if (!queued_[i]) {
    queued_[i] = 1;
    queue_.push_back(i);
  }
}

// The relation holds no longer from i to j.
void Closure::clear(int i, int j, int relation) {
  const std::size_t at = i * block_ + static_cast<std::size_t>(relation) * words_ + j / 64;
  if (recording_) trail_.push_back({at, bits_[at]});
  bits_[at] &= ~(Word{1} << (j % 64));
}

bool Closure::refine(int i, int j, Mask mask) {
  const Mask removed = label(i, j) & ~mask;
  if (!removed) return true;
  for (Mask rest = removed; rest; rest &= rest - 1) {
    const int t = lowest(rest);
    clear(i, j, t);
    clear(j, i, algebra_->converses[t]);
  }
  ++statistics.refinements;
  if (!label(i, j) || !label(j, i)) {
    conflict[0] = i;
    conflict[1] = j;
    return false;
  }
  wake(i, j);
  wake(j, i);
  return true;
}

// Refine row i through every k that has news, in one go.
bool Closure::refine_row(int i) {
  Word* const mine = row(i);
  Word* const news = &awake_[static_cast<std::size_t>(i) * words_];
  std::copy(news, news + words_, work_.begin());
  std::fill(news, news + words_, 0);
  std::copy(mine, mine + block_, before_.begin());
  for (int w = 0; w < words_; ++w)
    for (Word rest = work_[w]; rest; rest &= rest - 1) {
      const int k = w * 64 + lowest(rest);
      const Mask mask = label(i, k);
      used_[k] = mask;
      const Plan& plan = (*plans_)[mask];
      if (plan.groups.empty()) continue;
      (words_ <= 2 ? meet_narrow : meet_wide)(mine, row(k), words_, plan);
      ++statistics.steps;
    }
  return record_changes(i);
}

// Carry what row i has lost over to the other rows, and wake the pairs that have news by it.
bool Closure::record_changes(int i) {
  const int relations = algebra_->relations;
  const Word* const mine = row(i);
  if (recording_)
    for (std::size_t at = 0; at < block_; ++at)
      if (before_[at] != mine[at]) trail_.push_back({i * block_ + at, before_[at]});
  for (int w = 0; w < words_; ++w) {
    Word changed = 0, alive = 0;
    for (int t = 0; t < relations; ++t) {
      const Word now = mine[static_cast<std::size_t>(t) * words_ + w];
      changed |= before_[static_cast<std::size_t>(t) * words_ + w] & ~now;
      alive |= now;
    }
    if (alive != valid_[w]) {
      conflict[0] = i;
      conflict[1] = w * 64 + lowest(valid_[w] & ~alive);
      return false;
    }
    for (Word rest = changed; rest; rest &= rest - 1) {
      const int bit = lowest(rest), j = w * 64 + bit;
      for (int t = 0; t < relations; ++t) {
        const std::size_t at = static_cast<std::size_t>(t) * words_ + w;
        if ((before_[at] & ~mine[at]) >> bit & 1) clear(j, i, algebra_->converses[t]);
      }
      ++statistics.refinements;
      const Mask now = label(i, j);
      // A k that refined the row with what is known of it now has nothing new to say.
      if (!(work_[w] >> bit & 1 && used_[j] == now) && !(*plans_)[now].groups.empty()) wake(i, j);
      if (!(*plans_)[label(j, i)].groups.empty()) wake(j, i);
    }
  }
  return true;
}

bool Closure::close(const Interrupt& interrupt) {
  if (conflict[0] >= 0) return false;
  std::int64_t next_check = statistics.steps + 100000;
  while (queue_front_ < queue_.size()) {
    const int i = queue_[queue_front_++];
    queued_[i] = 0;
    if (queue_front_ > 4096 && queue_front_ * 2 > queue_.size()) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queue_front_));
      queue_front_ = 0;
    }
    if (!refine_row(i)) return false;
    if (statistics.steps >= next_check) {
      interrupt();
      next_check = statistics.steps + 100000;
    }
  }
  queue_.clear();
  queue_front_ = 0;
  return true;
}

std::uint64_t Closure::open(int i, int w, bool with_universal) const {
  Word once = 0, twice = 0, always = ~Word{0};
  const Word* at = row(i) + w;
  for (int t = 0; t < algebra_->relations; ++t, at += words_) {
    twice |= once & *at;
    once |= *at;
    always &= *at;
  }
  if (!with_universal) twice &= ~always;
  return w == i / 64 ? twice & (~Word{1} << (i % 64)) : twice;
}

std::size_t Closure::mark() {
  recording_ = true;
  return trail_.size();
}

void Closure::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) bits_[trail_.back().at] = trail_.back().before;
  for (; queue_front_ < queue_.size(); ++queue_front_) {  // news of what is no longer so
    const int i = queue_[queue_front_];
    queued_[i] = 0;
    std::fill_n(awake_.begin() + static_cast<std::ptrdiff_t>(i) * words_, words_, 0);
  }
  queue_.clear();
  queue_front_ = 0;
  conflict[0] = conflict[1] = -1;
}

void Closure::forget() {
  recording_ = false;
  trail_.clear();
  trail_.shrink_to_fit();
}

}  // namespace epignn
