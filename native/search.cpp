#include "search.hpp"

#include <algorithm>

namespace epignn {

Splitter::Splitter(std::vector<Mask> tractable, Mask universal)
    : tractable_(std::move(tractable)), universal_(universal) {
  std::stable_sort(tractable_.begin(), tractable_.end(),
                   [](Mask a, Mask b) { return count(a) > count(b); });
}

const std::vector<Mask>& Splitter::parts(Mask mask) {
  auto found = known_.find(mask);
  if (found != known_.end()) return found->second;
  std::vector<Mask> parts;
  for (Mask rest = mask; rest;) {
    Mask part = rest & (~rest + 1);
    for (Mask candidate : tractable_)
      if (!(candidate & ~rest)) {
        part = candidate;
        break;
      }
    parts.push_back(part);
    rest &= ~part;
  }
  return known_.emplace(mask, std::move(parts)).first->second;
}

Search::Search(std::vector<Mask> tractable, Mask universal, std::int64_t max_nodes, const Interrupt& interrupt)
    : coarse_(std::move(tractable), universal), fine_({}, universal), max_nodes_(max_nodes), interrupt_(interrupt) {}

Answer Search::solve(Closure& network) {
  if (!network.close(interrupt_)) return Answer::inconsistent;
  const std::size_t root = network.mark();
  Answer answer = Answer::undecided;
  try {
    answer = descend(network);
  } catch (...) {  // interrupted
    network.undo(root);
    network.forget();
    throw;
  }
  if (answer != Answer::consistent) network.undo(root);
  network.forget();
  return answer;
}

Answer Search::descend(Closure& network) {
  for (Choice choice; choose(network, choice);) {
    path_.push_back(choice);
    for (bool found = false; !found;) {
      Choice& last = path_.back();
      if (last.next < last.parts->size()) {
        if (max_nodes_ >= 0 && nodes >= max_nodes_) return Answer::undecided;
        if ((++nodes & 255) == 0) interrupt_();
        found = network.refine(last.i, last.j, (*last.parts)[last.next++]) && network.close(interrupt_);
        if (!found) give_up(network, last);
      } else {
        path_.pop_back();
        if (path_.empty()) return Answer::inconsistent;
        give_up(network, path_.back());
      }
    }
  }
  return Answer::consistent;
}

// The part that was tried last leads nowhere.
void Search::give_up(Closure& network, const Choice& choice) {
  network.undo(choice.mark);
  ++failures_[pair(network, choice.i, choice.j)];
}

std::int64_t Search::pair(const Closure& network, int i, int j) {
  return static_cast<std::int64_t>(i) * network.entities() + j;
}

bool Search::choose(Closure& network, Choice& choice) {
  const bool fine = !path_.empty() && path_.back().fine;
  choice.fine = fine || !choose_coarse(network, choice);
  if (choice.fine && !choose_fine(network, choice)) return false;
  choice.parts = &(choice.fine ? fine_ : coarse_).parts(network.label(choice.i, choice.j));
  choice.next = 0;
  choice.mark = network.mark();
  return true;
}

// The pair with the fewest parts, among those the one whose choices have failed most often.
bool Search::choose_coarse(const Closure& network, Choice& choice) {
  const bool with_universal = coarse_.cuts_universal();
  std::size_t fewest = 0;
  int worst = -1;
  for (int a = 0; a < network.entities(); ++a)
    for (int w = a / 64; w < network.words(); ++w)
      for (std::uint64_t open = network.open(a, w, with_universal); open; open &= open - 1) {
        const int b = w * 64 + lowest(open);
        const std::size_t parts = coarse_.parts(network.label(a, b)).size();
        if (parts < 2 || (fewest && parts > fewest)) continue;
        const auto found = failures_.find(pair(network, a, b));
        const int failed = found == failures_.end() ? 0 : found->second;
        if (!fewest || parts < fewest || failed > worst) {
          fewest = parts;
          worst = failed;
          choice.i = a;
          choice.j = b;
        }
      }
  return fewest > 0;
}

// The first pair; those before the last fine choice are no longer open.
bool Search::choose_fine(const Closure& network, Choice& choice) {
  for (int a = path_.empty() || !path_.back().fine ? 0 : path_.back().i; a < network.entities(); ++a)
    for (int w = a / 64; w < network.words(); ++w)
      if (const std::uint64_t open = network.open(a, w, true)) {
        choice.i = a;
        choice.j = w * 64 + lowest(open);
        return true;
      }
  return false;
}

}  // namespace epignn
