// The forward-backward aggregation: ψ of t→, h← and φ(e→, e←) for the nodes e inside a path, and its gradient.
#pragma once

#include <cstdint>

#include "propagate.hpp"

namespace epignn {

struct Readout {
  std::int32_t facets, size, graphs;
  Pooling pooling;
  const std::int32_t* head;         // graphs
  const std::int32_t* tail;         // graphs
  const std::int32_t* path_offset;  // graphs + 1
  const std::int32_t* path_node;
};

// `ahead` and `back` are (nodes, facets, size), `table` is (facets, i, j, k), `result` (graphs, facets, size).
// `chosen` (as result; for min) is the candidate of each component: 0 the tail, 1 the head, 2.. the path.
template <typename T>
void read_out(const Readout& r, const T* ahead, const T* back, const T* table, T* result, std::int32_t* chosen, T* total);

// Adds to grad_ahead, grad_back and grad_table.
template <typename T>
void read_back(const Readout& r, const T* ahead, const T* back, const T* table, const T* result,
               const std::int32_t* chosen, const T* total, const T* grad, T* grad_ahead, T* grad_back, T* grad_table);

}  // namespace epignn
