// What nodes receive in many passes over one graph: products of states and relation vectors, joined at each node.
#pragma once

#include <cstdint>

namespace epignn {

// Edges into node v are offset[v]..offset[v+1]. States are (nodes, passes, width), vectors (relations, passes, width).
struct Joining {
  std::int32_t nodes, passes, width;
  const std::int32_t* offset;  // nodes + 1
  const std::int32_t* source;
  const std::int32_t* label;
};

// The spread of less than this variance is that of this variance.
constexpr double SMALLEST_VARIANCE = 1e-6;

// Adds state · vector of all edges into a node to `result`, which is as the states are.
template <typename T>
void add_messages(const Joining& j, const T* state, const T* vector, T* result, int threads);

// From the gradient of `result`; adds to those of states and vectors.
template <typename T>
void add_messages_back(const Joining& j, const T* state, const T* vector, const T* grad, T* grad_state, T* grad_vector,
                       int threads);

// Mean, largest, smallest and standard deviation of state · vector over the edges into a node and of `boundary`, one
// message more, which is as the states are. `result` is (nodes, passes, 4, width).
template <typename T>
void principal(const Joining& j, const T* state, const T* vector, const T* boundary, T* result, int threads);

// From the gradient of `result`; adds to those of states and vectors, and sets that of the boundary. Messages that are
// equally large get equal parts.
template <typename T>
void principal_back(const Joining& j, const T* state, const T* vector, const T* boundary, const T* result,
                    const T* grad, T* grad_state, T* grad_vector, T* grad_boundary, int threads);

}  // namespace epignn
