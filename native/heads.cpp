#include "heads.hpp"

#include <algorithm>
#include <memory>

#include "blocks.hpp"
#include "share.hpp"

namespace epignn {

// What the blocks of a thread are computed in; grown where a pass needs more.
template <typename T>
struct HeadPasses<T>::Space {
  std::unique_ptr<T[]> states, total, grad;
  std::unique_ptr<std::int32_t[]> chosen;
  std::size_t states_size = 0, chosen_size = 0, total_size = 0, grad_size = 0;
  template <typename U>
  static U* at_least(std::unique_ptr<U[]>& held, std::size_t& size, std::size_t wanted) {
    if (size < wanted) held.reset(new U[wanted]), size = wanted;
    return held.get();
  }
};

template <typename T>
HeadPasses<T>::HeadPasses(const HeadGraph& graph, const T* matrices, int threads) : graph_(graph) {
  const HeadGraph& g = graph_;
  const int n = g.size;
  lanes_ = block_lanes(g, sizeof(T) == 4);
  blocks_ = g.dim() / lanes_;
  block_matrices_ = std::size_t(g.relations) * n * lanes_;
  matrices_.resize(block_matrices_ * blocks_);
  transposed_.resize(matrices_.size());
  const int group = lanes_ / n;
  for (std::size_t r = 0; r < std::size_t(g.relations); ++r)
    for (std::size_t f = 0; f < std::size_t(g.facets); ++f)
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k) {
          const T value = matrices[((r * g.facets + f) * n + i) * n + k];
          const std::size_t block = f / group * block_matrices_, lane = f % group * n + k;
          matrices_[block + (r * n + i) * lanes_ + lane] = value;
          transposed_[block + (r * n + k) * lanes_ + f % group * n + i] = value;
        }
  if (g.silent) return;
  background_ = plan_background(g);
  base_.reset(new T[block_states() * blocks_]);
  share(blocks_, threads, [&] {
    return [&](std::int64_t block) {
      T* const states = base_.get() + block * block_states();
      std::fill(states, states + std::size_t(g.nodes) * lanes_, T(1) / n);
      BlockPass<T>{g,       background_, lanes_, pooling(static_cast<int>(block)), matrices_.data() + block * block_matrices_,
                   nullptr, nullptr,     states, nullptr,                          nullptr}
          .compute(false);
    };
  });
}

// A block holds facets that are pooled alike.
template <typename T>
Pooling HeadPasses<T>::pooling(int block) const {
  return block * (lanes_ / graph_.size) < graph_.facets - graph_.counting ? graph_.pooling : Pooling::mean;
}

// A block of a pass, with the states of round 0 in place.
template <typename T>
BlockPass<T> HeadPasses<T>::pass(const Plan& plan, int block, Space& space, bool keep) const {
  const HeadGraph& g = graph_;
  const std::size_t listed = plan.listed.size(), layer = plan.node.size() * lanes_;
  T* const states = space.at_least(space.states, space.states_size, layer * (g.rounds + 1));
  BlockPass<T> pass{g,
                    plan,
                    lanes_,
                    pooling(block),
                    matrices_.data() + block * block_matrices_,
                    transposed_.data() + block * block_matrices_,
                    g.silent || plan.head < 0 ? nullptr : base_.get() + block * block_states(),
                    states,
                    nullptr,
                    nullptr};
  if (keep) {
    pass.chosen = space.at_least(space.chosen, space.chosen_size, listed * lanes_);
    pass.total = space.at_least(space.total, space.total_size, listed * (lanes_ / g.size));
  }
  if (plan.head < 0)
    std::fill(states, states + layer, T(1) / g.size);
  else
    for (int c = 0; c < (plan.round[1] ? lanes_ : 0); ++c)
      states[std::size_t(plan.head) * lanes_ + c] = T(c % g.size == 0);  // the identity, at the head
  return pass;
}

template <typename T>
void HeadPasses<T>::read(const HeadBatch& b, std::int32_t h, int block, const BlockPass<T>& pass, T* result) const {
  const std::size_t nodes = std::size_t(graph_.rounds) * graph_.nodes, places = graph_.rounds * pass.plan.node.size();
  for (std::int64_t w = b.wanted_offset[h]; w < b.wanted_offset[h + 1]; ++w) {
    const std::int64_t place = pass.plan.wanted[w - b.wanted_offset[h]];
    T* const to = result + w * graph_.dim() + block * lanes_;
    if (place >= 0)
      std::copy_n(pass.states + (places + place) * lanes_, lanes_, to);
    else if (pass.base)
      std::copy_n(pass.base + (nodes + (-1 - place)) * lanes_, lanes_, to);
    else
      std::fill_n(to, lanes_, T(1) / graph_.size);
  }
}

template <typename T>
void HeadPasses<T>::forward(const HeadBatch& b, T* result, bool keep, int threads) {
  std::vector<Plan> plans(keep ? static_cast<std::size_t>(b.heads) : 0);
  share(b.heads, threads, [&] {
    return [&, space = Space()](std::int64_t h) mutable {
      Plan plan = plan_pass(graph_, b, static_cast<std::int32_t>(h));
      for (int block = 0; block < blocks_; ++block) {
        const BlockPass<T> made = pass(plan, block, space, false);
        made.compute(false);
        read(b, static_cast<std::int32_t>(h), block, made, result);
      }
      if (keep) plans[h] = std::move(plan);
    };
  });
  plans_ = std::move(plans);
}

template <typename T>
void HeadPasses<T>::backward(const HeadBatch& b, const T* grad_result, T* grad_matrices, int threads) const {
  const HeadGraph& g = graph_;
  const std::size_t n = static_cast<std::size_t>(g.size), last = std::size_t(g.rounds) * g.nodes;
  share(blocks_, threads, [&] {
    return [&, space = Space(), sum = std::vector<T>(), grad_base = std::vector<T>()](std::int64_t block) mutable {
      sum.assign(block_matrices_, 0);
      grad_base.assign(g.silent ? 0 : block_states(), 0);
      const auto back = [&](const Plan& plan, const auto& begin) {
        const std::size_t layer = plan.node.size() * lanes_;
        T* const grad = space.at_least(space.grad, space.grad_size, 2 * layer);
        std::fill(grad, grad + layer, T(0));
        const BlockPass<T> made = pass(plan, static_cast<int>(block), space, true);
        made.compute(true);
        begin(grad);
        made.compute_back(grad, grad_base.data(), sum.data());
      };
      for (std::int32_t h = 0; h < b.heads; ++h)
        back(plans_[h], [&](T* grad) {
          for (std::int64_t w = b.wanted_offset[h]; w < b.wanted_offset[h + 1]; ++w) {
            const std::int64_t place = plans_[h].wanted[w - b.wanted_offset[h]];
            if (place < 0 && g.silent) continue;
            T* const to = place >= 0 ? grad + place * lanes_ : grad_base.data() + (last + (-1 - place)) * lanes_;
            for (int c = 0; c < lanes_; ++c) to[c] += grad_result[w * g.dim() + block * lanes_ + c];
          }
        });
      if (!g.silent)
        back(background_, [&](T* grad) { std::copy_n(grad_base.data() + last * lanes_, g.nodes * lanes_, grad); });
      const std::size_t group = lanes_ / n;
      for (std::size_t r = 0; r < std::size_t(g.relations); ++r)
        for (std::size_t k = 0; k < n; ++k)
          for (std::size_t lane = 0; lane < std::size_t(lanes_); ++lane)
            grad_matrices[((r * g.facets + block * group + lane / n) * n + lane % n) * n + k] +=
                sum[(r * n + k) * lanes_ + lane];
    };
  });
}

template class HeadPasses<float>;
template class HeadPasses<double>;

}  // namespace epignn
