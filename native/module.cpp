// The Python face of the kernels: arrays in, arrays out. Each function has a plain twin in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "closure.hpp"
#include "search.hpp"
#include "sparse.hpp"

namespace nb = nanobind;
using namespace epignn;

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

std::vector<std::int32_t> copied(const Indices& values) {
  return std::vector<std::int32_t>(values.data(), values.data() + values.size());
}

void check_entities(const Indices& values, std::int64_t entities) {
  for (std::size_t e = 0; e < values.size(); ++e)
    if (values(e) < 0 || values(e) >= entities) throw std::out_of_range("an entity is out of range");
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
    const Chordal graph = complete(sizes(g), first, second, {}, rank);
    Sweeper sweeper(algebra, graph);
    if (!lay(algebra, graph, sweeper, source.data() + begin, target.data() + begin, masks.data() + begin, end - begin))
      return 0;
    if (!sweeper.up([] {})) return 0;
    if (head(g) == tail(g)) return algebra.identity;
    const Mask label = sweeper.labels.back();
    return graph.order.back() == tail(g) ? label : algebra.converse(label);
  });
}

auto sweep(const Algebra& algebra, int entities, Indices first, Indices second, Masks masks, Indices order,
           Indices rank, int sweeps) {
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
    graph = complete(entities, copied(first), copied(second), copied(order), copied(rank));
    Sweeper sweeper(algebra, graph);
    bool open = lay(algebra, graph, sweeper, first.data(), second.data(), masks.data(), masks.size());
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

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "Compiled kernels of epignn. Use the functions of epignn.calculus; these do not check much.";

  nb::class_<Algebra>(m, "Algebra")
      .def("__init__", [](Algebra* self, int identity, Indices converses, Table composition) {
        const int relations = static_cast<int>(converses.size());
        if (relations < 1 || relations > 64 || identity < 0 || identity >= relations ||
            static_cast<int>(composition.shape(0)) != relations || static_cast<int>(composition.shape(1)) != relations)
          throw std::invalid_argument("the tables of an algebra differ in size");
        check_entities(converses, relations);
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
      .def_prop_ro("steps", [](const Closure& self) { return self.statistics.steps; })
      .def_prop_ro("refinements", [](const Closure& self) { return self.statistics.refinements; })
      .def_prop_ro("conflict", [](const Closure& self) {
        return std::make_tuple(self.conflict[0], self.conflict[1]);
      });

  m.def("solve",
        [](Closure& closure, Masks tractable, std::int64_t max_nodes) {
          nb::gil_scoped_release release;
          Search search({tractable.data(), tractable.data() + tractable.size()}, max_nodes, interrupt);
          const Answer answer = search.solve(closure);
          return std::make_tuple(static_cast<int>(answer), search.nodes);
        },
        nb::arg("closure"), nb::arg("tractable"), nb::arg("max_nodes"));
  m.def("close_many", &close_many);
  m.def("eliminate_many", &eliminate_many);
  m.def("sweep", &sweep);
}
