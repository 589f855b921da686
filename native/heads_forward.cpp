#include <algorithm>

#include "blocks.hpp"
#include "heads.hpp"

namespace epignn {
namespace {

// What a node hears in a round: gathered once, read for every block.
template <typename T>
struct Heard {
  std::vector<const T*> from;
  std::vector<std::int32_t> edge;
  std::size_t count = 0;
};

template <typename T>
struct View {
  const HeadGraph& g;
  const Plan& plan;
  const T* matrices;  // (relations, blocks, i, lanes)
  T* states;
  std::int32_t* chosen;
  T* total;
  const T* base;  // background, or none
  const std::vector<char>& left_out;
  Heard<T>& heard;
  bool keep;
};

template <typename T, int SIZE>
EPIGNN_INLINE void normalise_block(Block<T, SIZE>& block, T* state, T* total, int lanes, int size) {
  block.store(state, lanes);
  for (int first = 0; first < lanes; first += size, ++total) {
    T sum = 0;
    for (int k = first; k < first + size; ++k) sum += state[k];
    const bool contradiction = sum < FLOOR<T>;
    const T scale = contradiction ? T(0) : T(1) / sum, least = contradiction ? T(1) / size : T(0);
    for (int k = first; k < first + size; ++k) state[k] = state[k] * scale + least;
    *total = contradiction ? T(0) : sum;
  }
}

// Scale the largest component of each facet to one, so that no number of factors underflows.
template <typename T, int SIZE>
EPIGNN_INLINE void rescale(Block<T, SIZE>& block, int lanes, int size) {
  T values[SIZE ? REGISTER : MAX_SIZE];
  block.store(values, lanes);
  for (int first = 0; first < lanes; first += size) {
    T top = values[first];
    for (int k = first + 1; k < first + size; ++k) top = std::max(top, values[k]);
    for (int k = first; k < first + size; ++k) values[k] /= top;
  }
  block.load(values, lanes);
}

template <typename T, int SIZE>
EPIGNN_INLINE void pool_block(const View<T>& p, const T* own, std::int64_t at, int b, int lanes, int size) {
  const HeadGraph& g = p.g;
  const std::size_t count = p.heard.count;
  const std::int64_t blocks = g.dim() / lanes, matrix = std::int64_t{size} * lanes;
  Block<T, SIZE> pooled, message;
  std::size_t n = 0;
  const bool minimum = g.pooling == Pooling::min;
  const auto hear = [&](Block<T, SIZE>& into, std::size_t which) __attribute__((always_inline)) {
    into.compose(p.heard.from[which] + b * lanes,
                 p.matrices + (g.label[p.heard.edge[which]] * blocks + b) * matrix, lanes);
  };
  if (!minimum) {
    pooled.fill(T(1), lanes);
    if (g.self_message && own) {
      message.load(own + b * lanes, lanes);
      pooled.multiply(message, FLOOR<T>, lanes);
      rescale<T, SIZE>(pooled, lanes, size);
    }
  } else if (g.self_message && own) {
    pooled.load(own + b * lanes, lanes);
    pooled.fill_edges(-1, lanes);
  } else {
    hear(pooled, 0);
    pooled.fill_edges(p.heard.edge[n++], lanes);
  }
  for (; n < count; ++n) {
    hear(message, n);
    if (minimum) {
      pooled.lower_to(message, p.heard.edge[n], lanes);
    } else {
      pooled.multiply(message, FLOOR<T>, lanes);
      rescale<T, SIZE>(pooled, lanes, size);
    }
  }
  T totals[SIZE ? REGISTER : 1];
  T* const total = p.keep ? p.total + at * g.facets + b * (lanes / size) : totals;
  if (p.keep && minimum) pooled.store_edges(p.chosen + at * g.dim() + b * lanes, lanes);
  normalise_block<T, SIZE>(pooled, p.states + at * g.dim() + b * lanes, total, lanes, size);
}

// Gather what node v hears in a round.
template <typename T>
EPIGNN_INLINE void listen(const HeadGraph& g, const Plan& plan, std::int32_t round, std::int32_t v,
                          const std::vector<char>& left_out, T* states, T* base, Heard<T>& heard) {
  const std::size_t most = static_cast<std::size_t>(g.offset[v + 1] - g.offset[v]);
  if (heard.from.size() < most) heard.from.resize(most), heard.edge.resize(most);
  std::size_t count = 0;
  for (std::int32_t e = g.offset[v]; e < g.offset[v + 1]; ++e) {
    if (left_out[e]) continue;
    const T* const from = locate<T>(place(g, plan, round - 1, g.source[e]), states, base, g.dim());
    if (!from) continue;
    heard.from[count] = from;
    heard.edge[count++] = e;
  }
  heard.count = count;
}

template <typename T, int SIZE>
EPIGNN_INLINE void compute_rounds(const View<T>& p) {
  const HeadGraph& g = p.g;
  const int size = SIZE ? SIZE : g.size, lanes = SIZE ? REGISTER : g.size;
  const std::int32_t dim = g.dim();
  for (std::int32_t round = 1; round <= g.rounds; ++round)
    for (std::int64_t at = p.plan.round_offset[round]; at < p.plan.round_offset[round + 1]; ++at) {
      const std::int32_t v = p.plan.node[at];
      T* const base = const_cast<T*>(p.base);
      const T* const own = locate<T>(place(g, p.plan, round - 1, v), p.states, base, dim);
      p.heard.count = 0;
      if (v != p.plan.head) listen<T>(g, p.plan, round, v, p.left_out, p.states, base, p.heard);
      if (p.heard.count == 0) {  // the state stays
        std::copy(own, own + dim, p.states + at * dim);
        if (p.keep) p.total[at * g.facets] = -1;
        continue;
      }
      for (int b = 0; b < dim / lanes; ++b) pool_block<T, SIZE>(p, own, at, b, lanes, size);
    }
}

template <typename T>
decltype(&compute_rounds<T, 0>) compute_of(const HeadGraph&) {
  return &compute_rounds<T, 0>;
}

template <>
decltype(&compute_rounds<float, 0>) compute_of<float>(const HeadGraph& g) {
  if (block_lanes(g.facets, g.size, true) != REGISTER) return &compute_rounds<float, 0>;
  return g.size == 4 ? &compute_rounds<float, 4> : g.size == 8 ? &compute_rounds<float, 8> : &compute_rounds<float, 16>;
}

}  // namespace

// The states of round 0 are in place.
template <typename T>
void Pass<T>::compute(const HeadGraph& g, const T* matrices, const T* base, bool keep) {
  Heard<T> heard;
  const std::vector<char> left_out = marked(g, plan);
  compute_of<T>(g)({g, plan, matrices, states.get(), chosen.get(), total.get(), base, left_out, heard, keep});
}

template void Pass<float>::compute(const HeadGraph&, const float*, const float*, bool);
template void Pass<double>::compute(const HeadGraph&, const double*, const double*, bool);

}  // namespace epignn
