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

// Whether a place hears along an edge.
template <typename T>
EPIGNN_INLINE bool heard(const Round<T>& r, std::int64_t e) {
  return !r.p.g.silent || r.p.plan.level[r.p.plan.source[e]] < r.round;
}

// The gradient of the message along an edge goes on to source state and matrix.
template <typename T, int SIZE, typename Grad>
EPIGNN_INLINE void spread_back(const Round<T>& r, std::int64_t e, const Grad& grad, int lanes, int size) {
  const std::int64_t source = std::int64_t{r.p.plan.source[e]} * lanes;
  const std::int64_t matrix = std::int64_t{r.p.plan.label[e]} * size * lanes;
  Block<T, SIZE> back;
  back.compose(grad, r.p.transposed + matrix, lanes);
  back.add_to(r.grad + source, lanes);
  grad.add_outer(r.grad_matrix + matrix, r.before + source, lanes);
}

// Each component came from one edge, or from the place itself.
template <typename T, int SIZE>
EPIGNN_INLINE void unpool_least(const Round<T>& r, std::int64_t v, const std::int32_t* chosen,
                                const Block<T, SIZE>& block, int lanes, int size) {
  T back[SIZE ? REGISTER : MAX_SIZE];
  block.store(back, lanes);
  for (int facet = 0; facet < lanes; facet += size)
    for (int k = 0; k < size; ++k) {
      const std::int64_t e = chosen[facet + k];
      const T value = back[facet + k];
      if (e < 0) {
        r.grad[v * lanes + facet + k] += value;
        continue;
      }
      const std::int64_t source = std::int64_t{r.p.plan.source[e]} * lanes + facet;
      const std::int64_t row = (std::int64_t{r.p.plan.label[e]} * size + k) * lanes + facet;
      add_scaled<T, SIZE>(r.grad + source, r.p.transposed + row, value, size);
      add_scaled<T, SIZE>(r.grad_matrix + row, r.before + source, value, size);
    }
}

// With L the logarithm of the product, dL/dmessage = 1 / message; messages are computed anew.
template <typename T, int SIZE>
EPIGNN_INLINE void unpool_product(const Round<T>& r, std::int64_t v, bool own, const Block<T, SIZE>& back, int lanes,
                                  int size) {
  const Plan& plan = r.p.plan;
  T grad_log[SIZE ? REGISTER : MAX_SIZE], message[SIZE ? REGISTER : MAX_SIZE];
  back.store(grad_log, lanes);
  const T* const state = r.before + v * lanes;
  for (int c = 0; own && c < lanes; ++c)
    if (state[c] > FLOOR<T>) r.grad[v * lanes + c] += grad_log[c] / state[c];
  for (std::int64_t e = plan.offset[v]; e < plan.offset[v + 1]; ++e) {
    if (!heard(r, e)) continue;
    Block<T, SIZE> block;
    block.compose(r.before + std::int64_t{plan.source[e]} * lanes,
                  r.p.matrices + std::int64_t{plan.label[e]} * size * lanes, lanes);
    block.store(message, lanes);
    for (int c = 0; c < lanes; ++c) message[c] = message[c] > FLOOR<T> ? grad_log[c] / message[c] : T(0);
    block.load(message, lanes);
    spread_back<T, SIZE>(r, e, block, lanes, size);
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE void unpool(const Round<T>& r, std::int64_t at, const T* grad, int lanes, int size) {
  const BlockPass<T>& p = r.p;
  const Plan& plan = p.plan;
  const std::int64_t v = plan.listed[at];
  if (v == plan.head) return;  // what it is does not change
  if (std::all_of(grad, grad + lanes, [](T x) { return x == 0; })) return;
  const T* const total = p.total + at * (lanes / size);
  if (total[0] == -1) {
    for (int c = 0; c < lanes; ++c) r.grad[v * lanes + c] += grad[c];
    return;
  }
  const T* const state = r.before + (static_cast<std::int64_t>(plan.node.size()) + v) * lanes;
  const bool own = p.g.self_message && (!p.g.silent || plan.level[v] < r.round);
  Block<T, SIZE> back;
  back.unnormalise(state, grad, total, p.pooling == Pooling::product, lanes, size);
  if (p.pooling == Pooling::min) {
    unpool_least<T, SIZE>(r, v, p.chosen + at * lanes, back, lanes, size);
  } else if (p.pooling == Pooling::product) {
    unpool_product<T, SIZE>(r, v, own, back, lanes, size);
  } else {
    if (own) back.add_to(r.grad + v * lanes, lanes);
    for (std::int64_t e = plan.offset[v]; e < plan.offset[v + 1]; ++e)
      if (heard(r, e)) spread_back<T, SIZE>(r, e, back, lanes, size);
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
    if (block_lanes(g, true) == REGISTER)
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
