// The Python face of the kernels: arrays in, arrays out. Each function has a plain twin in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "address.hpp"
#include "closure.hpp"
#include "propagate.hpp"
#include "readout.hpp"
#include "revise.hpp"
#include "search.hpp"
#include "sparse.hpp"

namespace nb = nanobind;
using namespace epignn;

namespace epignn {
void bind_bodies(nb::module_& m);   // bodies_module.cpp
void bind_heads(nb::module_& m);    // heads_module.cpp
void bind_joining(nb::module_& m);  // joining_module.cpp
void bind_step(nb::module_& m);     // step_module.cpp
void bind_text(nb::module_& m);     // text_module.cpp
}

namespace {

using Masks = nb::ndarray<const Mask, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const Mask, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Let Ctrl-C through while the interpreter lock is released.
void check_signals() {
  nb::gil_scoped_acquire hold;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}
const Interrupt interrupt = check_signals;
constexpr std::int64_t ALL_EDGES = std::numeric_limits<std::int64_t>::max();

template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner);
}

nb::ndarray<nb::numpy, Mask> matrix(const Closure& closure) {
  const std::size_t n = static_cast<std::size_t>(closure.entities());
  auto* out = new Mask[n * n + 1];
  nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<Mask*>(p); });
  {
    nb::gil_scoped_release release;
    closure.matrix(out);
  }
  return nb::ndarray<nb::numpy, Mask>(out, {n, n}, owner);
}

nb::ndarray<nb::numpy, Mask> triangle(const Closure& closure) {
  std::vector<Mask> pairs;
  {
    nb::gil_scoped_release release;
    pairs = closure.triangle();
  }
  return to_numpy(std::move(pairs));
}

std::vector<std::int32_t> copied(const Indices& values) {
  return std::vector<std::int32_t>(values.data(), values.data() + values.size());
}

void check_entities(const Indices& values, std::int64_t entities) {
  for (std::size_t e = 0; e < values.size(); ++e)
    if (values(e) < 0 || values(e) >= entities) throw std::out_of_range("an entity is out of range");
}

void check_pair(const Revision& revision, int i, int j) {
  if (std::min(i, j) < 0 || std::max(i, j) >= revision.entities()) throw std::out_of_range("no such entity");
}

bool refine_all(Closure& closure, const Indices& heads, const Indices& tails, const Masks& masks) {
  if (heads.size() != tails.size() || heads.size() != masks.size())
    throw std::invalid_argument("heads, tails and masks differ in length");
  check_entities(heads, closure.entities());
  check_entities(tails, closure.entities());
  nb::gil_scoped_release release;
  for (std::size_t f = 0; f < masks.size(); ++f)
    if (!closure.refine(heads(f), tails(f), masks(f))) return false;
  return true;
}

// Many small networks, one after the other: edges offset[g]..offset[g+1] belong to network g.
struct Batch {
  Indices sizes;
  Offsets offset;
  Indices source, target;
  Masks masks;
  Indices head, tail;

  void check() const {
    const std::size_t graphs = sizes.size();
    if (offset.size() != graphs + 1 || head.size() != graphs || tail.size() != graphs)
      throw std::invalid_argument("the arrays of a batch differ in length");
    if (offset(0) != 0 || offset(graphs) != static_cast<std::int64_t>(masks.size()) ||
        source.size() != masks.size() || target.size() != masks.size())
      throw std::invalid_argument("the edges of a batch do not fit its offsets");
    for (std::size_t g = 0; g < graphs; ++g) {
      if (offset(g) > offset(g + 1) || head(g) < 0 || head(g) >= sizes(g) || tail(g) < 0 || tail(g) >= sizes(g))
        throw std::out_of_range("a query or an offset is out of range");
      for (std::int64_t e = offset(g); e < offset(g + 1); ++e)
        if (source(e) < 0 || source(e) >= sizes(g) || target(e) < 0 || target(e) >= sizes(g))
          throw std::out_of_range("an entity is out of range");
    }
  }
};

// What closure says of each query; 0 where the network is inconsistent.
template <typename Query>
nb::ndarray<nb::numpy, Mask> answer_many(const Batch& batch, Query query) {
  batch.check();
  std::vector<Mask> answers(batch.sizes.size());
  {
    nb::gil_scoped_release release;
    for (std::size_t g = 0; g < answers.size(); ++g) {
      answers[g] = query(g);
      if ((g & 255) == 0) check_signals();
    }
  }
  return to_numpy(std::move(answers));
}

nb::ndarray<nb::numpy, Mask> close_many(const Algebra& algebra, Indices sizes, Offsets offset, Indices source,
                                        Indices target, Masks masks, Indices head, Indices tail) {
  const Batch batch{sizes, offset, source, target, masks, head, tail};
  auto plans = std::make_shared<Plans>(algebra);
  return answer_many(batch, [&](std::size_t g) -> Mask {
    Closure closure(algebra, plans, sizes(g));
    for (std::int64_t e = offset(g); e < offset(g + 1); ++e)
      if (!closure.refine(source(e), target(e), masks(e))) return 0;
    return closure.close(interrupt) ? closure.label(head(g), tail(g)) : 0;
  });
}

// Lay the facts on a chordal graph. False when two of them contradict each other.
bool lay(const Algebra& algebra, const Chordal& graph, Sweeper& sweeper, const std::int32_t* first,
         const std::int32_t* second, const Mask* masks, std::size_t facts) {
  std::vector<std::int32_t> position(graph.order.size());
  for (std::size_t p = 0; p < graph.order.size(); ++p) position[graph.order[p]] = static_cast<std::int32_t>(p);
  for (std::size_t f = 0; f < facts; ++f) {
    const std::int32_t a = position[first[f]], b = position[second[f]];
    if (a == b) {
      if (!(masks[f] & algebra.identity)) return false;
      continue;
    }
    const std::int64_t edge = sweeper.find(std::min(a, b), std::max(a, b));
    sweeper.labels[edge] &= a < b ? masks[f] : algebra.converse(masks[f]);
    if (!sweeper.labels[edge]) {
      sweeper.conflict = edge;
      return false;
    }
  }
  return true;
}

nb::ndarray<nb::numpy, Mask> eliminate_many(const Algebra& algebra, Indices sizes, Offsets offset, Indices source,
                                            Indices target, Masks masks, Indices head, Indices tail) {
  const Batch batch{sizes, offset, source, target, masks, head, tail};
  return answer_many(batch, [&](std::size_t g) -> Mask {
    const std::size_t begin = static_cast<std::size_t>(offset(g)), end = static_cast<std::size_t>(offset(g + 1));
    std::vector<std::int32_t> first, second, rank(sizes(g), 0);
    for (std::size_t e = begin; e < end; ++e)
      if (source(e) != target(e)) {
        first.push_back(source(e));
        second.push_back(target(e));
      }
    if (head(g) != tail(g)) {  // the pair that is asked for stays to the end
      first.push_back(head(g));
      second.push_back(tail(g));
    }
    rank[head(g)] = rank[tail(g)] = 1;
    const Chordal graph = complete(sizes(g), first, second, {}, rank, ALL_EDGES, interrupt);
    Sweeper sweeper(algebra, graph);
    if (!lay(algebra, graph, sweeper, source.data() + begin, target.data() + begin, masks.data() + begin, end - begin))
      return 0;
    if (!sweeper.up(interrupt)) return 0;
    if (head(g) == tail(g)) return algebra.identity;
    const Mask label = sweeper.labels.back();
    return graph.order.back() == tail(g) ? label : algebra.converse(label);
  });
}

auto sweep(const Algebra& algebra, int entities, Indices first, Indices second, Masks masks, Indices order,
           Indices rank, int sweeps, std::int64_t most) {
  check_entities(first, entities);
  check_entities(second, entities);
  check_entities(order, entities);
  if (first.size() != second.size() || first.size() != masks.size() ||
      static_cast<int>(rank.size()) != entities || (order.size() && static_cast<int>(order.size()) != entities))
    throw std::invalid_argument("the arrays of a network differ in length");
  Chordal graph;
  std::vector<Mask> labels;
  std::vector<std::int32_t> from, to;
  std::int64_t triangles, refinements, conflict;
  int done = 0;
  {
    nb::gil_scoped_release release;
    graph = complete(entities, copied(first), copied(second), copied(order), copied(rank), most, interrupt);
    Sweeper sweeper(algebra, graph);
    bool open = !graph.order.empty() &&
                lay(algebra, graph, sweeper, first.data(), second.data(), masks.data(), masks.size());
    for (std::int64_t quiet = 0; open && quiet < 2 && (sweeps <= 0 || done < sweeps); ++done) {
      const std::int64_t before = sweeper.refinements;
      open = done % 2 == 0 ? sweeper.up(interrupt) : sweeper.down(interrupt);
      quiet = sweeper.refinements == before ? quiet + 1 : 0;
    }
    from.resize(graph.later.size());
    to.resize(graph.later.size());
    for (std::size_t v = 0; v < graph.order.size(); ++v)
      for (std::int64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        from[e] = graph.order[v];
        to[e] = graph.order[graph.later[e]];
      }
    labels = std::move(sweeper.labels);
    triangles = sweeper.triangles;
    refinements = sweeper.refinements;
    conflict = sweeper.conflict;
  }
  return std::make_tuple(to_numpy(std::move(graph.order)), to_numpy(std::move(from)), to_numpy(std::move(to)),
                         to_numpy(std::move(labels)), conflict, triangles, refinements, done);
}

// The edges are those of `sweep`: grouped by their first end, in the order of elimination, from early to late.
nb::ndarray<nb::numpy, Mask> spread_out(const Algebra& algebra, Indices order, Indices first, Indices second,
                                        Masks masks) {
  const std::size_t n = order.size();
  check_entities(order, static_cast<std::int64_t>(n));
  check_entities(first, static_cast<std::int64_t>(n));
  check_entities(second, static_cast<std::int64_t>(n));
  if (first.size() != second.size() || first.size() != masks.size())
    throw std::invalid_argument("the arrays of a network differ in length");
  std::vector<std::size_t> position(n, n);
  for (std::size_t p = 0; p < n; ++p) position[order(p)] = p;
  std::vector<std::int64_t> offsets(n + 1, 0);
  for (std::size_t e = 0, at = 0; e < first.size(); ++e) {
    const std::size_t p = position[first(e)];
    if (p < at || p == n || position[second(e)] <= p || position[second(e)] == n)
      throw std::invalid_argument("the edges do not follow the order");
    at = p;
    ++offsets[p + 1];
  }
  for (std::size_t p = 0; p < n; ++p) offsets[p + 1] += offsets[p];
  std::vector<Mask> pairs;
  {
    nb::gil_scoped_release release;
    pairs = spread(algebra, copied(order), offsets, second.data(), masks.data(), interrupt);
  }
  return to_numpy(std::move(pairs));
}

// -- message passing: addresses of arrays, whose sizes the caller vouches for --

Messages messages(int facets, int size, int relations, int graphs, int rounds, bool self_message, bool descending,
                  bool minimum, std::uintptr_t node_offset, std::uintptr_t offset, std::uintptr_t source,
                  std::uintptr_t label) {
  if (size < 1 || size > 256) throw std::invalid_argument("a facet holds 1 to 256 components");
  return Messages{facets,
                  size,
                  relations,
                  graphs,
                  rounds,
                  self_message,
                  descending,
                  minimum ? Pooling::min : Pooling::product,
                  at<const std::int32_t>(node_offset),
                  at<const std::int32_t>(offset),
                  at<const std::int32_t>(source),
                  at<const std::int32_t>(label)};
}

template <typename T>
void propagate_as(const Messages& m, std::uintptr_t matrices, std::uintptr_t states, std::uintptr_t chosen,
                  std::uintptr_t total, bool keep, int threads) {
  forward<T>(m, at<const T>(matrices), at<T>(states), at<std::int32_t>(chosen), at<T>(total), keep, threads);
}

template <typename T>
void propagate_back_as(const Messages& m, std::uintptr_t matrices, std::uintptr_t states, std::uintptr_t chosen,
                       std::uintptr_t total, std::uintptr_t grad, std::uintptr_t grad_matrices, int threads) {
  backward<T>(m, at<const T>(matrices), at<const T>(states), at<const std::int32_t>(chosen), at<const T>(total),
              at<T>(grad), at<T>(grad_matrices), threads);
}

Readout readout(int facets, int size, int graphs, bool minimum, std::uintptr_t head, std::uintptr_t tail,
                std::uintptr_t path_offset, std::uintptr_t path_node) {
  if (size < 1 || size > 256) throw std::invalid_argument("a facet holds 1 to 256 components");
  return Readout{facets,
                 size,
                 graphs,
                 minimum ? Pooling::min : Pooling::product,
                 at<const std::int32_t>(head),
                 at<const std::int32_t>(tail),
                 at<const std::int32_t>(path_offset),
                 at<const std::int32_t>(path_node)};
}

template <typename T>
void aggregate_as(const Readout& r, std::uintptr_t ahead, std::uintptr_t back, std::uintptr_t table,
                  std::uintptr_t result, std::uintptr_t chosen, std::uintptr_t total) {
  read_out<T>(r, at<const T>(ahead), at<const T>(back), at<const T>(table), at<T>(result), at<std::int32_t>(chosen),
              at<T>(total));
}

template <typename T>
void aggregate_back_as(const Readout& r, std::uintptr_t ahead, std::uintptr_t back, std::uintptr_t table,
                       std::uintptr_t result, std::uintptr_t chosen, std::uintptr_t total, std::uintptr_t grad,
                       std::uintptr_t grad_ahead, std::uintptr_t grad_back, std::uintptr_t grad_table) {
  read_back<T>(r, at<const T>(ahead), at<const T>(back), at<const T>(table), at<const T>(result),
               at<const std::int32_t>(chosen), at<const T>(total), at<const T>(grad), at<T>(grad_ahead),
               at<T>(grad_back), at<T>(grad_table));
}

void bind(nb::module_& m) {
  nb::set_leak_warnings(false);  // a graph of gradients may outlive the interpreter
  m.doc() = "Compiled kernels of epignn. Use the functions of epignn.calculus; these do not check much.";

  nb::class_<Algebra>(m, "Algebra")
      .def("__init__", [](Algebra* self, int identity, Indices converses, Table composition) {
        const int relations = static_cast<int>(converses.size());
        if (relations < 1 || relations > 64 || identity < 0 || identity >= relations ||
            static_cast<int>(composition.shape(0)) != relations || static_cast<int>(composition.shape(1)) != relations)
          throw std::invalid_argument("the tables of an algebra differ in size");
        check_entities(converses, relations);
        for (std::size_t c = 0; c < composition.size(); ++c)
          if (relations < 64 && composition.data()[c] >> relations)
            throw std::out_of_range("a composition holds a relation that is not there");
        new (self) Algebra(relations, identity, converses.data(), composition.data());
      });

  nb::class_<Closure>(m, "Closure")
      .def("__init__",
           [](Closure* self, const Algebra& algebra, int entities) {
             new (self) Closure(algebra, std::make_shared<Plans>(algebra), entities);
           },
           nb::keep_alive<1, 2>())
      .def("refine", &refine_all, nb::arg("heads"), nb::arg("tails"), nb::arg("masks"))
      .def("close", [](Closure& self) { return self.close(interrupt); }, nb::call_guard<nb::gil_scoped_release>())
      .def("label", [](const Closure& self, int i, int j) {
        if (std::min(i, j) < 0 || std::max(i, j) >= self.entities()) throw std::out_of_range("no such entity");
        return self.label(i, j);
      })
      .def("copy", [](const Closure& self) { return Closure(self); }, nb::keep_alive<0, 1>())
      .def("grown", [](const Closure& self, int entities) {
        if (entities < self.entities()) throw std::invalid_argument("a network does not shrink");
        return self.grown(entities);
      }, nb::keep_alive<0, 1>())
      .def("matrix", &matrix)
      .def("triangle", &triangle)
      .def_prop_ro("steps", [](const Closure& self) { return self.statistics.steps; })
      .def_prop_ro("refinements", [](const Closure& self) { return self.statistics.refinements; })
      .def_prop_ro("conflict", [](const Closure& self) {
        return std::make_tuple(self.conflict[0], self.conflict[1]);
      });

  nb::class_<Revision>(m, "Revision")
      .def("__init__",
           [](Revision* self, const Algebra& algebra, int entities, Mask start) {
             new (self) Revision(algebra, entities, start);
           },
           nb::keep_alive<1, 2>())
      .def("grow", [](Revision& self, int entities) {
        if (entities < self.entities()) throw std::invalid_argument("a network does not shrink");
        self.grow(entities);
      })
      .def("copy", [](const Revision& self) { return Revision(self); }, nb::keep_alive<0, 1>())
      .def("add", [](Revision& self, int i, int j, Mask mask) {
        check_pair(self, i, j);
        nb::gil_scoped_release release;
        return self.add(i, j, mask, interrupt);
      })
      .def("remove", [](Revision& self, std::int64_t fact) {
        if (fact < 0 || fact >= self.facts()) throw std::out_of_range("no such fact");
        nb::gil_scoped_release release;
        return self.remove(fact, interrupt);
      })
      .def("label", [](const Revision& self, int i, int j) {
        check_pair(self, i, j);
        return self.label(i, j);
      })
      .def("reasons", [](const Revision& self, int i, int j) {
        check_pair(self, i, j);
        return to_numpy(self.reasons(i, j));
      })
      .def("labels", [](const Revision& self) { return to_numpy(self.labels()); })
      .def_prop_ro("trail", &Revision::trail)
      .def_prop_ro("refinements", [](const Revision& self) { return self.refinements; })
      .def_prop_ro("conflict", [](const Revision& self) {
        return std::make_tuple(self.conflict[0], self.conflict[1]);
      });

  m.def("solve",
        [](Closure& closure, Masks tractable, std::int64_t max_nodes) {
          nb::gil_scoped_release release;
          Search search({tractable.data(), tractable.data() + tractable.size()}, closure.algebra().universal,
                        max_nodes, interrupt);
          const Answer answer = search.solve(closure);
          return std::make_tuple(static_cast<int>(answer), search.nodes);
        },
        nb::arg("closure"), nb::arg("tractable"), nb::arg("max_nodes"));
  nb::class_<Messages>(m, "Messages");
  m.def("messages", &messages);
  m.def("propagate_float", &propagate_as<float>, nb::call_guard<nb::gil_scoped_release>());
  m.def("propagate_double", &propagate_as<double>, nb::call_guard<nb::gil_scoped_release>());
  m.def("propagate_back_float", &propagate_back_as<float>, nb::call_guard<nb::gil_scoped_release>());
  m.def("propagate_back_double", &propagate_back_as<double>, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Readout>(m, "Readout");
  m.def("readout", &readout);
  m.def("aggregate_float", &aggregate_as<float>, nb::call_guard<nb::gil_scoped_release>());
  m.def("aggregate_double", &aggregate_as<double>, nb::call_guard<nb::gil_scoped_release>());
  m.def("aggregate_back_float", &aggregate_back_as<float>, nb::call_guard<nb::gil_scoped_release>());
  m.def("aggregate_back_double", &aggregate_back_as<double>, nb::call_guard<nb::gil_scoped_release>());
  m.def("close_many", &close_many);
  m.def("eliminate_many", &eliminate_many);
  m.def("sweep", &sweep);
  m.def("spread", &spread_out);
  bind_bodies(m);
  bind_heads(m);
  bind_joining(m);
  bind_step(m);
  bind_text(m);
}

}  // namespace

// Python asks a module for the function of its file's name; one and the same object file serves all modules.
NB_MODULE(_native_baseline, m) { bind(m); }
NB_MODULE(_native_v3, m) { bind(m); }
NB_MODULE(_native_v4, m) { bind(m); }
