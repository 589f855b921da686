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
                               std::int32_t* chosen, T* total) {
  const int n = SIZE ? SIZE : r.size;
  for (std::int32_t g = 0; g < r.graphs; ++g) {
    const std::int32_t candidates = r.path_offset[g + 1] - r.path_offset[g] + 2;
    for (std::int32_t f = 0; f < r.facets; ++f) {
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

// The table with k first, once with j last and once with i last, so that each loop below is contiguous.
template <typename T>
struct Turned {
  const T* kij;
  const T* kji;
  T* grad_kij;
};

// A gradient that reaches component k of a candidate goes on to both states and the table.
template <typename T, int SIZE>
EPIGNN_INLINE void spread(const Candidate<T>& c, const Turned<T>& table, std::int64_t facet, int k, T g, T* grad_ahead,
                          T* grad_back, int n) {
  if (!c.right) {
    if (c.left_at >= 0)
      grad_ahead[c.left_at + k] += g;
    else
      grad_back[c.right_at + k] += g;
    return;
  }
  const std::int64_t at = (facet * n + k) * n * n;
  Lanes<T, SIZE> left, right;
  left.fill(T(0), n);
  right.fill(T(0), n);
  for (int x = 0; x < n; ++x) {
    left.add_scaled(table.kji + at + x * n, g * c.right[x], n);
    right.add_scaled(table.kij + at + x * n, g * c.left[x], n);
    accumulate<T, SIZE>(table.grad_kij + at + x * n, c.right, g * c.left[x], n);
  }
  T sums[SIZE ? SIZE : MAX_SIZE];
  left.store(sums, n);
  accumulate<T, SIZE>(grad_ahead + c.left_at, sums, T(1), n);
  right.store(sums, n);
  accumulate<T, SIZE>(grad_back + c.right_at, sums, T(1), n);
}

template <typename T, int SIZE>
EPIGNN_INLINE void unread_graphs(const Readout& r, const T* ahead, const T* back, const T* table,
                                 const Turned<T>& turned, const T* result, const std::int32_t* chosen, const T* total,
                                 const T* grad, T* grad_ahead, T* grad_back) {
  const int n = SIZE ? SIZE : r.size;
  const bool minimum = r.pooling == Pooling::min;
  for (std::int32_t g = 0; g < r.graphs; ++g) {
    const std::int32_t candidates = r.path_offset[g + 1] - r.path_offset[g] + 2;
    for (std::int32_t f = 0; f < r.facets; ++f) {
      const std::int64_t at = (std::int64_t{g} * r.facets + f) * n;
      T inner[SIZE ? SIZE : MAX_SIZE];
      unnormalise<T, SIZE>(result + at, grad + at, minimum, total[std::int64_t{g} * r.facets + f], inner, n);
      if (minimum) {
        for (int k = 0; k < n; ++k)
          spread<T, SIZE>(candidate(r, ahead, back, g, f, chosen[at + k]), turned, f, k, inner[k], grad_ahead, grad_back, n);
        continue;
      }
      for (std::int32_t c = 0; c < candidates; ++c) {
        const Candidate<T> one = candidate(r, ahead, back, g, f, c);
        Lanes<T, SIZE> value;
        value_of<T, SIZE>(one, table + std::int64_t{f} * n * n * n, value, n);
        for (int k = 0; k < n; ++k)
          if (value.at[k] > FLOOR<T>)
            spread<T, SIZE>(one, turned, f, k, inner[k] / value.at[k], grad_ahead, grad_back, n);
      }
    }
  }
}

template <typename T>
struct Kernels {
  decltype(&read_graphs<T, 0>) read = &read_graphs<T, 0>;
  decltype(&unread_graphs<T, 0>) unread = &unread_graphs<T, 0>;
};

template <typename T>
Kernels<T> kernels(int) {
  return {};
}

template <>
Kernels<float> kernels<float>(int size) {
  switch (size) {
#define EPIGNN_CASE(SIZE) \
  case SIZE:              \
    return {&read_graphs<float, SIZE>, &unread_graphs<float, SIZE>};
    EPIGNN_SIZES(EPIGNN_CASE)
    default:
      return {};
  }
}

}  // namespace

template <typename T>
void read_out(const Readout& r, const T* ahead, const T* back, const T* table, T* result, std::int32_t* chosen,
              T* total) {
  kernels<T>(r.size).read(r, ahead, back, table, result, chosen, total);
}

template <typename T>
void read_back(const Readout& r, const T* ahead, const T* back, const T* table, const T* result,
               const std::int32_t* chosen, const T* total, const T* grad, T* grad_ahead, T* grad_back, T* grad_table) {
  const std::int64_t n = r.size, facet = n * n * n;
  std::vector<T> kij(r.facets * facet), kji(kij.size()), grad_kij(kij.size(), T(0));
  const auto each = [&](auto&& act) {
    for (std::int64_t f = 0; f < r.facets; ++f)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t k = 0; k < n; ++k)
            act(f * facet + (i * n + j) * n + k, f * facet + (k * n + i) * n + j, f * facet + (k * n + j) * n + i);
  };
  each([&](std::int64_t ijk, std::int64_t at_kij, std::int64_t at_kji) { kij[at_kij] = kji[at_kji] = table[ijk]; });
  const Turned<T> turned{kij.data(), kji.data(), grad_kij.data()};
  kernels<T>(r.size).unread(r, ahead, back, table, turned, result, chosen, total, grad, grad_ahead, grad_back);
  each([&](std::int64_t ijk, std::int64_t at_kij, std::int64_t) { grad_table[ijk] += grad_kij[at_kij]; });
}

template void read_out<float>(const Readout&, const float*, const float*, const float*, float*, std::int32_t*, float*);
template void read_out<double>(const Readout&, const double*, const double*, const double*, double*, std::int32_t*,
                               double*);
template void read_back<float>(const Readout&, const float*, const float*, const float*, const float*,
                               const std::int32_t*, const float*, const float*, float*, float*, float*);
template void read_back<double>(const Readout&, const double*, const double*, const double*, const double*,
                                const std::int32_t*, const double*, const double*, double*, double*, double*);

}  // namespace epignn
