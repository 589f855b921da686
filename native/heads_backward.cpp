#include <algorithm>

#include "blocks.hpp"
#include "heads.hpp"

namespace epignn {
namespace {

// The gradients of a round, and the states of the round before.
template <typename T>
struct Round {
  const BlockPass<T>& p;
  std::int32_t round;
  const T* before;
  T* grad;         // of the states of the round before
  T* grad_matrix;  // as `transposed`
};

// A gradient that reaches component c of the message along an edge goes on to source state and matrix.
template <typename T, int SIZE>
EPIGNN_INLINE void spread_back(const Round<T>& r, std::int64_t e, int c, T value, int lanes, int size) {
  const std::int64_t source = std::int64_t{r.p.plan.source[e]} * lanes + (SIZE == REGISTER ? 0 : c - c % size);
  const std::int64_t column = (std::int64_t{r.p.plan.label[e]} * lanes + c) * size;
  add_scaled<T, SIZE>(r.grad + source, r.p.transposed + column, value, size);
  add_scaled<T, SIZE>(r.grad_matrix + column, r.before + source, value, size);
}

// With L the logarithm of the product, dL/dmessage = 1 / message; messages are computed anew.
template <typename T, int SIZE>
EPIGNN_INLINE void unpool_product(const Round<T>& r, std::int64_t v, int facet, const T* grad_log, int lanes,
                                  int size) {
  const HeadGraph& g = r.p.g;
  const Plan& plan = r.p.plan;
  if (g.self_message && (!g.silent || plan.level[v] < r.round)) {
    const T* const own = r.before + v * lanes + facet;
    for (int k = 0; k < size; ++k)
      if (own[k] > FLOOR<T>) r.grad[v * lanes + facet + k] += grad_log[k] / own[k];
  }
  for (std::int64_t e = plan.offset[v]; e < plan.offset[v + 1]; ++e) {
    if (g.silent && plan.level[plan.source[e]] >= r.round) continue;
    const T* const from = r.before + std::int64_t{plan.source[e]} * lanes + facet;
    for (int k = 0; k < size; ++k) {
      const T* const column = r.p.transposed + (std::int64_t{plan.label[e]} * lanes + facet + k) * size;
      T message = 0;
      for (int i = 0; i < size; ++i) message += from[i] * column[i];
      if (message > FLOOR<T>) spread_back<T, SIZE>(r, e, facet + k, grad_log[k] / message, lanes, size);
    }
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE void unpool(const Round<T>& r, std::int64_t at, const T* grad, int lanes, int size) {
  const BlockPass<T>& p = r.p;
  const std::int64_t v = p.plan.listed[at];
  if (v == p.plan.head) return;  // what it is does not change
  const T* const total = p.total + at * (lanes / size);
  T* const own = r.grad + v * lanes;
  if (total[0] == -1) {
    for (int c = 0; c < lanes; ++c) own[c] += grad[c];
    return;
  }
  const bool minimum = p.g.pooling == Pooling::min;
  const T* const state = r.before + (static_cast<std::int64_t>(p.plan.node.size()) + v) * lanes;
  const std::int32_t* const chosen = p.chosen + at * lanes;
  for (int facet = 0; facet < lanes; facet += size) {
    if (std::all_of(grad + facet, grad + facet + size, [](T x) { return x == 0; })) continue;
    T back[SIZE ? SIZE : MAX_SIZE];
    unnormalise<T, SIZE>(state + facet, grad + facet, minimum, total[facet / size], back, size);
    if (!minimum) {
      unpool_product<T, SIZE>(r, v, facet, back, lanes, size);
      continue;
    }
    for (int k = 0; k < size; ++k) {
      if (chosen[facet + k] < 0)
        own[facet + k] += back[k];
      else
        spread_back<T, SIZE>(r, chosen[facet + k], facet + k, back[k], lanes, size);
    }
  }
}

template <typename T, int SIZE>
void unpool_rounds(const BlockPass<T>& p, T* grad, T* grad_base, T* grad_matrix) {
  const Plan& plan = p.plan;
  const int size = SIZE ? SIZE : p.g.size, lanes = SIZE ? REGISTER : p.g.size;
  const std::int64_t layer = static_cast<std::int64_t>(plan.node.size()) * lanes;
  const std::int64_t base_layer = std::int64_t{p.g.nodes} * lanes;
  T *now = grad, *next = grad + layer;
  const auto lend = [&](std::int32_t round) {
    for (std::int64_t n = plan.borrow[round]; n < plan.borrow[round + 1]; ++n) {
      const std::int64_t v = plan.borrowed[n];
      T* const to = grad_base + round * base_layer + std::int64_t{plan.node[v]} * lanes;
      for (int c = 0; c < lanes; ++c) to[c] += now[v * lanes + c];
    }
  };
  for (std::int32_t round = p.g.rounds; round > 0; --round, std::swap(now, next)) {
    lend(round);
    if (plan.head < 0)
      std::copy_n(grad_base + (round - 1) * base_layer, layer, next);
    else
      std::fill_n(next, layer, T(0));
    const Round<T> r{p, round, p.states + (round - 1) * layer, next, grad_matrix};
    for (std::int64_t at = plan.round[round]; at < plan.round[round + 1]; ++at)
      unpool<T, SIZE>(r, at, now + std::int64_t{plan.listed[at]} * lanes, lanes, size);
  }
  lend(0);
}

template <typename T>
auto unpool_of(const HeadGraph& g) {
  if constexpr (std::is_same<T, float>::value) {
    if (block_lanes(g.facets, g.size, true) == REGISTER)
      return g.size == 4 ? &unpool_rounds<T, 4> : g.size == 8 ? &unpool_rounds<T, 8> : &unpool_rounds<T, 16>;
  }
  return &unpool_rounds<T, 0>;
}

}  // namespace

template <typename T>
void BlockPass<T>::compute_back(T* grad, T* grad_base, T* grad_transposed) const {
  unpool_of<T>(g)(*this, grad, grad_base, grad_transposed);
}

template void BlockPass<float>::compute_back(float*, float*, float*) const;
template void BlockPass<double>::compute_back(double*, double*, double*) const;

}  // namespace epignn
