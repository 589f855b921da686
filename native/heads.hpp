// Message passing from several heads over one graph, and its gradient: link prediction.
//
// States are as in propagate.hpp. A node hears nothing of a head that is further away than there were rounds: there
// its state is that of the background, a pass without any head, which all heads share. So a pass computes, in round
// l, the nodes within l steps of its head (`level`) from which what is wanted can still be reached (`need`).
// Every edge has its inverse, so that one list of edges serves both searches.
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
  bool self_message;  // pool the former state of a node with what it hears
  bool silent;        // nodes that know nothing of the head send nothing; otherwise they send the background
  Pooling pooling;
  const std::int32_t* offset;
  const std::int32_t* source;
  const std::int32_t* label;
  std::int32_t dim() const { return facets * size; }
  std::int64_t layer() const { return std::int64_t{nodes} * dim(); }
};

// Passes to make: heads, the edges that each leaves out, and the nodes whose last state each is asked for.
struct HeadBatch {
  std::int32_t heads;
  const std::int32_t* head;            // heads
  const std::int64_t* left_out_offset; // heads + 1
  const std::int32_t* left_out;        // edges
  const std::int64_t* wanted_offset;   // heads + 1
  const std::int32_t* wanted;          // nodes
};

// The nodes of each round of a pass, in one list, and where in it a node of a round is; -1: in the background.
struct Plan {
  std::int32_t head = -1;  // keeps its state, the identity; -1 in the background
  std::vector<std::int32_t> node;
  std::vector<std::int64_t> round_offset;  // rounds + 2
  std::vector<std::int32_t> slot;          // (rounds + 1) x nodes
  std::vector<std::int32_t> left_out;      // edges
};

// What the pass of a batch's head h has to compute; and the background, which is every node in every round.
Plan plan_pass(const HeadGraph& g, const HeadBatch& b, std::int32_t h);
Plan plan_background(const HeadGraph& g);
// Which edges a pass leaves out.
std::vector<char> marked(const HeadGraph& g, const Plan& plan);

template <typename T>
struct Pass {
  Plan plan;
  std::unique_ptr<T[]> states;              // listed nodes x dim
  std::unique_ptr<std::int32_t[]> chosen;   // as states, for min: the edge of each component; -1: the node itself
  std::unique_ptr<T[]> total;               // listed nodes x facets: the sum before normalising; -1: nothing heard
  void compute(const HeadGraph& g, const T* matrices, const T* base, bool keep);
  void compute_back(const HeadGraph& g, const T* transposed, const T* base, T* grad, T* grad_base,
                    T* grad_transposed) const;
};

// The place of a node in a round; -1 - place in the background where it is not listed.
EPIGNN_INLINE std::int64_t place(const HeadGraph& g, const Plan& plan, std::int32_t round, std::int32_t v) {
  const std::int64_t at = std::int64_t{round} * g.nodes + v;
  const std::int32_t slot = plan.slot[at];
  return slot >= 0 ? slot : -1 - at;
}

// Where a state is; null where a node knows nothing and is silent.
template <typename T>
EPIGNN_INLINE T* locate(std::int64_t place, T* own, T* base, std::int32_t dim) {
  return place >= 0 ? own + place * dim : base ? base + (-1 - place) * dim : nullptr;
}

template <typename T>
class HeadPasses {
 public:
  // `matrices` is (relations, facets, i, k).
  HeadPasses(const HeadGraph& graph, const T* matrices, bool keep);
  // Writes the wanted states of all heads to `result` (wanted, dim). With `keep`, all passes are kept for `backward`.
  void forward(const HeadBatch& batch, T* result, int threads);
  // From the gradient of `result`; adds to `grad_matrices`.
  void backward(const HeadBatch& batch, const T* grad_result, T* grad_matrices, int threads) const;

 private:
  void read(const HeadBatch& batch, std::int32_t h, const Pass<T>& pass, T* result) const;
  HeadGraph graph_;
  bool keep_;
  std::vector<T> matrices_, transposed_;
  Pass<T> background_;
  std::vector<Pass<T>> passes_;
};

}  // namespace epignn
