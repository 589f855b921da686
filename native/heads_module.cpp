// The Python face of heads.hpp: addresses of arrays, whose sizes the caller vouches for.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "address.hpp"
#include "heads.hpp"
#include "lanes.hpp"

namespace nb = nanobind;

namespace epignn {
namespace {

HeadGraph head_graph(int nodes, int relations, int facets, int size, int rounds, int counting, bool self_message,
                     bool silent, bool minimum, std::uintptr_t offset, std::uintptr_t source, std::uintptr_t label) {
  if (size < 1 || size > MAX_SIZE) throw std::invalid_argument("a facet holds 1 to 256 components");
  return HeadGraph{nodes,
                   relations,
                   facets,
                   size,
                   rounds,
                   counting,
                   self_message,
                   silent,
                   minimum ? Pooling::min : Pooling::product,
                   at<const std::int32_t>(offset),
                   at<const std::int32_t>(source),
                   at<const std::int32_t>(label)};
}

HeadBatch head_batch(int heads, std::uintptr_t head, std::uintptr_t left_out_offset, std::uintptr_t left_out,
                     std::uintptr_t wanted_offset, std::uintptr_t wanted, std::uintptr_t followed_offset,
                     std::uintptr_t followed) {
  return HeadBatch{heads,
                   at<const std::int32_t>(head),
                   at<const std::int64_t>(left_out_offset),
                   at<const std::int32_t>(left_out),
                   at<const std::int64_t>(wanted_offset),
                   at<const std::int32_t>(wanted),
                   at<const std::int64_t>(followed_offset),
                   at<const std::int32_t>(followed)};
}

template <typename T>
void bind_passes(nb::module_& m, const char* name) {
  nb::class_<HeadPasses<T>>(m, name)
      .def("__init__",
           [](HeadPasses<T>* self, const HeadGraph& graph, std::uintptr_t matrices, int threads) {
             nb::gil_scoped_release release;
             new (self) HeadPasses<T>(graph, at<const T>(matrices), threads);
           })
      .def("forward",
           [](HeadPasses<T>& self, const HeadBatch& batch, std::uintptr_t result, bool keep, int threads) {
             self.forward(batch, at<T>(result), keep, threads);
           },
           nb::call_guard<nb::gil_scoped_release>())
      .def("backward",
           [](const HeadPasses<T>& self, const HeadBatch& batch, std::uintptr_t grad_result,
              std::uintptr_t grad_matrices, int threads) {
             self.backward(batch, at<const T>(grad_result), at<T>(grad_matrices), threads);
           },
           nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_heads(nb::module_& m) {
  nb::class_<HeadGraph>(m, "HeadGraph");
  nb::class_<HeadBatch>(m, "HeadBatch");
  m.def("head_graph", &head_graph);
  m.def("head_batch", &head_batch);
  bind_passes<float>(m, "HeadPassesFloat");
  bind_passes<double>(m, "HeadPassesDouble");
}

}  // namespace epignn
