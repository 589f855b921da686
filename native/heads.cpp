#include "heads.hpp"

#include <algorithm>
#include <thread>

#include "blocks.hpp"

namespace epignn {
namespace {

constexpr std::int32_t NEVER = 1 << 20;

// Steps from the given nodes, up to a limit, over edges that are not left out.
void search(const HeadGraph& g, std::vector<std::int32_t>& frontier, const std::vector<char>* left_out,
            std::vector<std::int32_t>& distance) {
  distance.assign(g.nodes, NEVER);
  for (const std::int32_t v : frontier) distance[v] = 0;
  std::vector<std::int32_t> next;
  for (std::int32_t step = 1; step <= g.rounds && !frontier.empty(); ++step) {
    next.clear();
    for (const std::int32_t v : frontier)
      for (std::int32_t e = g.offset[v]; e < g.offset[v + 1]; ++e) {
        const std::int32_t u = g.source[e];
        if (distance[u] != NEVER || (left_out && (*left_out)[e])) continue;
        distance[u] = step;
        next.push_back(u);
      }
    frontier.swap(next);
  }
}

// What a pass has to compute. Leaving out an edge changes what its target hears even where the source knows
// nothing, unless such nodes are silent: so the search takes the edges left out as well, or not.
Plan plan_pass(const HeadGraph& g, const HeadBatch& b, std::int32_t h) {
  Plan plan;
  plan.head = b.head[h];
  plan.left_out.assign(b.left_out + b.left_out_offset[h], b.left_out + b.left_out_offset[h + 1]);
  std::vector<char> without;
  if (g.silent) {
    without.assign(g.offset[g.nodes], 0);
    for (const std::int32_t e : plan.left_out) without[e] = 1;
  }
  std::vector<std::int32_t> level, need, start{b.head[h]};
  search(g, start, g.silent ? &without : nullptr, level);
  start.assign(b.wanted + b.wanted_offset[h], b.wanted + b.wanted_offset[h + 1]);
  search(g, start, nullptr, need);
  std::vector<std::int32_t> reached;
  for (std::int32_t v = 0; v < g.nodes; ++v)
    if (level[v] + need[v] <= g.rounds) reached.push_back(v);
  plan.slot.assign(std::size_t(g.rounds + 1) * g.nodes, -1);
  plan.round_offset.assign(1, 0);
  for (std::int32_t round = 0; round <= g.rounds; ++round) {
    for (const std::int32_t v : reached)
      if (level[v] <= round && need[v] <= g.rounds - round) {
        plan.slot[std::size_t(round) * g.nodes + v] = static_cast<std::int32_t>(plan.node.size());
        plan.node.push_back(v);
      }
    plan.round_offset.push_back(static_cast<std::int64_t>(plan.node.size()));
  }
  return plan;
}

Plan plan_background(const HeadGraph& g) {
  Plan plan;
  plan.round_offset.push_back(0);
  for (std::int32_t round = 0; round <= g.rounds; ++round) {
    for (std::int32_t v = 0; v < g.nodes; ++v) {
      plan.slot.push_back(static_cast<std::int32_t>(plan.node.size()));
      plan.node.push_back(v);
    }
    plan.round_offset.push_back(static_cast<std::int64_t>(plan.node.size()));
  }
  return plan;
}

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

// The place of a node in a round; -1 - place in the background where it is not listed.
EPIGNN_INLINE std::int64_t place(const HeadGraph& g, const Plan& plan, std::int32_t round, std::int32_t v) {
  const std::int64_t at = std::int64_t{round} * g.nodes + v;
  const std::int32_t slot = plan.slot[at];
  return slot >= 0 ? slot : -1 - at;
}

// Where a state is; null where a node knows nothing and is silent.
template <typename T>
EPIGNN_INLINE T* locate(std::int64_t place, T* own, T* base, std::int32_t dim) {
  return place >= 0 ? own + place * dim : base ? base + (-1 - place) * dim : nullptr;
}

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

#define EPIGNN_HEAD_SIZES(X) X(4) X(8) X(16)
#define EPIGNN_DEFINE(SIZE) \
  EPIGNN_CLONES void compute_##SIZE(const View<float>& p) { compute_rounds<float, SIZE>(p); }
EPIGNN_HEAD_SIZES(EPIGNN_DEFINE)
#undef EPIGNN_DEFINE

template <typename T>
void compute_any(const View<T>& p) {
  compute_rounds<T, 0>(p);
}

template <typename T>
decltype(&compute_any<T>) compute_of(const HeadGraph&) {
  return &compute_any<T>;
}

template <>
decltype(&compute_any<float>) compute_of<float>(const HeadGraph& g) {
  if (block_lanes(g.facets, g.size, true) != REGISTER) return &compute_any<float>;
  return g.size == 4 ? &compute_4 : g.size == 8 ? &compute_8 : &compute_16;
}

// -- gradient --

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

#define EPIGNN_DEFINE(SIZE)                                                                         \
  EPIGNN_CLONES void unpool_##SIZE(const BackView<float>& p, const std::vector<char>& left_out) { \
    unpool_rounds<float, SIZE>(p, left_out);                                                        \
  }
EPIGNN_HEAD_SIZES(EPIGNN_DEFINE)
#undef EPIGNN_DEFINE

template <typename T>
void unpool_any(const BackView<T>& p, const std::vector<char>& left_out) {
  unpool_rounds<T, 0>(p, left_out);
}

template <typename T>
decltype(&unpool_any<T>) unpool_of(int) {
  return &unpool_any<T>;
}

template <>
decltype(&unpool_any<float>) unpool_of<float>(int size) {
  return size == 4 ? &unpool_4 : size == 8 ? &unpool_8 : size == 16 ? &unpool_16 : &unpool_any<float>;
}

std::vector<char> marked(const HeadGraph& g, const Plan& plan) {
  std::vector<char> marks(g.offset[g.nodes], 0);
  for (const std::int32_t e : plan.left_out) marks[e] = 1;
  return marks;
}

// Run work(h, thread) for every head; which thread takes which head is fixed, so that sums are too.
template <typename Work>
void share(std::int32_t heads, int threads, const Work& work) {
  const auto run = [&](int thread) {
    for (std::int32_t h = thread; h < heads; h += threads) work(h, thread);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& other : others) other.join();
}

int at_most(int threads, std::int32_t heads) { return std::max(1, std::min(threads, heads)); }

}  // namespace

// The states of round 0 are in place.
template <typename T>
void Pass<T>::compute(const HeadGraph& g, const T* matrices, const T* base, bool keep) {
  Heard<T> heard;
  const std::vector<char> left_out = marked(g, plan);
  compute_of<T>(g)({g, plan, matrices, states.get(), chosen.get(), total.get(), base, left_out, heard, keep});
}

template <typename T>
void Pass<T>::compute_back(const HeadGraph& g, const T* transposed, const T* base, T* grad, T* grad_base,
                           T* grad_transposed) const {
  const BackView<T> view{g,    plan, transposed, states.get(), chosen.get(), total.get(),
                         base, grad, grad_base,  grad_transposed};
  unpool_of<T>(g.size)(view, marked(g, plan));
}

template <typename T>
static Pass<T> prepared(const HeadGraph& g, Plan plan, bool keep) {
  Pass<T> pass;
  pass.plan = std::move(plan);
  const std::size_t listed = pass.plan.node.size(), dim = static_cast<std::size_t>(g.dim());
  pass.states.reset(new T[listed * dim]);
  if (keep && g.pooling == Pooling::min) pass.chosen.reset(new std::int32_t[listed * dim]);
  if (keep) pass.total.reset(new T[listed * g.facets]);
  return pass;
}

template <typename T>
HeadPasses<T>::HeadPasses(const HeadGraph& graph, const T* matrices, bool keep)
    : graph_(graph), keep_(keep), matrices_(), transposed_() {
  const HeadGraph& g = graph_;
  const int n = g.size, lanes = block_lanes(g.facets, n, sizeof(T) == 4), group = lanes / n, blocks = g.facets / group;
  matrices_.resize(std::size_t(g.relations) * g.facets * n * n);
  transposed_.resize(matrices_.size());
  for (std::int64_t r = 0; r < g.relations; ++r)
    for (std::int64_t f = 0; f < g.facets; ++f)
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) {
          const T value = matrices[((r * g.facets + f) * n + i) * n + k];
          matrices_[((r * blocks + f / group) * n + i) * lanes + f % group * n + k] = value;
          transposed_[((r * g.facets + f) * n + k) * n + i] = value;
        }
  if (g.silent) return;
  background_ = prepared<T>(g, plan_background(g), keep);
  std::fill(background_.states.get(), background_.states.get() + g.layer(), T(1) / n);
  background_.compute(g, matrices_.data(), nullptr, keep);
}

template <typename T>
void HeadPasses<T>::read(const HeadBatch& b, std::int32_t h, const Pass<T>& pass, T* result) const {
  const std::int32_t dim = graph_.dim();
  for (std::int64_t w = b.wanted_offset[h]; w < b.wanted_offset[h + 1]; ++w) {
    const T* const from = locate<T>(place(graph_, pass.plan, graph_.rounds, b.wanted[w]), pass.states.get(),
                                    background_.states.get(), dim);
    if (from)
      std::copy(from, from + dim, result + w * dim);
    else
      std::fill(result + w * dim, result + (w + 1) * dim, T(1) / graph_.size);
  }
}

template <typename T>
void HeadPasses<T>::forward(const HeadBatch& b, T* result, int threads) {
  passes_.clear();
  passes_.resize(keep_ ? static_cast<std::size_t>(b.heads) : 0);
  share(b.heads, at_most(threads, b.heads), [&](std::int32_t h, int) {
    Pass<T> pass = prepared<T>(graph_, plan_pass(graph_, b, h), keep_);
    for (std::int32_t c = 0; c < (pass.plan.round_offset[1] ? graph_.dim() : 0); ++c)  // the identity, at the head
      pass.states[c] = T(c % graph_.size == 0);
    pass.compute(graph_, matrices_.data(), background_.states.get(), keep_);
    read(b, h, pass, result);
    if (keep_) passes_[h] = std::move(pass);
  });
}

template <typename T>
void HeadPasses<T>::backward(const HeadBatch& b, const T* grad_result, T* grad_matrices, int threads) const {
  const HeadGraph& g = graph_;
  const std::int32_t dim = g.dim();
  threads = at_most(threads, b.heads);
  const std::size_t base_size = g.silent ? 0 : static_cast<std::size_t>(g.layer()) * (g.rounds + 1);
  std::vector<std::vector<T>> sums(threads, std::vector<T>(transposed_.size())), bases(threads, std::vector<T>(base_size));
  share(b.heads, threads, [&](std::int32_t h, int thread) {
    const Pass<T>& pass = passes_[h];
    std::vector<T> grad(pass.plan.node.size() * dim);
    T* const grad_base = g.silent ? nullptr : bases[thread].data();
    for (std::int64_t w = b.wanted_offset[h]; w < b.wanted_offset[h + 1]; ++w) {
      T* const to = locate<T>(place(g, pass.plan, g.rounds, b.wanted[w]), grad.data(), grad_base, dim);
      for (std::int32_t c = 0; to && c < dim; ++c) to[c] += grad_result[w * dim + c];
    }
    pass.compute_back(g, transposed_.data(), background_.states.get(), grad.data(), grad_base, sums[thread].data());
  });
  for (int t = 1; t < threads; ++t)
    for (std::size_t c = 0; c < base_size; ++c) bases[0][c] += bases[t][c];
  if (!g.silent)
    background_.compute_back(g, transposed_.data(), nullptr, bases[0].data(), nullptr, sums[0].data());
  const std::size_t n = static_cast<std::size_t>(g.size);
  for (const std::vector<T>& sum : sums)
    for (std::size_t block = 0; block < std::size_t(g.relations) * g.facets; ++block)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k) grad_matrices[(block * n + i) * n + k] += sum[(block * n + k) * n + i];
}

template class HeadPasses<float>;
template class HeadPasses<double>;

}  // namespace epignn
