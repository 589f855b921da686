// Consistency of a disjunctive network by search over refinements.
#pragma once

#include <unordered_map>
#include <vector>

#include "closure.hpp"

namespace epignn {

// Cuts a set into parts that closure can decide: as few as a greedy cover by the tractable sets finds.
class Splitter {
 public:
  explicit Splitter(std::vector<Mask> tractable);  // empty: parts are single relations
  const std::vector<Mask>& parts(Mask mask);

 private:
  std::vector<Mask> tractable_;  // largest first
  std::unordered_map<Mask, std::vector<Mask>> known_;
};

enum class Answer { inconsistent = 0, consistent = 1, undecided = 2 };

class Search {
 public:
  Search(std::vector<Mask> tractable, std::int64_t max_nodes, const Interrupt& interrupt);

  // On `consistent`, `network` is left as a closed network of single relations.
  Answer solve(Closure& network);
  std::int64_t nodes = 0;

 private:
  Answer descend(Closure& network, Splitter& splitter, bool last);
  bool choose(const Closure& network, Splitter& splitter, int& i, int& j);

  Splitter coarse_, fine_;
  std::int64_t max_nodes_;
  const Interrupt& interrupt_;
  std::unordered_map<std::int64_t, int> failures_;  // by pair: how often its choice has failed
};

}  // namespace epignn
