#include <algorithm>

#include "blocks.hpp"
#include "heads.hpp"

namespace epignn {
namespace {

// What a place hears in a round, and where its state goes.
template <typename T>
struct Hearing {
  const T* matrices;
  const T* before;  // states of the round before
  const T* own;     // among them, that of the place itself; null where it is not pooled
  const std::int32_t* source;
  const std::int32_t* label;
  std::int64_t first, last;  // edges
  T* state;
  std::int32_t* chosen;
  T* total;
};

template <typename T, int SIZE>
EPIGNN_INLINE void hear(const Hearing<T>& h, std::int64_t e, Block<T, SIZE>& into, int lanes, int size) {
  into.compose(h.before + std::int64_t{h.source[e]} * lanes, h.matrices + std::int64_t{h.label[e]} * size * lanes,
               lanes);
}

// The least of all that is heard. `skips` tells of edges from places that are silent.
template <typename T, int SIZE, bool KEEP, typename Skips>
EPIGNN_INLINE void pool_least(const Hearing<T>& h, Block<T, SIZE>& pooled, const Skips& skips, int lanes, int size) {
  Block<T, SIZE> message;
  std::int64_t e = h.first;
  if (h.own) {
    pooled.load(h.own, lanes);
    if (KEEP) pooled.fill_edges(-1, lanes);
  } else {
    while (skips(e)) ++e;
    hear<T, SIZE>(h, e, pooled, lanes, size);
    if (KEEP) pooled.fill_edges(static_cast<std::int32_t>(e), lanes);
    ++e;
  }
  for (; e < h.last; ++e) {
    if (skips(e)) continue;
    hear<T, SIZE>(h, e, message, lanes, size);
    if (KEEP)
      pooled.lower_to(message, static_cast<std::int32_t>(e), lanes);
    else
      pooled.lower_to(message, lanes);
  }
  if (KEEP) pooled.store_edges(h.chosen, lanes);
}

// The product of all that is heard, scaled to a largest component of one, so that no number of factors underflows.
template <typename T, int SIZE, typename Skips>
EPIGNN_INLINE void pool_product(const Hearing<T>& h, Block<T, SIZE>& pooled, const Skips& skips, int lanes,
                                int size) {
  Block<T, SIZE> message;
  pooled.fill(T(1), lanes);
  if (h.own) {
    message.load(h.own, lanes);
    pooled.multiply(message, FLOOR<T>, lanes);
    pooled.scale_to_largest(lanes, size);
  }
  for (std::int64_t e = h.first; e < h.last; ++e) {
    if (skips(e)) continue;
    hear<T, SIZE>(h, e, message, lanes, size);
    pooled.multiply(message, FLOOR<T>, lanes);
    pooled.scale_to_largest(lanes, size);
  }
}

// The sum of all that is heard, which is their mean once it is normalised.
template <typename T, int SIZE, typename Skips>
EPIGNN_INLINE void pool_sum(const Hearing<T>& h, Block<T, SIZE>& pooled, const Skips& skips, int lanes, int size) {
  Block<T, SIZE> message;
  pooled.fill(T(0), lanes);
  if (h.own) pooled.load(h.own, lanes);
  for (std::int64_t e = h.first; e < h.last; ++e) {
    if (skips(e)) continue;
    hear<T, SIZE>(h, e, message, lanes, size);
    pooled.add(message, lanes);
  }
}

template <typename T, int SIZE, bool KEEP, typename Skips>
EPIGNN_INLINE void pool(Pooling pooling, const Hearing<T>& h, const Skips& skips, int lanes, int size) {
  Block<T, SIZE> pooled;
  if (pooling == Pooling::min)
    pool_least<T, SIZE, KEEP>(h, pooled, skips, lanes, size);
  else if (pooling == Pooling::mean)
    pool_sum<T, SIZE>(h, pooled, skips, lanes, size);
  else
    pool_product<T, SIZE>(h, pooled, skips, lanes, size);
  pooled.normalise(h.state, KEEP ? h.total : nullptr, FLOOR<T>, lanes, size);
}

template <typename T, int SIZE, bool KEEP>
EPIGNN_INLINE void compute_round(const BlockPass<T>& p, std::int32_t round) {
  const HeadGraph& g = p.g;
  const Plan& plan = p.plan;
  const int size = SIZE ? SIZE : g.size, lanes = SIZE ? REGISTER : g.size, facets = lanes / size;
  const std::int64_t places = static_cast<std::int64_t>(plan.node.size());
  const T* const before = p.states + (round - 1) * places * lanes;
  T* const after = p.states + round * places * lanes;
  const auto nobody = [](std::int64_t) { return false; };
  const auto silent = [&](std::int64_t e) { return plan.level[plan.source[e]] >= round; };
  for (std::int64_t at = plan.round[round]; at < plan.round[round + 1]; ++at) {
    const std::int64_t v = plan.listed[at], first = plan.offset[v], last = plan.offset[v + 1];
    const bool knows = !g.silent || plan.level[v] < round;
    std::int64_t heard = first;
    if (g.silent)
      while (heard < last && silent(heard)) ++heard;
    if (v == plan.head || heard == last) {  // the state stays
      std::copy_n(before + v * lanes, lanes, after + v * lanes);
      if (KEEP) p.total[at * facets] = -1;
      continue;
    }
    const Hearing<T> h{p.matrices,
                       before,
                       g.self_message && knows ? before + v * lanes : nullptr,
                       plan.source.data(),
                       plan.label.data(),
                       first,
                       last,
                       after + v * lanes,
                       KEEP ? p.chosen + at * lanes : nullptr,
                       KEEP ? p.total + at * facets : nullptr};
    if (g.silent)
      pool<T, SIZE, KEEP>(p.pooling, h, silent, lanes, size);
    else
      pool<T, SIZE, KEEP>(p.pooling, h, nobody, lanes, size);
  }
}

template <typename T>
void borrow(const BlockPass<T>& p, std::int32_t round) {
  T* const states = p.states + std::int64_t{round} * p.plan.node.size() * p.lanes;
  const T* const base = p.base + std::int64_t{round} * p.g.nodes * p.lanes;
  for (std::int64_t n = p.plan.borrow[round]; n < p.plan.borrow[round + 1]; ++n) {
    const std::int64_t at = p.plan.borrowed[n];
    std::copy_n(base + std::int64_t{p.plan.node[at]} * p.lanes, p.lanes, states + at * p.lanes);
  }
}

template <typename T, int SIZE, bool KEEP>
void compute_rounds(const BlockPass<T>& p) {
  if (p.base) borrow(p, 0);
  for (std::int32_t round = 1; round <= p.g.rounds; ++round) {
    compute_round<T, SIZE, KEEP>(p, round);
    if (p.base) borrow(p, round);
  }
}

template <typename T, bool KEEP>
auto compute_of(const HeadGraph& g) {
  if constexpr (std::is_same<T, float>::value) {
    if (block_lanes(g, true) == REGISTER)
      return g.size == 4   ? &compute_rounds<T, 4, KEEP>
             : g.size == 8 ? &compute_rounds<T, 8, KEEP>
                           : &compute_rounds<T, 16, KEEP>;
  }
  return &compute_rounds<T, 0, KEEP>;
}

}  // namespace

template <typename T>
void BlockPass<T>::compute(bool keep) const {
  (keep ? compute_of<T, true>(g) : compute_of<T, false>(g))(*this);
}

template void BlockPass<float>::compute(bool) const;
template void BlockPass<double>::compute(bool) const;

}  // namespace epignn
