// Message passing from several heads over one graph, and its gradient: link prediction.
//
// States are as in propagate.hpp. A node hears nothing of a head that is further away than there were rounds: there
// its state is that of the background, a pass without any head, which all heads share. So a pass computes, in round
// l, the nodes within l steps of its head (`level`) from which what is wanted can still be reached (`need`).
// Every edge has its inverse, so that one list of edges serves both searches.
//
// Facets never meet in a pass. So passes are made block by block, a block being the facets that fill a register
// (blocks.hpp): matrices and states of one block stay in the cache, and no more than one block of one pass is ever
// held. The gradient makes a block anew and goes back through it at once, which is faster than reading back from
// memory what the forward pass has written there. Threads share the blocks, so that no sum depends on how many there
// are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "inline.hpp"
#include "propagate.hpp"

namespace epignn {

// Edges into node v are offset[v]..offset[v+1].
struct HeadGraph {
  std::int32_t nodes, relations, facets, size, rounds;
  std::int32_t counting;  // facets, the last ones, that are pooled by mean
  bool self_message;  // pool the former state of a node with what it hears
  bool silent;        // nodes that know nothing of the head send nothing; otherwise they send the background
  Pooling pooling;
  const std::int32_t* offset;
  const std::int32_t* source;
  const std::int32_t* label;
  std::int32_t dim() const { return facets * size; }
};

// Passes to make: heads, the edges that each leaves out, the nodes whose last state each is asked for, and, if passes
// are pruned, the nodes that each follows: all others stay in the background.
struct HeadBatch {
  std::int32_t heads;
  const std::int32_t* head;            // heads
  const std::int64_t* left_out_offset; // heads + 1
  const std::int32_t* left_out;        // edges
  const std::int64_t* wanted_offset;   // heads + 1
  const std::int32_t* wanted;          // nodes
  const std::int64_t* followed_offset; // heads + 1; or none
  const std::int32_t* followed;        // nodes, the head among them
};

// What a pass has to compute. Its nodes have places 0.. of their own.
struct Plan {
  std::int32_t head = -1;             // keeps its state, the identity; -1 in the background
  std::vector<std::int32_t> node;     // at each place
  std::vector<std::int32_t> level;    // of each place
  std::vector<std::int64_t> round;    // rounds + 2: where in `listed` a round begins
  std::vector<std::int32_t> listed;   // places that a round computes; in round 0 the head
  std::vector<std::int64_t> borrow;   // rounds + 2: where in `borrowed` a round begins
  std::vector<std::int32_t> borrowed; // places that have, after a round, the state of the background
  std::vector<std::int64_t> offset;   // places + 1: edges into a place, without those left out
  std::vector<std::int32_t> source, label;
  std::vector<std::int32_t> wanted;   // place of each wanted node; -1 - node where it is in the background
};

// What the pass of a batch's head h has to compute; and the background, which is every node in every round.
Plan plan_pass(const HeadGraph& g, const HeadBatch& b, std::int32_t h);
Plan plan_background(const HeadGraph& g);

// One block of one pass, and what it is computed in. `states` is (rounds + 1, places, lanes).
template <typename T>
struct BlockPass {
  const HeadGraph& g;
  const Plan& plan;
  int lanes;
  Pooling pooling;
  const T* matrices;     // (relations, i, facets of the block x k)
  const T* transposed;   // (relations, k, facets of the block x i)
  const T* base;         // (rounds + 1, nodes, lanes): the background, or none
  T* states;
  std::int32_t* chosen;  // (listed, lanes), for min: the edge of each component; -1: the node itself
  T* total;              // (listed, facets of the block): the sum before normalising; -1: nothing heard
  // All rounds. With `keep`, `chosen` and `total` are written.
  void compute(bool keep) const;
  // From the gradient of the last states in the first of two layers `grad` (places, lanes); adds to that of the
  // transposed matrices. What is borrowed adds to `grad_base`, the gradient of all states of the background, from
  // which the background itself goes on.
  void compute_back(T* grad, T* grad_base, T* grad_transposed) const;
};

template <typename T>
class HeadPasses {
 public:
  // `matrices` is (relations, facets, i, k).
  HeadPasses(const HeadGraph& graph, const T* matrices, int threads);
  // Writes the wanted states of all heads to `result` (wanted, dim). With `keep`, plans are kept for `backward`.
  void forward(const HeadBatch& batch, T* result, bool keep, int threads);
  // From the gradient of `result`; adds to `grad_matrices`.
  void backward(const HeadBatch& batch, const T* grad_result, T* grad_matrices, int threads) const;

 private:
  struct Space;
  std::size_t block_states() const { return std::size_t(graph_.rounds + 1) * graph_.nodes * lanes_; }
  Pooling pooling(int block) const;
  BlockPass<T> pass(const Plan& plan, int block, Space& space, bool keep) const;
  void read(const HeadBatch& batch, std::int32_t h, int block, const BlockPass<T>& pass, T* result) const;
  HeadGraph graph_;
  int lanes_, blocks_;
  std::size_t block_matrices_;
  std::vector<T> matrices_, transposed_;  // by block
  Plan background_;
  std::unique_ptr<T[]> base_;  // by block
  std::vector<Plan> plans_;
};

}  // namespace epignn
