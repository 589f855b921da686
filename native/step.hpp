// A whole training step of the model on labelled graphs: collation, both passes, aggregation, loss, gradients and the
// update of AdamW. What is computed is that of `Classify.loss` and `torch.optim.AdamW`, to rounding.
//
// A batch is cut into parts, whose number depends on the batch alone, and their gradients are added in order: the
// result has the same bits with any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "learnt.hpp"
#include "propagate.hpp"
#include "readout.hpp"

namespace epignn {

enum class Loss { margin, cross_entropy, binary };

struct StepSettings {
  Shape shape;
  Pooling pooling;
  std::int32_t rounds;  // 0: as many as the graphs of a batch need
  bool self_message, forward_only;
  Loss loss;
  double margin, temperature;
  double clip, decay, beta1, beta2, epsilon;
};

// All graphs of a data set; see src/epignn/models/batch.py.
struct Graphs {
  const std::int32_t* node_offset;
  const std::int32_t *in_offset, *in_source, *in_label;
  const std::int32_t *out_offset, *out_target, *out_label;
  const std::int32_t *head, *tail;
  const std::int64_t* label;
  const std::int32_t *path_offset, *path_node;
  const std::int32_t* depth;
  const bool* acyclic;
};

// Those of a batch, numbered anew.
struct Collated {
  struct Edges {
    std::vector<std::int32_t> offset, other, label;
  };
  std::vector<std::int32_t> node_offset, head, tail, path_offset, path_node;
  Edges in, out;
  std::int32_t depth;
  bool acyclic;
  void take(const Graphs& from, const std::int64_t* chosen, std::int32_t count);
};

// Values, both moments and the number of steps, in the memory of torch.
template <typename T>
struct Parameter {
  T *value, *first, *second;
  float* steps;
};

template <typename T>
class TrainingStep {
 public:
  TrainingStep(const StepSettings& settings, const Parameter<T>& relation, const Parameter<T>& composition);

  // Learn from the chosen graphs and return their mean loss. `other` is a wrong relation of each, for the margin loss.
  double operator()(const Graphs& graphs, const std::int64_t* chosen, const std::int64_t* other, std::int32_t count,
                    double rate, int threads);

 private:
  // States of one direction, and what their gradient needs.
  struct Direction {
    Messages messages;
    const T* matrices;
    std::vector<T> transposed, states, total, grad;
    std::vector<std::int32_t> chosen;
    T* result() { return states.data() + messages.rounds * messages.layer(); }
    void begin(const Collated& batch, bool descending, const StepSettings& s);
    void start(std::int32_t graph, std::int32_t node);
  };
  // Gradients of some graphs of a batch, and their loss. Matrices and table stand as the kernels want them.
  struct Part {
    std::vector<T> vectors, table, ahead, back;
    std::vector<T> logs, scores;  // of one graph
    double loss;
    void begin(const Shape& shape);
  };

  void begin(const Graphs& graphs, const std::int64_t* chosen, std::int32_t count);
  void learn(Part& part, std::int32_t first, std::int32_t last);
  void pass(Direction& d, const std::vector<std::int32_t>& start, std::int32_t first, std::int32_t last);
  template <typename Act>
  void each_run(std::int32_t first, std::int32_t last, const Act& act) const;
  void pass_back(Direction& d, std::vector<T>& grad_matrices, std::int32_t first, std::int32_t last);
  void unscore(Part& part, const T* state, T* grad) const;
  bool judge(Part& part, const T* state, std::int64_t label, std::int64_t other);
  void add_up(std::size_t parts);
  void update(double rate);

  const StepSettings s_;
  const PassKernels<T> passes_;
  const ReadoutKernels<T> readouts_;
  Parameter<T> parameters_[2];
  Learnt<T> learnt_, grad_;
  std::vector<T> grads_[2];  // of the parameters
  Collated batch_;
  Direction ahead_, back_;
  Readout readout_;
  std::vector<T> kij_, kji_, result_, result_grad_, total_;
  std::vector<std::int32_t> chosen_;
  std::vector<std::int64_t> label_;
  const std::int64_t* other_ = nullptr;
  std::vector<char> counts_;  // by graph: whether its loss has a gradient
  std::vector<Part> parts_;
};

}  // namespace epignn
