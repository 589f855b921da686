// Consistency of a disjunctive network by search over refinements.
#pragma once

#include <unordered_map>
#include <vector>

#include "closure.hpp"

namespace epignn {

// Cuts a set into parts that closure can decide: as few as a greedy cover by the tractable sets finds.
class Splitter {
 public:
  Splitter(std::vector<Mask> tractable, Mask universal);  // nothing tractable: parts are single relations
  const std::vector<Mask>& parts(Mask mask);
  bool cuts_universal() { return parts(universal_).size() > 1; }

 private:
  std::vector<Mask> tractable_;  // largest first
  Mask universal_;
  std::unordered_map<Mask, std::vector<Mask>> known_;
};

enum class Answer { inconsistent = 0, consistent = 1, undecided = 2 };

class Search {
 public:
  Search(std::vector<Mask> tractable, Mask universal, std::int64_t max_nodes, const Interrupt& interrupt);

  // On `consistent`, `network` is left as a closed network of single relations, otherwise as it was when closed.
  Answer solve(Closure& network);
  std::int64_t nodes = 0;

 private:
  // A pair that is open, and which of its parts is to be tried next.
  struct Choice {
    int i, j;
    bool fine;  // all sets are tractable; what is left is to single relations out
    const std::vector<Mask>* parts;
    std::size_t next;
    std::size_t mark;  // of the network before the choice
  };

  Answer descend(Closure& network);
  bool choose(Closure& network, Choice& choice);
  bool choose_coarse(const Closure& network, Choice& choice);
  bool choose_fine(const Closure& network, Choice& choice);
  void give_up(Closure& network, const Choice& choice);
  static std::int64_t pair(const Closure& network, int i, int j);

  Splitter coarse_, fine_;
  std::int64_t max_nodes_;
  const Interrupt& interrupt_;
  std::vector<Choice> path_;                        // on the heap, for it may be as long as there are pairs
  std::unordered_map<std::int64_t, int> failures_;  // by pair: how often its choice has failed
};

}  // namespace epignn
