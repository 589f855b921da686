// Directional and partial closure of sparse networks, along an elimination order.
#pragma once

#include <cstdint>
#include <vector>

#include "algebra.hpp"

namespace epignn {

// A chordal graph: vertices are positions in the elimination order, and every vertex keeps its later
// neighbours, which form a clique.
struct Chordal {
  std::vector<std::int32_t> order;    // position -> entity
  std::vector<std::int64_t> offsets;  // per position: where its later neighbours begin
  std::vector<std::int32_t> later;    // positions, ascending
};

// Complete a graph to a chordal one. Without an order the entity with the fewest neighbours goes next;
// entities with a larger `rank` go later. Given up where there are more than `most` edges: the order is then empty.
Chordal complete(int entities, const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second,
                 const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& rank, std::int64_t most,
                 const Interrupt& interrupt);

// Labels of the edges of a chordal graph, from a vertex to its later neighbours.
class Sweeper {
 public:
  Sweeper(const Algebra& algebra, const Chordal& graph);

  // The position of the edge between two positions, or -1.
  std::int64_t find(std::int32_t from, std::int32_t to) const;
  bool up(const Interrupt& interrupt);    // directional path consistency: eliminate vertex by vertex
  bool down(const Interrupt& interrupt);  // the way back: refine each vertex by the clique after it

  std::vector<Mask> labels;
  std::int64_t triangles = 0;
  std::int64_t refinements = 0;
  std::int64_t conflict = -1;  // an edge that has become empty

 private:
  bool refine(std::int64_t edge, Mask mask);

  const Algebra& algebra_;
  const Chordal& graph_;
};

// What follows of every pair, entity after entity against the order of their elimination: from an entity to one that
// was eliminated later, through its own later neighbours alone. Edges offsets[p]..offsets[p+1] lead from the entity at
// place p of the order. Gives the pairs i < j, row by row; nothing when a pair is left without a relation.
std::vector<Mask> spread(const Algebra& algebra, const std::vector<std::int32_t>& order,
                         const std::vector<std::int64_t>& offsets, const std::int32_t* ends, const Mask* labels,
                         const Interrupt& interrupt);

}  // namespace epignn
