#include "readout.hpp"

#include <vector>

#include "lanes.hpp"

namespace epignn {
namespace {

// The states that meet in candidate c of a graph, at one facet; only the first two have no path node.
template <typename T>
struct Candidate {
  const T* left;   // of e→, or the whole candidate
  const T* right;  // of e←; null where nothing is composed
  std::int64_t left_at, right_at;
};

template <typename T>
EPIGNN_INLINE Candidate<T> candidate(const Readout& r, const T* ahead, const T* back, std::int32_t graph,
                                     std::int32_t facet, std::int32_t c) {
  const auto at = [&](std::int32_t node) { return (std::int64_t{node} * r.facets + facet) * r.size; };
  if (c == 0) return {ahead + at(r.tail[graph]), nullptr, at(r.tail[graph]), -1};
  if (c == 1) return {back + at(r.head[graph]), nullptr, -1, at(r.head[graph])};
  const std::int64_t node = at(r.path_node[r.path_offset[graph] + c - 2]);
  return {ahead + node, back + node, node, node};
}

// value = Σ_i left_i Σ_j right_j table[i][j]
template <typename T, int SIZE>
EPIGNN_INLINE void value_of(const Candidate<T>& c, const T* table, Lanes<T, SIZE>& value, int n) {
  if (!c.right) {
    value.load(c.left, n);
    return;
  }
  value.fill(T(0), n);
  Lanes<T, SIZE> row;
  for (int i = 0; i < n; ++i) {
    row.compose(c.right, table + static_cast<std::int64_t>(i) * n * n, n);
    value.add_scaled(row, c.left[i], n);
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE void read_graphs(const Readout& r, const T* ahead, const T* back, const T* table, T* result,
                               std::int32_t* chosen, T* total, std::int32_t first, std::int32_t last) {
  const int n = SIZE ? SIZE : r.size;
  for (std::int32_t f = 0; f < r.facets; ++f) {  // outside, so that the table of a facet stays at hand
    for (std::int32_t g = first; g < last; ++g) {
      const std::int32_t candidates = r.path_offset[g + 1] - r.path_offset[g] + 2;
      const T* const facet_table = table + std::int64_t{f} * n * n * n;
      const std::int64_t at = (std::int64_t{g} * r.facets + f) * n;
      Lanes<T, SIZE> pooled, value;
      value_of<T, SIZE>(candidate(r, ahead, back, g, f, 0), facet_table, pooled, n);
      pooled.fill_edges(0, n);
      if (r.pooling == Pooling::product) pooled.at_least(FLOOR<T>, n);
      for (std::int32_t c = 1; c < candidates; ++c) {
        value_of<T, SIZE>(candidate(r, ahead, back, g, f, c), facet_table, value, n);
        if (r.pooling == Pooling::min)
          pooled.lower_to(value, c, n);
        else
          multiply_scaled<T, SIZE>(pooled, value, n);
      }
      total[std::int64_t{g} * r.facets + f] = normalise<T, SIZE>(pooled, n);
      pooled.store(result + at, n);
      pooled.store_edges(chosen + at, n);
    }
  }
}

// What the gradient of a candidate adds to the states that meet in it.
template <typename T, int SIZE>
struct Meeting {
  const Candidate<T> c;
  T *const grad_ahead, *const grad_back;
  const int n;
  Lanes<T, SIZE> right, left_grad, right_grad;

  EPIGNN_INLINE Meeting(const Candidate<T>& candidate, T* ahead, T* back, int size)
      : c(candidate), grad_ahead(ahead), grad_back(back), n(size) {
    if (!c.right) return;
    right.load(c.right, n);
    left_grad.load(grad_ahead + c.left_at, n);
    right_grad.load(grad_back + c.right_at, n);
  }
  // A gradient that reaches component k goes on to both states and the table.
  EPIGNN_INLINE void spread(const Turned<T>& table, std::int64_t facet, int k, T g) {
    if (!c.right) {
      (c.left_at >= 0 ? grad_ahead[c.left_at + k] : grad_back[c.right_at + k]) += g;
      return;
    }
    const std::int64_t at = (facet * n + k) * n * n;
    for (int x = 0; x < n; ++x) {
      const T of_left = g * c.left[x];
      left_grad.add_scaled(table.kji + at + x * n, g * c.right[x], n);
      right_grad.add_scaled(table.kij + at + x * n, of_left, n);
      accumulate<T, SIZE>(table.grad_kij + at + x * n, right, of_left, n);
    }
  }
  EPIGNN_INLINE void done() const {
    if (!c.right) return;
    left_grad.store(grad_ahead + c.left_at, n);
    right_grad.store(grad_back + c.right_at, n);
  }
};

template <typename T, int SIZE>
EPIGNN_INLINE void unread_graphs(const Readout& r, const T* ahead, const T* back, const T* table,
                                 const Turned<T>& turned, const T* result, const std::int32_t* chosen, const T* total,
                                 const T* grad, T* grad_ahead, T* grad_back, std::int32_t first, std::int32_t last) {
  const int n = SIZE ? SIZE : r.size;
  const bool minimum = r.pooling == Pooling::min;
  for (std::int32_t f = 0; f < r.facets; ++f) {  // outside, so that the table of a facet stays at hand
    for (std::int32_t g = first; g < last; ++g) {
      const std::int32_t candidates = r.path_offset[g + 1] - r.path_offset[g] + 2;
      const std::int64_t at = (std::int64_t{g} * r.facets + f) * n;
      T inner[SIZE ? SIZE : MAX_SIZE];
      unnormalise<T, SIZE>(result + at, grad + at, minimum, total[std::int64_t{g} * r.facets + f], inner, n);
      if (minimum) {
        for (int k = 0; k < n;) {  // neighbours often came from the same candidate
          const std::int32_t c = chosen[at + k];
          Meeting<T, SIZE> meeting(candidate(r, ahead, back, g, f, c), grad_ahead, grad_back, n);
          for (; k < n && chosen[at + k] == c; ++k) meeting.spread(turned, f, k, inner[k]);
          meeting.done();
        }
        continue;
      }
      for (std::int32_t c = 0; c < candidates; ++c) {
        const Candidate<T> one = candidate(r, ahead, back, g, f, c);
        Lanes<T, SIZE> value;
        value_of<T, SIZE>(one, table + std::int64_t{f} * n * n * n, value, n);
        Meeting<T, SIZE> meeting(one, grad_ahead, grad_back, n);
        for (int k = 0; k < n; ++k)
          if (value[k] > FLOOR<T>) meeting.spread(turned, f, k, inner[k] / value[k]);
        meeting.done();
      }
    }
  }
}

// act(position with i, j, k in order, with k, i, j, with k, j, i) for all entries of the table.
template <typename Act>
void each(std::int64_t facets, std::int64_t n, const Act& act) {
  const std::int64_t facet = n * n * n;
  for (std::int64_t f = 0; f < facets; ++f)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < n; ++k)
          act(f * facet + (i * n + j) * n + k, f * facet + (k * n + i) * n + j, f * facet + (k * n + j) * n + i);
}

}  // namespace

template <typename T>
ReadoutKernels<T> readout_kernels(std::int32_t) {
  return {&read_graphs<T, 0>, &unread_graphs<T, 0>};
}

template <>
ReadoutKernels<float> readout_kernels<float>(std::int32_t size) {
  switch (size) {
#define EPIGNN_CASE(SIZE) \
  case SIZE:              \
    return {&read_graphs<float, SIZE>, &unread_graphs<float, SIZE>};
    EPIGNN_SIZES(EPIGNN_CASE)
    default:
      return {&read_graphs<float, 0>, &unread_graphs<float, 0>};
  }
}

template <typename T>
void turn(std::int32_t facets, std::int32_t size, const T* table, T* kij, T* kji) {
  each(facets, size, [&](std::int64_t ijk, std::int64_t at_kij, std::int64_t at_kji) {
    kij[at_kij] = kji[at_kji] = table[ijk];
  });
}

template <typename T>
void add_turned(std::int32_t facets, std::int32_t size, const T* kij, T* table) {
  each(facets, size, [&](std::int64_t ijk, std::int64_t at_kij, std::int64_t) { table[ijk] += kij[at_kij]; });
}

template <typename T>
void read_out(const Readout& r, const T* ahead, const T* back, const T* table, T* result, std::int32_t* chosen,
              T* total) {
  readout_kernels<T>(r.size).read(r, ahead, back, table, result, chosen, total, 0, r.graphs);
}

template <typename T>
void read_back(const Readout& r, const T* ahead, const T* back, const T* table, const T* result,
               const std::int32_t* chosen, const T* total, const T* grad, T* grad_ahead, T* grad_back, T* grad_table) {
  std::vector<T> kij(static_cast<std::size_t>(r.facets) * r.size * r.size * r.size), kji(kij.size());
  std::vector<T> grad_kij(kij.size(), T(0));
  turn(r.facets, r.size, table, kij.data(), kji.data());
  const Turned<T> turned{kij.data(), kji.data(), grad_kij.data()};
  readout_kernels<T>(r.size).unread(r, ahead, back, table, turned, result, chosen, total, grad, grad_ahead, grad_back,
                                    0, r.graphs);
  add_turned(r.facets, r.size, grad_kij.data(), grad_table);
}

template ReadoutKernels<double> readout_kernels<double>(std::int32_t);
template void turn<float>(std::int32_t, std::int32_t, const float*, float*, float*);
template void turn<double>(std::int32_t, std::int32_t, const double*, double*, double*);
template void add_turned<float>(std::int32_t, std::int32_t, const float*, float*);
template void add_turned<double>(std::int32_t, std::int32_t, const double*, double*);
template void read_out<float>(const Readout&, const float*, const float*, const float*, float*, std::int32_t*, float*);
template void read_out<double>(const Readout&, const double*, const double*, const double*, double*, std::int32_t*,
                               double*);
template void read_back<float>(const Readout&, const float*, const float*, const float*, const float*,
                               const std::int32_t*, const float*, const float*, float*, float*, float*);
template void read_back<double>(const Readout&, const double*, const double*, const double*, const double*,
                                const std::int32_t*, const double*, const double*, double*, double*, double*);

}  // namespace epignn
