#include <algorithm>

#include "blocks.hpp"
#include "heads.hpp"

namespace epignn {
namespace {


template <typename T>
struct BackView {
  const HeadGraph& g;
  const Plan& plan;
  const T* transposed;  // (relations, facets, k, i), as is the gradient
  const T* states;
  const std::int32_t* chosen;
  const T* total;
  const T* base;
  T* grad;       // as states
  T* grad_base;  // as base
  T* grad_transposed;
};

// A gradient that reaches component k of the message along an edge goes on to source state and matrix.
template <typename T, int SIZE>
EPIGNN_INLINE void spread_back(const BackView<T>& p, std::int32_t round, std::int32_t e, std::int32_t facet, int k,
                               T g, int n) {
  const std::int64_t source = place(p.g, p.plan, round - 1, p.g.source[e]);
  const std::int32_t dim = p.g.dim();
  const std::int64_t column = ((std::int64_t{p.g.label[e]} * p.g.facets + facet) * n + k) * n;
  add_scaled<T, SIZE>(locate<T>(source, p.grad, p.grad_base, dim) + facet * n, p.transposed + column, g, n);
  add_scaled<T, SIZE>(p.grad_transposed + column, locate<const T>(source, p.states, p.base, dim) + facet * n, g, n);
}

// With L the logarithm of the product, dL/dmessage = 1 / message; messages are computed anew.
template <typename T, int SIZE>
EPIGNN_INLINE void unpool_product(const BackView<T>& p, std::int32_t round, std::int32_t v, std::int32_t facet,
                                  const T* grad_log, const std::vector<char>& left_out, int n) {
  const HeadGraph& g = p.g;
  const std::int64_t self = place(g, p.plan, round - 1, v);
  const T* const own = locate<const T>(self, p.states, p.base, g.dim());
  if (g.self_message && own) {
    T* const grad_own = locate<T>(self, p.grad, p.grad_base, g.dim()) + facet * n;
    for (int k = 0; k < n; ++k)
      if (own[facet * n + k] > FLOOR<T>) grad_own[k] += grad_log[k] / own[facet * n + k];
  }
  for (std::int32_t e = g.offset[v]; e < g.offset[v + 1]; ++e) {
    if (left_out[e]) continue;
    const T* from = locate<const T>(place(g, p.plan, round - 1, g.source[e]), p.states, p.base, g.dim());
    if (!from) continue;
    from += facet * n;
    for (int k = 0; k < n; ++k) {
      const T* const column = p.transposed + ((std::int64_t{g.label[e]} * g.facets + facet) * n + k) * n;
      T message = 0;
      for (int i = 0; i < n; ++i) message += from[i] * column[i];
      if (message > FLOOR<T>) spread_back<T, SIZE>(p, round, e, facet, k, grad_log[k] / message, n);
    }
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE void unpool(const BackView<T>& p, std::int32_t round, std::int64_t at,
                          const std::vector<char>& left_out) {
  const HeadGraph& g = p.g;
  const int n = SIZE ? SIZE : g.size;
  const std::int32_t v = p.plan.node[at], dim = g.dim();
  const T* const grad = p.grad + at * dim;
  const std::int64_t self = place(g, p.plan, round - 1, v);
  T* const grad_own = locate<T>(self, p.grad, p.grad_base, dim);
  if (p.total[at * g.facets] == -1) {
    for (int c = 0; c < dim; ++c) grad_own[c] += grad[c];
    return;
  }
  const bool minimum = g.pooling == Pooling::min;
  for (std::int32_t facet = 0; facet < g.facets; ++facet) {
    if (std::all_of(grad + facet * n, grad + facet * n + n, [](T x) { return x == 0; })) continue;
    T back[SIZE ? SIZE : MAX_SIZE];
    unnormalise<T, SIZE>(p.states + at * dim + facet * n, grad + facet * n, minimum, p.total[at * g.facets + facet],
                         back, n);
    if (!minimum) {
      unpool_product<T, SIZE>(p, round, v, facet, back, left_out, n);
      continue;
    }
    for (int k = 0; k < n; ++k) {
      const std::int32_t e = p.chosen[at * dim + facet * n + k];
      if (e < 0)
        grad_own[facet * n + k] += back[k];
      else
        spread_back<T, SIZE>(p, round, e, facet, k, back[k], n);
    }
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE void unpool_rounds(const BackView<T>& p, const std::vector<char>& left_out) {
  for (std::int32_t round = p.g.rounds; round > 0; --round)
    for (std::int64_t at = p.plan.round_offset[round]; at < p.plan.round_offset[round + 1]; ++at)
      unpool<T, SIZE>(p, round, at, left_out);
}

template <typename T>
decltype(&unpool_rounds<T, 0>) unpool_of(int) {
  return &unpool_rounds<T, 0>;
}

template <>
decltype(&unpool_rounds<float, 0>) unpool_of<float>(int size) {
  switch (size) {
    case 4:
      return &unpool_rounds<float, 4>;
    case 8:
      return &unpool_rounds<float, 8>;
    case 16:
      return &unpool_rounds<float, 16>;
    default:
      return &unpool_rounds<float, 0>;
  }
}

}  // namespace

template <typename T>
void Pass<T>::compute_back(const HeadGraph& g, const T* transposed, const T* base, T* grad, T* grad_base,
                           T* grad_transposed) const {
  const BackView<T> view{g,    plan, transposed, states.get(), chosen.get(), total.get(),
                         base, grad, grad_base,  grad_transposed};
  unpool_of<T>(g.size)(view, marked(g, plan));
}

template void Pass<float>::compute_back(const HeadGraph&, const float*, const float*, float*, float*, float*) const;
template void Pass<double>::compute_back(const HeadGraph&, const double*, const double*, double*, double*, double*) const;

}  // namespace epignn
