// The Python face of bodies.hpp: addresses of arrays, whose sizes the caller vouches for.
#include <nanobind/nanobind.h>

#include <algorithm>

#include "address.hpp"
#include "bodies.hpp"

namespace nb = nanobind;

namespace epignn {

void bind_bodies(nb::module_& m) {
  using Address = std::uintptr_t;
  nb::class_<WalkGraph>(m, "WalkGraph");
  nb::class_<Bodies>(m, "Bodies");
  m.def("walk_graph", [](int nodes, int relations, Address offset, Address source, Address label, Address alike) {
    return WalkGraph{nodes,
                     relations,
                     at<const std::int32_t>(offset),
                     at<const std::int32_t>(source),
                     at<const std::int32_t>(label),
                     at<const std::int32_t>(alike)};
  });
  m.def("bodies", [](int count, Address child, Address last, Address rule, Address relation, Address confidence) {
    return Bodies{count,
                  at<const std::int32_t>(child),
                  at<const std::int32_t>(last),
                  at<const std::int64_t>(rule),
                  at<const std::int32_t>(relation),
                  at<const double>(confidence)};
  });
  nb::class_<Said>(m, "Said")
      .def_prop_ro("size", [](const Said& self) { return self.entity.size(); })
      .def("copy", [](const Said& self, Address offset, Address entity, Address value) {
        std::copy(self.offset.begin(), self.offset.end(), at<std::int64_t>(offset));
        std::copy(self.entity.begin(), self.entity.end(), at<std::int64_t>(entity));
        std::copy(self.value.begin(), self.value.end(), at<double>(value));
      });
  nb::class_<RulesFrom>(m, "RulesFrom")
      .def("__init__",
           [](RulesFrom* self, const WalkGraph& graph, const Bodies& bodies, int hops, std::int64_t most,
              double spread, double next_best, bool noisy_or) {
             new (self) RulesFrom(graph, bodies, hops, most, Aggregate{spread, next_best, noisy_or});
           })
      // The lock of Python is kept, and a copy is given: a call works in the memory of its object.
      .def("said", [](RulesFrom& self, int head, Address asked) -> Said {
        return self.from(head, at<const std::uint8_t>(asked));
      });
}

}  // namespace epignn
