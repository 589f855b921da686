// The Python face of step.hpp: addresses of arrays, whose sizes the caller vouches for.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "address.hpp"
#include "lanes.hpp"
#include "step.hpp"

namespace nb = nanobind;

namespace epignn {
namespace {

StepSettings step_settings(int relations, int facets, int size, bool coupled, bool right_identity, bool minimum,
                           int rounds, bool self_message, bool forward_only, int loss, double margin,
                           double temperature, double clip, double decay, double beta1, double beta2,
                           double epsilon) {
  if (size < 2 || size > MAX_SIZE) throw std::invalid_argument("a facet holds 2 to 256 components");
  return StepSettings{{relations, facets, size, coupled, right_identity},
                      minimum ? Pooling::min : Pooling::product,
                      rounds,
                      self_message,
                      forward_only,
                      static_cast<Loss>(loss),
                      margin,
                      temperature,
                      clip,
                      decay,
                      beta1,
                      beta2,
                      epsilon};
}

typedef std::uintptr_t Address;

Graphs graphs(Address node_offset, Address in_offset, Address in_source, Address in_label, Address out_offset,
              Address out_target, Address out_label, Address head, Address tail, Address label, Address path_offset,
              Address path_node, Address depth, Address acyclic) {
  typedef const std::int32_t Int;
  return Graphs{at<Int>(node_offset), at<Int>(in_offset),
                at<Int>(in_source),   at<Int>(in_label),
                at<Int>(out_offset),  at<Int>(out_target),
                at<Int>(out_label),   at<Int>(head),
                at<Int>(tail),        at<const std::int64_t>(label),
                at<Int>(path_offset), at<Int>(path_node),
                at<Int>(depth),       at<const bool>(acyclic)};
}

template <typename T>
Parameter<T> parameter(Address value, Address first, Address second, Address steps) {
  return {at<T>(value), at<T>(first), at<T>(second), at<float>(steps)};
}

template <typename T>
void bind_steps(nb::module_& m, const char* name) {
  nb::class_<TrainingStep<T>>(m, name)
      .def("__init__",
           [](TrainingStep<T>* self, const StepSettings& settings, Address r0, Address r1, Address r2, Address r3,
              Address c0, Address c1, Address c2, Address c3) {
             new (self) TrainingStep<T>(settings, parameter<T>(r0, r1, r2, r3), parameter<T>(c0, c1, c2, c3));
           })
      .def("__call__",
           [](TrainingStep<T>& self, const Graphs& all, Address chosen, Address other, int count, double rate,
              int threads) {
             return self(all, at<const std::int64_t>(chosen), at<const std::int64_t>(other), count, rate, threads);
           },
           nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_step(nb::module_& m) {
  nb::class_<StepSettings>(m, "StepSettings");
  nb::class_<Graphs>(m, "Graphs");
  m.def("step_settings", &step_settings, nb::arg("relations"), nb::arg("facets"), nb::arg("size"), nb::arg("coupled"),
        nb::arg("right_identity"), nb::arg("minimum"), nb::arg("rounds"), nb::arg("self_message"),
        nb::arg("forward_only"), nb::arg("loss"), nb::arg("margin"), nb::arg("temperature"), nb::arg("clip"),
        nb::arg("decay"), nb::arg("beta1"), nb::arg("beta2"), nb::arg("epsilon"));
  m.def("graphs", &graphs);
  bind_steps<float>(m, "TrainingStepFloat");
  bind_steps<double>(m, "TrainingStepDouble");
}

}  // namespace epignn
