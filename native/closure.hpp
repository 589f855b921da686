// Algebraic closure of a dense network, bit-sliced.
//
// For every entity i and base relation t there is a row of bits over all j: may t hold from i to j? One step
// refines a whole row at once through an entity k: with M the set known from i to k,
//     row[i][t] &= OR of row[k][s] over all s with t in M∘s,
// 64 to 512 pairs an instruction. Which s belong to which t depends on M alone and is planned once per M.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "algebra.hpp"

namespace epignn {

// How a set M refines a row: each group ORs the source rows `from` and ANDs the result into the rows `into`.
// Relations t that M leaves unconstrained do not occur; a plan without groups says nothing.
struct Plan {
  struct Group {
    std::vector<std::uint8_t> from, into;
  };
  std::vector<Group> groups;
};

class Plans {
 public:
  explicit Plans(const Algebra& algebra);
  const Plan& operator[](Mask mask);

 private:
  Plan make(Mask mask) const;

  const Algebra& algebra_;
  std::vector<std::unique_ptr<Plan>> small_;  // by mask, where there are few enough relations
  std::unordered_map<Mask, Plan> large_;
};

struct Statistics {
  std::int64_t steps = 0;        // rows refined through an entity
  std::int64_t refinements = 0;  // pairs that became smaller
};

class Closure {
 public:
  Closure(const Algebra& algebra, std::shared_ptr<Plans> plans, int entities);

  int entities() const { return n_; }
  int words() const { return (n_ + 63) / 64; }
  const Algebra& algebra() const { return *algebra_; }
  Closure grown(int entities) const;  // the same knowledge, with further entities of which nothing is known
  Mask label(int i, int j) const;
  void matrix(Mask* out) const;
  std::vector<Mask> triangle() const;  // the pairs i < j, row by row
  // Restrict the pair; what follows waits for `close`. False when nothing is left.
  bool refine(int i, int j, Mask mask);
  // Propagate until nothing changes. False when a pair has become empty: `conflict` names it.
  bool close(const Interrupt& interrupt);

  // The j > i of word w to which several relations are possible from i; those where all are can be left out.
  std::uint64_t open(int i, int w, bool with_universal) const;

  // Ways back, for search: everything since a mark, which is set in a closed network, can be undone.
  std::size_t mark();
  void undo(std::size_t mark);
  void forget();  // go no way back

  Statistics statistics;
  int conflict[2] = {-1, -1};

 private:
  using Word = std::uint64_t;

  Word* row(int i) { return &bits_[static_cast<std::size_t>(i) * block_]; }
  const Word* row(int i) const { return &bits_[static_cast<std::size_t>(i) * block_]; }
  bool refine_row(int i);
  bool record_changes(int i);
  void wake(int i, int k);
  void clear(int i, int j, int relation);

  const Algebra* algebra_;
  std::shared_ptr<Plans> plans_;
  int n_;
  int words_;          // words of a row of bits, padded
  std::size_t block_;  // words of all rows of an entity
  std::vector<Word> bits_;
  std::vector<Word> valid_;   // which bits of a row stand for entities
  std::vector<Word> awake_;   // per i: the k whose pair (i, k) has news for row i
  std::vector<int> queue_;    // entities with a wake k, first in first out
  std::size_t queue_front_ = 0;
  std::vector<char> queued_;
  std::vector<Word> before_, work_;
  std::vector<Mask> used_;  // the set with which k has refined the row under work

  // Words of `bits_` before they changed, oldest first. Bits only go, so that it never grows beyond their number.
  struct Change {
    std::size_t at;
    Word before;
  };
  std::vector<Change> trail_;
  bool recording_ = false;
};

}  // namespace epignn
