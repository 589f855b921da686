#include "step.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace epignn {
namespace {

constexpr std::int32_t PARTS = 4;
constexpr std::int32_t EDGES = 256;       // that a part is worth having for
constexpr double LOG_FLOOR = 1e-10;       // smallest probability whose logarithm is taken
constexpr double CLIP_EPSILON = 1e-6;     // as torch adds to a norm

void take_edges(const std::int32_t* offset, const std::int32_t* other, const std::int32_t* label, std::int32_t node,
                std::int32_t nodes, std::int32_t shift, Collated::Edges& to) {
  const std::int32_t first = offset[node], moved = std::int32_t(to.other.size()) - first;
  for (std::int32_t v = node + 1; v <= node + nodes; ++v) to.offset.push_back(offset[v] + moved);
  for (std::int32_t e = first; e < offset[node + nodes]; ++e) {
    to.other.push_back(other[e] + shift);
    to.label.push_back(label[e]);
  }
}

template <typename T>
void add(const std::vector<T>& from, std::vector<T>& to) {
  for (std::size_t at = 0; at < to.size(); ++at) to[at] += from[at];
}

// Several sums go on at once.
template <typename T>
T dot(const T* left, const T* right, std::size_t size) {
  constexpr std::size_t LANES = 16;
  T sums[LANES] = {};
  std::size_t c = 0;
  for (; c + LANES <= size; c += LANES)
    for (std::size_t x = 0; x < LANES; ++x) sums[x] += left[c + x] * right[c + x];
  for (std::size_t x = 0; c + x < size; ++x) sums[x] += left[c + x] * right[c + x];
  for (std::size_t half = LANES / 2; half; half /= 2)
    for (std::size_t x = 0; x < half; ++x) sums[x] += sums[x + half];
  return sums[0];
}

}  // namespace

void Collated::take(const Graphs& from, const std::int64_t* chosen, std::int32_t count) {
  for (Edges* edges : {&in, &out}) {
    edges->offset.assign(1, 0);
    edges->other.clear();
    edges->label.clear();
  }
  node_offset.assign(1, 0);
  path_offset.assign(1, 0);
  for (auto* list : {&head, &tail, &path_node}) list->clear();
  depth = count ? 0 : 1;
  acyclic = true;
  for (std::int32_t c = 0; c < count; ++c) {
    const std::int64_t g = chosen[c];
    const std::int32_t node = from.node_offset[g], nodes = from.node_offset[g + 1] - node;
    const std::int32_t shift = node_offset.back() - node;
    take_edges(from.in_offset, from.in_source, from.in_label, node, nodes, shift, in);
    take_edges(from.out_offset, from.out_target, from.out_label, node, nodes, shift, out);
    head.push_back(from.head[g] + shift);
    tail.push_back(from.tail[g] + shift);
    for (std::int32_t p = from.path_offset[g]; p < from.path_offset[g + 1]; ++p)
      path_node.push_back(from.path_node[p] + shift);
    path_offset.push_back(std::int32_t(path_node.size()));
    node_offset.push_back(node_offset.back() + nodes);
    depth = std::max(depth, from.depth[g]);
    acyclic = acyclic && from.acyclic[g];
  }
}

template <typename T>
TrainingStep<T>::TrainingStep(const StepSettings& settings, const Parameter<T>& relation,
                              const Parameter<T>& composition)
    : s_(settings),
      passes_(pass_kernels<T>(settings.shape.size)),
      readouts_(readout_kernels<T>(settings.shape.size)),
      parameters_{relation, composition},
      learnt_(settings.shape),
      grad_(settings.shape),
      grads_{std::vector<T>(settings.shape.vectors()), std::vector<T>(settings.shape.compositions())},
      kij_(settings.shape.table()),
      kji_(settings.shape.table()) {}

template <typename T>
void TrainingStep<T>::Direction::begin(const Collated& batch, bool descending, const StepSettings& s) {
  const Collated::Edges& edges = descending ? batch.out : batch.in;
  const bool enough = s.rounds == 0 || s.rounds >= batch.depth;
  const std::int32_t rounds = batch.acyclic && enough && !s.self_message ? 0 : s.rounds ? s.rounds : batch.depth;
  const Shape& shape = s.shape;
  messages = Messages{shape.facets,
                      shape.size,
                      shape.relations,
                      std::int32_t(batch.head.size()),
                      rounds,
                      s.self_message,
                      descending,
                      s.pooling,
                      batch.node_offset.data(),
                      edges.offset.data(),
                      edges.other.data(),
                      edges.label.data()};
  const std::size_t layer = std::size_t(messages.layer()), passes = std::size_t(messages.passes());
  states.resize(layer * (rounds ? passes + 1 : 1));
  grad.resize(layer * (rounds ? 2 : 1));
  chosen.resize(layer * passes);
  total.resize(layer / shape.size * passes);
  transposed.assign(shape.matrices(), T(0));
  add_transposed(matrices, shape.matrices() / shape.size / shape.size, shape.size, transposed.data());
}

// The states of a graph before any message, and no gradient.
template <typename T>
void TrainingStep<T>::Direction::start(std::int32_t graph, std::int32_t node) {
  const std::int64_t width = std::int64_t{messages.facets} * messages.size;
  const std::int64_t first = messages.node_offset[graph] * width, last = messages.node_offset[graph + 1] * width;
  std::fill(states.data() + first, states.data() + last, T(1) / messages.size);
  std::fill(states.data() + node * width, states.data() + (node + 1) * width, T(0));
  for (std::int64_t at = node * width; at < (node + 1) * width; at += messages.size) states[at] = 1;
  std::fill(grad.data() + first, grad.data() + last, T(0));
}

template <typename T>
void TrainingStep<T>::begin(const Graphs& graphs, const std::int64_t* chosen, std::int32_t count) {
  const Shape& shape = s_.shape;
  batch_.take(graphs, chosen, count);
  label_.resize(count);
  counts_.resize(count);
  for (std::int32_t c = 0; c < count; ++c) label_[c] = graphs.label[chosen[c]];
  learnt_of(shape, parameters_[0].value, parameters_[1].value, learnt_);
  ahead_.matrices = learnt_.ahead.data();
  ahead_.begin(batch_, false, s_);
  if (s_.forward_only) return;
  back_.matrices = learnt_.back.data();
  back_.begin(batch_, true, s_);
  turn(shape.facets, shape.size, learnt_.table.data(), kij_.data(), kji_.data());
  readout_ = Readout{shape.facets,         shape.size,
                     count,                s_.pooling,
                     batch_.head.data(),   batch_.tail.data(),
                     batch_.path_offset.data(), batch_.path_node.data()};
  result_.resize(count * shape.width());
  result_grad_.resize(result_.size());
  chosen_.resize(result_.size());
  total_.resize(std::size_t(count) * shape.facets);
}

// The coefficients of all scores in the gradient of the loss; false where none counts.
template <typename T>
bool TrainingStep<T>::judge(Part& part, const T* state, std::int64_t label, std::int64_t other) {
  const std::size_t width = s_.shape.width(), relations = std::size_t(s_.shape.relations);
  const T count = T(label_.size()), temperature = T(s_.temperature);
  for (std::size_t c = 0; c < width; ++c) part.logs[c] = std::log(std::max(state[c], T(LOG_FLOOR)));
  const auto score = [&](std::size_t relation) {
    return dot(learnt_.vectors.data() + relation * width, part.logs.data(), width);
  };
  std::vector<T>& found = part.scores;
  if (s_.loss == Loss::margin) {
    const T gap = score(std::size_t(other)) - score(std::size_t(label)) + T(s_.margin);
    part.loss += std::max(gap, T(0)) / count;
    if (!(gap >= 0)) return false;
    std::fill(found.begin(), found.end(), T(0));
    found[other] += 1 / count;
    found[label] -= 1 / count;
    return true;
  }
  for (std::size_t r = 0; r < relations; ++r) found[r] = score(r) / temperature;
  if (s_.loss == Loss::cross_entropy) {
    const T most = *std::max_element(found.begin(), found.end()), right = found[label];
    T total = 0;
    for (T& value : found) total += value = std::exp(value - most);
    part.loss += (most + std::log(total) - right) / count;
    for (T& value : found) value /= total * temperature * count;
    found[label] -= 1 / (temperature * count);
    return true;
  }
  for (std::size_t r = 0; r < relations; ++r) {
    const T yes = T(std::int64_t(r) == label), z = found[r], share = T(1) / (count * T(relations));
    part.loss += (std::max(z, T(0)) - z * yes + std::log1p(std::exp(-std::abs(z)))) * share;
    found[r] = (1 / (1 + std::exp(-z)) - yes) * share / temperature;
  }
  return true;
}

template <typename T>
void TrainingStep<T>::pass(Direction& d, const std::vector<std::int32_t>& start, std::int32_t first,
                           std::int32_t last) {
  for (std::int32_t g = first; g < last; ++g) d.start(g, start[g]);
  passes_.forward(d.messages, d.matrices, d.states.data(), d.chosen.data(), d.total.data(), true, first, last);
}

// act(first, last) on runs of graphs whose loss has a gradient.
template <typename T>
template <typename Act>
void TrainingStep<T>::each_run(std::int32_t first, std::int32_t last, const Act& act) const {
  for (std::int32_t g = first; g < last; ++g) {
    const std::int32_t from = g;
    while (g < last && counts_[g]) ++g;
    if (from < g) act(from, g);
  }
}

template <typename T>
void TrainingStep<T>::pass_back(Direction& d, std::vector<T>& grad_matrices, std::int32_t first, std::int32_t last) {
  each_run(first, last, [&](std::int32_t from, std::int32_t to) {
    passes_.backward(d.messages, d.matrices, d.transposed.data(), d.states.data(), d.chosen.data(), d.total.data(),
                     d.grad.data(), grad_matrices.data(), from, to);
  });
}

// From the coefficients of scores to the gradient of a state, which is written, and of relation vectors.
template <typename T>
void TrainingStep<T>::unscore(Part& part, const T* state, T* grad) const {
  const std::size_t width = s_.shape.width();
  std::fill(grad, grad + width, T(0));
  for (std::int32_t r = 0; r < s_.shape.relations; ++r) {
    const T factor = part.scores[r];
    if (factor == 0) continue;
    const T* const vector = learnt_.vectors.data() + r * width;
    T* const sums = part.vectors.data() + r * width;
    for (std::size_t c = 0; c < width; ++c) {
      grad[c] += factor * vector[c];
      sums[c] += factor * part.logs[c];
    }
  }
  for (std::size_t c = 0; c < width; ++c) grad[c] = state[c] >= T(LOG_FLOOR) ? grad[c] / state[c] : T(0);
}

template <typename T>
void TrainingStep<T>::learn(Part& part, std::int32_t first, std::int32_t last) {
  const std::size_t width = s_.shape.width();
  const bool both = !s_.forward_only;
  pass(ahead_, batch_.head, first, last);
  if (both) {
    pass(back_, batch_.tail, first, last);
    readouts_.read(readout_, ahead_.result(), back_.result(), learnt_.table.data(), result_.data(), chosen_.data(),
                   total_.data(), first, last);
  }
  for (std::int32_t g = first; g < last; ++g) {
    const T* const state = both ? result_.data() + g * width : ahead_.result() + batch_.tail[g] * width;
    T* const grad = both ? result_grad_.data() + g * width : ahead_.grad.data() + batch_.tail[g] * width;
    counts_[g] = judge(part, state, label_[g], other_ ? other_[g] : 0);
    if (counts_[g]) unscore(part, state, grad);
  }
  if (both) {
    const Turned<T> turned{kij_.data(), kji_.data(), part.table.data()};
    each_run(first, last, [&](std::int32_t from, std::int32_t to) {
      readouts_.unread(readout_, ahead_.result(), back_.result(), learnt_.table.data(), turned, result_.data(),
                       chosen_.data(), total_.data(), result_grad_.data(), ahead_.grad.data(), back_.grad.data(), from,
                       to);
    });
    pass_back(back_, part.back, first, last);
  }
  pass_back(ahead_, part.ahead, first, last);
}

template <typename T>
void TrainingStep<T>::Part::begin(const Shape& shape) {
  vectors.assign(shape.vectors(), T(0));
  table.assign(shape.table(), T(0));
  ahead.assign(shape.matrices(), T(0));
  back.assign(shape.matrices(), T(0));
  logs.resize(shape.width());
  scores.resize(shape.relations);
  loss = 0;
}

// The gradients of all parts, in their order, as those of the parameters.
template <typename T>
void TrainingStep<T>::add_up(std::size_t parts) {
  const Shape& shape = s_.shape;
  Part& all = parts_[0];
  for (std::size_t p = 1; p < parts; ++p) {
    add(parts_[p].vectors, all.vectors);
    add(parts_[p].table, all.table);
    add(parts_[p].ahead, all.ahead);
    add(parts_[p].back, all.back);
    all.loss += parts_[p].loss;
  }
  const std::size_t size = std::size_t(shape.size), blocks = shape.matrices() / size / size;
  for (auto* values : {&grad_.table, &grad_.ahead, &grad_.back}) std::fill(values->begin(), values->end(), T(0));
  grad_.vectors.swap(all.vectors);
  add_transposed(all.ahead.data(), blocks, size, grad_.ahead.data());
  add_transposed(all.back.data(), blocks, size, grad_.back.data());
  add_turned(shape.facets, shape.size, all.table.data(), grad_.table.data());
  learnt_back(shape, learnt_, grad_, grads_[0].data(), grads_[1].data());
}

template <typename T>
void TrainingStep<T>::update(double rate) {
  T scale = 1;
  if (s_.clip != 0) {
    T squares = 0;
    for (const std::vector<T>& grad : grads_) squares += dot(grad.data(), grad.data(), grad.size());
    scale = std::min(T(s_.clip) / (std::sqrt(squares) + T(CLIP_EPSILON)), T(1));
  }
  for (int which = 0; which < 2; ++which) {
    const Parameter<T>& p = parameters_[which];
    const T* const grad = grads_[which].data();
    const double steps = *p.steps += 1;
    const T size = T(rate / (1 - std::pow(s_.beta1, steps))), root = T(std::sqrt(1 - std::pow(s_.beta2, steps)));
    const T keep = T(1 - rate * s_.decay), beta1 = T(s_.beta1), beta2 = T(s_.beta2), epsilon = T(s_.epsilon);
    const T fresh1 = T(1 - s_.beta1), fresh2 = T(1 - s_.beta2);
    for (std::size_t at = 0; at < grads_[which].size(); ++at) {
      const T g = grad[at] * scale;
      p.first[at] = beta1 * p.first[at] + fresh1 * g;
      p.second[at] = beta2 * p.second[at] + fresh2 * g * g;
      p.value[at] = p.value[at] * keep - size * p.first[at] / (std::sqrt(p.second[at]) / root + epsilon);
    }
  }
}

template <typename T>
double TrainingStep<T>::operator()(const Graphs& graphs, const std::int64_t* chosen, const std::int64_t* other,
                                   std::int32_t count, double rate, int threads) {
  begin(graphs, chosen, count);
  other_ = other;
  const std::int32_t edges = std::int32_t(batch_.in.label.size());
  const std::int32_t parts = std::clamp(edges / EDGES, 1, PARTS);
  parts_.resize(PARTS);
  threads = std::clamp(threads, 1, parts);
  const auto work = [&](int thread) {
    for (std::int32_t p = thread; p < parts; p += threads) {
      const auto bound = [&](std::int32_t of) { return std::int32_t(std::int64_t{count} * of / parts); };
      parts_[p].begin(s_.shape);
      learn(parts_[p], bound(p), bound(p + 1));
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& one : others) one.join();
  add_up(std::size_t(parts));
  update(rate);
  return parts_[0].loss;
}

template class TrainingStep<float>;
template class TrainingStep<double>;

}  // namespace epignn
