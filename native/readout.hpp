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

// A table with k first, once with j last and once with i last, and a gradient in the former order.
template <typename T>
struct Turned {
  const T* kij;
  const T* kji;
  T* grad_kij;
};

// Both for the graphs `first` up to `last` alone, the latter with the table turned.
template <typename T>
struct ReadoutKernels {
  void (*read)(const Readout& r, const T* ahead, const T* back, const T* table, T* result, std::int32_t* chosen,
               T* total, std::int32_t first, std::int32_t last);
  void (*unread)(const Readout& r, const T* ahead, const T* back, const T* table, const Turned<T>& turned,
                 const T* result, const std::int32_t* chosen, const T* total, const T* grad, T* grad_ahead,
                 T* grad_back, std::int32_t first, std::int32_t last);
};

// The kernels for a facet size.
template <typename T>
ReadoutKernels<T> readout_kernels(std::int32_t size);

// Turn a table (facets, i, j, k).
template <typename T>
void turn(std::int32_t facets, std::int32_t size, const T* table, T* kij, T* kji);

// Add what is turned, k first and j last, to a table.
template <typename T>
void add_turned(std::int32_t facets, std::int32_t size, const T* kij, T* table);

}  // namespace epignn
