#include "search.hpp"

#include <algorithm>

namespace epignn {

Splitter::Splitter(std::vector<Mask> tractable) : tractable_(std::move(tractable)) {
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

Search::Search(std::vector<Mask> tractable, std::int64_t max_nodes, const Interrupt& interrupt)
    : coarse_(std::move(tractable)), fine_({}), max_nodes_(max_nodes), interrupt_(interrupt) {}

Answer Search::solve(Closure& network) {
  if (!network.close(interrupt_)) return Answer::inconsistent;
  return descend(network, coarse_, false);
}

// The pair with the fewest parts, among those the one whose choices have failed most often.
bool Search::choose(const Closure& network, Splitter& splitter, int& i, int& j) {
  std::size_t fewest = 0;
  int worst = -1;
  for (int a = 0; a < network.entities(); ++a)
    for (int b = a + 1; b < network.entities(); ++b) {
      const std::size_t parts = splitter.parts(network.label(a, b)).size();
      if (parts < 2 || (fewest && parts > fewest)) continue;
      const auto found = failures_.find(static_cast<std::int64_t>(a) * network.entities() + b);
      const int failed = found == failures_.end() ? 0 : found->second;
      if (!fewest || parts < fewest || failed > worst) {
        fewest = parts;
        worst = failed;
        i = a;
        j = b;
      }
    }
  return fewest > 0;
}

Answer Search::descend(Closure& network, Splitter& splitter, bool last) {
  int i, j;
  if (!choose(network, splitter, i, j)) return last ? Answer::consistent : descend(network, fine_, true);
  const std::vector<Mask> parts = splitter.parts(network.label(i, j));
  for (Mask part : parts) {
    if (max_nodes_ >= 0 && nodes >= max_nodes_) return Answer::undecided;
    if ((++nodes & 255) == 0) interrupt_();
    Closure branch = network;
    if (branch.refine(i, j, part) && branch.close(interrupt_)) {
      const Answer answer = descend(branch, splitter, last);
      if (answer == Answer::consistent) network = std::move(branch);
      if (answer != Answer::inconsistent) return answer;
    }
    ++failures_[static_cast<std::int64_t>(i) * network.entities() + j];
  }
  return Answer::inconsistent;
}

}  // namespace epignn
