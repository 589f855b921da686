// The Python face of text.hpp: bytes to arrays of numbers and lists of names, and back.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <utility>

#include "text.hpp"

namespace nb = nanobind;

namespace epignn {
namespace {

using Which = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
nb::ndarray<nb::numpy, T> array(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner);
}

std::string_view view(const nb::bytes& data) { return {data.c_str(), data.size()}; }

nb::list names(const std::vector<std::string_view>& pieces) {
  nb::list result;
  for (std::string_view piece : pieces) result.append(nb::str(piece.data(), piece.size()));
  return result;
}

template <typename T, typename Read>
bool whole(const nb::bytes& data, T& out, Read read) {
  const std::string_view text = view(data);
  nb::gil_scoped_release release;
  return read(text, out);
}

nb::object made(Facts& found) {
  return nb::make_tuple(array(std::move(found.heads)), array(std::move(found.sets)), array(std::move(found.tails)),
                        array(std::move(found.places)), names(found.written.all()),
                        names(found.entities.all()));
}

nb::object facts(const nb::bytes& data) {
  Facts found;
  return whole(data, found, read_facts) ? made(found) : nb::none();
}

nb::object table(const nb::bytes& data, const std::string& delimiter, std::size_t begin, std::size_t head,
                 std::size_t set, std::size_t tail) {
  if (delimiter.size() != 1) throw std::invalid_argument("one character separates the cells of a table");
  const Layout layout{delimiter[0], begin, head, set, tail};
  Facts found;
  const auto read = [&layout](std::string_view text, Facts& out) { return read_table(text, layout, out); };
  return whole(data, found, read) ? made(found) : nb::none();
}

nb::object constraints(const nb::bytes& data, std::int64_t most_nodes) {
  Constraints found;
  const auto read = [most_nodes](std::string_view text, Constraints& out) {
    return read_constraints(text, most_nodes, out);
  };
  if (!whole(data, found, read)) return nb::none();
  nb::list networks;
  for (const Numbered& one : found.networks)
    networks.append(nb::make_tuple(one.nodes, nb::str(one.title.data(), one.title.size()), one.begin, one.end));
  return nb::make_tuple(array(std::move(found.heads)), array(std::move(found.sets)), array(std::move(found.tails)),
                        array(std::move(found.places)), names(found.written.all()), networks);
}

nb::object triples(const nb::bytes& data) {
  Triples found;
  if (!whole(data, found, read_triples)) return nb::none();
  return nb::make_tuple(array(std::move(found.heads)), array(std::move(found.sets)), array(std::move(found.tails)),
                        names(found.entities.all()), names(found.relations.all()), array(std::move(found.lines)),
                        found.blank, found.repeated);
}

nb::bytes rows(const nb::list& columns, const nb::list& pieces, const nb::list& between) {
  if (columns.size() == 0 || pieces.size() != columns.size() || between.size() != columns.size() + 1)
    throw std::invalid_argument("a table needs its columns, their pieces, and one text more between them");
  std::vector<Which> which;
  std::vector<std::vector<std::string_view>> tables(columns.size());
  std::vector<std::string_view> texts;
  for (nb::handle text : between) texts.push_back(view(nb::cast<nb::bytes>(text)));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    which.push_back(nb::cast<Which>(columns[c]));
    for (nb::handle piece : nb::cast<nb::list>(pieces[c])) tables[c].push_back(view(nb::borrow<nb::bytes>(piece)));
    if (which[c].size() != which[0].size()) throw std::invalid_argument("the columns differ in length");
    for (std::size_t r = 0; r < which[c].size(); ++r)
      if (which[c](r) < 0 || static_cast<std::size_t>(which[c](r)) >= tables[c].size())
        throw std::out_of_range("a cell has no piece of text");
  }
  std::vector<Column> laid;
  for (std::size_t c = 0; c < which.size(); ++c) laid.push_back({which[c].data(), &tables[c]});
  const Table table(which[0].size(), laid, texts);
  nb::bytes out = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(table.size())));
  if (!out.is_valid()) nb::raise_python_error();
  char* const begin = PyBytes_AS_STRING(out.ptr());
  {
    nb::gil_scoped_release release;
    table.write(begin);
  }
  return out;
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def("read_facts", &facts, nb::arg("data"));
  m.def("read_table", &table, nb::arg("data"), nb::arg("delimiter"), nb::arg("begin"), nb::arg("head"),
        nb::arg("set"), nb::arg("tail"));
  m.def("read_constraints", &constraints, nb::arg("data"), nb::arg("most_nodes"));
  m.def("read_triples", &triples, nb::arg("data"));
  m.def("write_rows", &rows, nb::arg("columns"), nb::arg("pieces"), nb::arg("between"));
}

}  // namespace epignn
