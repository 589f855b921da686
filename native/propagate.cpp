#include "propagate.hpp"

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "lanes.hpp"

namespace epignn {
namespace {

template <typename T>
struct Pass {
  const Messages& m;
  const T* matrices;
  const T* from;  // layer that is read
  T* to;          // layer that is written
  std::int32_t* chosen;
  T* total;
};

template <typename T, int SIZE>
EPIGNN_INLINE void hear(const Pass<T>& p, std::int32_t e, std::int32_t facet, Lanes<T, SIZE>& message, int n) {
  const Messages& m = p.m;
  message.compose(p.from + (std::int64_t{m.source[e]} * m.facets + facet) * n,
                  p.matrices + (std::int64_t{m.label[e]} * m.facets + facet) * n * n, n);
}

template <typename T, int SIZE>
EPIGNN_INLINE void pool_min(const Pass<T>& p, std::int32_t v, std::int32_t facet) {
  const Messages& m = p.m;
  const int n = SIZE ? SIZE : m.size;
  const std::int64_t at = (std::int64_t{v} * m.facets + facet) * n;
  Lanes<T, SIZE> low, message;
  std::int32_t e = m.offset[v];
  if (m.self_message) {
    low.load(p.from + at, n);
    low.fill_edges(-1, n);
  } else {
    hear<T, SIZE>(p, e, facet, low, n);
    low.fill_edges(e++, n);
  }
  for (; e < m.offset[v + 1]; ++e) {
    hear<T, SIZE>(p, e, facet, message, n);
    low.lower_to(message, e, n);
  }
  const T total = normalise<T, SIZE>(low, n);
  low.store(p.to + at, n);
  if (!p.chosen) return;
  low.store_edges(p.chosen + at, n);
  p.total[std::int64_t{v} * m.facets + facet] = total;
}

template <typename T, int SIZE>
EPIGNN_INLINE void pool_product(const Pass<T>& p, std::int32_t v, std::int32_t facet) {
  const Messages& m = p.m;
  const int n = SIZE ? SIZE : m.size;
  const std::int64_t at = (std::int64_t{v} * m.facets + facet) * n;
  Lanes<T, SIZE> product, message;
  product.fill(T(1), n);
  if (m.self_message) {
    message.load(p.from + at, n);
    multiply_scaled<T, SIZE>(product, message, n);
  }
  for (std::int32_t e = m.offset[v]; e < m.offset[v + 1]; ++e) {
    hear<T, SIZE>(p, e, facet, message, n);
    multiply_scaled<T, SIZE>(product, message, n);
  }
  const T total = normalise<T, SIZE>(product, n);
  product.store(p.to + at, n);
  if (p.total) p.total[std::int64_t{v} * m.facets + facet] = total;
}

template <typename T, int SIZE>
EPIGNN_INLINE void visit(const Pass<T>& p, std::int32_t v) {
  const Messages& m = p.m;
  const int n = SIZE ? SIZE : m.size;
  const std::int64_t at = std::int64_t{v} * m.facets * n;
  if (m.offset[v] == m.offset[v + 1]) {  // nothing arrives: the state stays
    if (p.to != p.from) std::copy(p.from + at, p.from + at + m.facets * n, p.to + at);
    return;
  }
  for (std::int32_t facet = 0; facet < m.facets; ++facet) {
    if (m.pooling == Pooling::min)
      pool_min<T, SIZE>(p, v, facet);
    else
      pool_product<T, SIZE>(p, v, facet);
  }
}

// The gradients of one pass: `grad_to` of what it wrote, to be added to `grad_from` of what it read.
template <typename T>
struct BackwardPass {
  const Messages& m;
  const T* matrices;    // [relation][facet][i][k]
  const T* transposed;  // [relation][facet][k][i], as is the gradient, so that loops over i are contiguous
  const T* from;
  const T* to;
  const std::int32_t* chosen;
  const T* total;
  T* grad_from;
  T* grad_to;
  T* grad_transposed;
};

// Where the message along an edge came from, and what its gradient adds to the state there.
template <typename T, int SIZE>
struct Sender {
  const BackwardPass<T>& p;
  const int n;
  const std::int64_t source, block;
  Lanes<T, SIZE> state, grad;

  EPIGNN_INLINE Sender(const BackwardPass<T>& pass, std::int32_t e, std::int32_t facet)
      : p(pass),
        n(SIZE ? SIZE : p.m.size),
        source((std::int64_t{p.m.source[e]} * p.m.facets + facet) * n),
        block((std::int64_t{p.m.label[e]} * p.m.facets + facet) * n * n) {
    state.load(p.from + source, n);
    grad.load(p.grad_from + source, n);
  }
  // A gradient that reaches component k of the message goes on to source state and matrix.
  EPIGNN_INLINE void spread(int k, T g) {
    grad.add_scaled(p.transposed + block + k * n, g, n);
    accumulate<T, SIZE>(p.grad_transposed + block + k * n, state, g, n);
  }
  EPIGNN_INLINE void done() const { grad.store(p.grad_from + source, n); }
};

template <typename T, int SIZE>
EPIGNN_INLINE void unpool_min(const BackwardPass<T>& p, std::int32_t v, std::int32_t facet, const T* grad_low) {
  const int n = SIZE ? SIZE : p.m.size;
  const std::int64_t at = (std::int64_t{v} * p.m.facets + facet) * n;
  for (int k = 0; k < n;) {  // neighbours often came along the same edge
    const std::int32_t e = p.chosen[at + k];
    if (e < 0) {
      p.grad_from[at + k] += grad_low[k];
      ++k;
      continue;
    }
    Sender<T, SIZE> sender(p, e, facet);
    for (; k < n && p.chosen[at + k] == e; ++k) sender.spread(k, grad_low[k]);
    sender.done();
  }
}

// With L the logarithm of the product, dL/dmessage = 1 / message; messages are computed anew.
template <typename T, int SIZE>
EPIGNN_INLINE void unpool_product(const BackwardPass<T>& p, std::int32_t v, std::int32_t facet, const T* grad_log) {
  const Messages& m = p.m;
  const int n = SIZE ? SIZE : m.size;
  const std::int64_t at = (std::int64_t{v} * m.facets + facet) * n;
  if (m.self_message)
    for (int k = 0; k < n; ++k)
      if (p.from[at + k] > FLOOR<T>) p.grad_from[at + k] += grad_log[k] / p.from[at + k];
  for (std::int32_t e = m.offset[v]; e < m.offset[v + 1]; ++e) {
    Sender<T, SIZE> sender(p, e, facet);
    Lanes<T, SIZE> message;
    message.compose(p.from + sender.source, p.matrices + sender.block, n);
    for (int k = 0; k < n; ++k)
      if (message[k] > FLOOR<T>) sender.spread(k, grad_log[k] / message[k]);
    sender.done();
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE void unvisit(const BackwardPass<T>& p, std::int32_t v) {
  const Messages& m = p.m;
  const int n = SIZE ? SIZE : m.size;
  const std::int64_t at = std::int64_t{v} * m.facets * n;
  if (m.offset[v] == m.offset[v + 1]) {
    if (p.grad_to != p.grad_from) for (int c = 0; c < m.facets * n; ++c) p.grad_from[at + c] += p.grad_to[at + c];
    return;
  }
  const bool minimum = m.pooling == Pooling::min;
  for (std::int32_t facet = 0; facet < m.facets; ++facet) {
    T* const grad = p.grad_to + at + facet * n;
    T back[SIZE ? SIZE : MAX_SIZE];
    const T total = p.total[std::int64_t{v} * m.facets + facet];
    unnormalise<T, SIZE>(p.to + at + facet * n, grad, minimum, total, back, n);
    if (p.grad_to == p.grad_from) std::fill(grad, grad + n, T(0));  // one pass in order: spent
    if (minimum)
      unpool_min<T, SIZE>(p, v, facet, back);
    else
      unpool_product<T, SIZE>(p, v, facet, back);
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE void forward_graphs(const Messages& m, const T* matrices, T* states, std::int32_t* chosen, T* total,
                                  bool keep, std::int32_t first, std::int32_t last) {
  const std::int64_t layer = m.layer(), sums = std::int64_t{m.nodes()} * m.facets;
  for (std::int32_t g = first; g < last; ++g) {
    const std::int32_t begin = m.node_offset[g], end = m.node_offset[g + 1];
    for (std::int32_t pass = 0; pass < m.passes(); ++pass) {
      T* const from = states + (m.rounds ? (keep ? pass : pass % 2) : 0) * layer;
      T* const to = states + (m.rounds ? (keep ? pass + 1 : (pass + 1) % 2) : 0) * layer;
      const Pass<T> p{m, matrices, from, to, keep ? chosen + pass * layer : nullptr, keep ? total + pass * sums : nullptr};
      if (m.descending)
        for (std::int32_t v = end - 1; v >= begin; --v) visit<T, SIZE>(p, v);
      else
        for (std::int32_t v = begin; v < end; ++v) visit<T, SIZE>(p, v);
    }
  }
}

template <typename T, int SIZE>
EPIGNN_INLINE void backward_graphs(const Messages& m, const T* matrices, const T* transposed, const T* states,
                                   const std::int32_t* chosen, const T* total, T* grad, T* grad_transposed,
                                   std::int32_t first, std::int32_t last) {
  const std::int64_t layer = m.layer(), sums = std::int64_t{m.nodes()} * m.facets;
  for (std::int32_t g = first; g < last; ++g) {
    const std::int32_t begin = m.node_offset[g], end = m.node_offset[g + 1];
    const std::int64_t width = std::int64_t{m.facets} * m.size;
    T *grad_to = grad, *grad_from = m.rounds ? grad + layer : grad;
    for (std::int32_t pass = m.passes() - 1; pass >= 0; --pass) {
      const std::int64_t from = m.rounds ? pass * layer : 0, to = m.rounds ? (pass + 1) * layer : 0;
      if (m.rounds) std::fill(grad_from + begin * width, grad_from + end * width, T(0));
      const BackwardPass<T> p{m,           matrices,
                              transposed,  states + from,
                              states + to, chosen + pass * layer,
                              total + pass * sums, grad_from,
                              grad_to,     grad_transposed};
      if (m.descending)  // the reverse of the order of the way forward
        for (std::int32_t v = begin; v < end; ++v) unvisit<T, SIZE>(p, v);
      else
        for (std::int32_t v = end - 1; v >= begin; --v) unvisit<T, SIZE>(p, v);
      std::swap(grad_to, grad_from);
    }
  }
}

// Run work(first graph, last graph, thread) on shares of about equally many edges.
void share(const Messages& m, int threads, const std::function<void(std::int32_t, std::int32_t, int)>& work) {
  const std::int64_t edges = m.offset[m.nodes()];
  threads = static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, edges / 256)));
  std::vector<std::int32_t> bounds(1, 0);
  for (int t = 1; t < threads; ++t) {
    std::int32_t g = bounds.back();
    while (g < m.graphs && m.offset[m.node_offset[g]] < edges * t / threads) ++g;
    bounds.push_back(g);
  }
  bounds.push_back(m.graphs);
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, bounds[t], bounds[t + 1], t);
  work(bounds[0], bounds[1], 0);
  for (std::thread& other : others) other.join();
}

}  // namespace

// The usual sizes of facets have functions of their own, others share one.
template <typename T>
PassKernels<T> pass_kernels(std::int32_t) {
  return {&forward_graphs<T, 0>, &backward_graphs<T, 0>};
}

template <>
PassKernels<float> pass_kernels<float>(std::int32_t size) {
  switch (size) {
#define EPIGNN_CASE(SIZE) \
  case SIZE:              \
    return {&forward_graphs<float, SIZE>, &backward_graphs<float, SIZE>};
    EPIGNN_SIZES(EPIGNN_CASE)
    default:
      return {&forward_graphs<float, 0>, &backward_graphs<float, 0>};
  }
}

template <typename T>
void forward(const Messages& m, const T* matrices, T* states, std::int32_t* chosen, T* total, bool keep, int threads) {
  const auto run = pass_kernels<T>(m.size).forward;
  share(m, threads, [&](std::int32_t first, std::int32_t last, int) {
    run(m, matrices, states, chosen, total, keep, first, last);
  });
}

template <typename T>
void add_transposed(const T* matrices, std::size_t blocks, std::size_t size, T* result) {
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t i = 0; i < size; ++i) result[(b * size + k) * size + i] += matrices[(b * size + i) * size + k];
}

template <typename T>
void backward(const Messages& m, const T* matrices, const T* states, const std::int32_t* chosen, const T* total,
              T* grad, T* grad_matrices, int threads) {
  const auto run = pass_kernels<T>(m.size).backward;
  const std::size_t blocks = static_cast<std::size_t>(m.relations) * m.facets, size = static_cast<std::size_t>(m.size);
  // Kept from call to call: fresh pages for some megabytes would cost more than the work.
  static thread_local std::vector<T> transposed;
  static thread_local std::vector<std::vector<T>> sums;
  transposed.assign(blocks * size * size, T(0));
  add_transposed(matrices, blocks, size, transposed.data());
  std::vector<std::vector<T>>& parts = sums;  // those of this thread, also inside the others
  const T* const turned = transposed.data();
  if (parts.size() < static_cast<std::size_t>(std::max(1, threads))) parts.resize(static_cast<std::size_t>(threads));
  for (std::vector<T>& part : parts) part.clear();
  share(m, threads, [&](std::int32_t first, std::int32_t last, int thread) {
    parts[thread].assign(blocks * size * size, T(0));
    run(m, matrices, turned, states, chosen, total, grad, parts[thread].data(), first, last);
  });
  for (const std::vector<T>& part : parts)
    if (!part.empty()) add_transposed(part.data(), blocks, size, grad_matrices);
}

template PassKernels<double> pass_kernels<double>(std::int32_t);
template void add_transposed<float>(const float*, std::size_t, std::size_t, float*);
template void add_transposed<double>(const double*, std::size_t, std::size_t, double*);
template void forward<float>(const Messages&, const float*, float*, std::int32_t*, float*, bool, int);
template void forward<double>(const Messages&, const double*, double*, std::int32_t*, double*, bool, int);
template void backward<float>(const Messages&, const float*, const float*, const std::int32_t*, const float*, float*,
                              float*, int);
template void backward<double>(const Messages&, const double*, const double*, const std::int32_t*, const double*,
                               double*, double*, int);

}  // namespace epignn
