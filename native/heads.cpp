#include "heads.hpp"

#include <algorithm>
#include <thread>

#include "blocks.hpp"

namespace epignn {
namespace {

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
