// Algebraic closure of a dense network that facts leave as well as enter.
//
// Every time a pair becomes smaller, the trail gets an entry with its reason: a fact, or the entity between. When a
// fact goes, a walk along the trail finds the entries that rest on it, directly or through others. Only the pairs of
// these get back what they had before, and are derived again.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "algebra.hpp"

namespace epignn {

class Revision {
 public:
  // `start` is what may hold between two entities of which nothing is said.
  Revision(const Algebra& algebra, int entities, Mask start);

  int entities() const { return n_; }
  void grow(int entities);
  std::int64_t facts() const { return static_cast<std::int64_t>(facts_.size()); }
  std::int64_t trail() const { return static_cast<std::int64_t>(trail_.size()); }
  Mask label(int i, int j) const { return labels_[at(i, j)]; }
  const std::vector<Mask>& labels() const { return labels_; }

  // Both return whether no pair is empty; a fact is named by its number, in the order in which they were added.
  bool add(int i, int j, Mask mask, const Interrupt& interrupt);
  bool remove(std::int64_t fact, const Interrupt& interrupt);

  // The facts on which what is known of a pair rests, oldest derivation last.
  std::vector<std::int64_t> reasons(int i, int j) const;

  int conflict[2] = {-1, -1};
  std::int64_t refinements = 0;

 private:
  struct Fact {
    std::int32_t i, j;
    Mask mask;
    std::int64_t entry;  // the number of its entry in the trail; -1 if it told nothing new
    bool there;
  };
  struct Entry {
    std::int32_t i, j;
    std::int64_t why;  // an entity k, or ~fact
    std::int64_t number;
    Mask before;
  };
  struct Pair {
    std::int32_t i, j;
  };

  std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * n_ + j; }
  std::size_t key(int i, int j) const { return i < j ? at(i, j) : at(j, i); }
  bool narrow(int i, int j, Mask mask, std::int64_t why);
  void wake(int i, int j);
  bool apply(std::int64_t fact);
  bool derive_again(Pair pair);
  bool through(int i, int k);
  bool settle(const Interrupt& interrupt);

  const Algebra* algebra_;
  int n_ = 0;
  Mask start_;
  std::vector<Mask> labels_;
  std::vector<Fact> facts_;
  std::vector<std::vector<std::int64_t>> of_pair_;  // by key: the facts of a pair
  std::vector<Entry> trail_;
  std::int64_t next_ = 0;
  std::deque<Pair> news_;     // pairs that became smaller, not yet carried on
  std::vector<char> queued_;  // by key: whether a pair is among them
  std::vector<Pair> again_;   // pairs that lost a reason
  std::deque<std::int64_t> waiting_;  // facts that came while the others clashed
};

}  // namespace epignn
