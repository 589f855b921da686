// Message passing of epistemic states, and its gradient: the hot loop of the model.
//
// A state is `facets` distributions over `size` primitive relations. The message along an edge is the state of
// its source times the matrix of its relation, facet by facet; messages are pooled by minimum or product and
// normalised to one. A node with no message keeps its state.
//
// Nodes are visited in order, so that in an acyclic graph whose edges run forward one pass suffices (rounds = 0:
// a node reads the states of this pass). Otherwise `rounds` passes are made, each reading the states of the one
// before, optionally pooled with the node's own former state.
#pragma once

#include <cstddef>
#include <cstdint>

namespace epignn {

enum class Pooling { min, product, mean };  // mean: in heads.hpp alone

// Sizes and the graph. Edges into node v are offset[v]..offset[v+1]; graphs are runs of nodes.
struct Messages {
  std::int32_t facets, size, relations, graphs;
  std::int32_t rounds;     // 0: one pass in order
  bool self_message;       // pool the former state too
  bool descending;         // visit nodes from the last to the first
  Pooling pooling;
  const std::int32_t* node_offset;  // graphs + 1
  const std::int32_t* offset;       // nodes + 1
  const std::int32_t* source;       // edges
  const std::int32_t* label;        // edges
  std::int32_t nodes() const { return node_offset[graphs]; }
  std::int32_t passes() const { return rounds > 0 ? rounds : 1; }
  std::int64_t layer() const { return std::int64_t{nodes()} * facets * size; }
};

// `states` holds (passes + 1) layers, or one layer where rounds = 0; the first layer is the initial state.
// `chosen` (passes layers) is, for min, the edge each component came from (-1: the state itself);
// `total` (passes x nodes x facets) the sum before normalising. Without `keep`, when no gradient is wanted, neither is
// written, two layers of states are enough, and the result is in layer passes % 2.
template <typename T>
void forward(const Messages& m, const T* matrices, T* states, std::int32_t* chosen, T* total, bool keep,
             int threads);

// `grad` is working space of two layers (one where rounds = 0), the first of which holds the gradient of the
// result. Adds to `grad_matrices`.
template <typename T>
void backward(const Messages& m, const T* matrices, const T* states, const std::int32_t* chosen, const T* total,
              T* grad, T* grad_matrices, int threads);

// Both for the graphs `first` up to `last` alone. `transposed` is `matrices` with the last two axes swapped, and so is
// what the gradient is added to.
template <typename T>
struct PassKernels {
  void (*forward)(const Messages& m, const T* matrices, T* states, std::int32_t* chosen, T* total, bool keep,
                  std::int32_t first, std::int32_t last);
  void (*backward)(const Messages& m, const T* matrices, const T* transposed, const T* states,
                   const std::int32_t* chosen, const T* total, T* grad, T* grad_transposed, std::int32_t first,
                   std::int32_t last);
};

// The kernels for a facet size.
template <typename T>
PassKernels<T> pass_kernels(std::int32_t size);

// Add [blocks][size][size] to `result`, with the last two axes swapped.
template <typename T>
void add_transposed(const T* matrices, std::size_t blocks, std::size_t size, T* result);

}  // namespace epignn
