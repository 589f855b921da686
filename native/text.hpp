// Text of facts, tables, constraints and triples to numbers and back: names become numbers in the order of their first use.
//
// The readers take exactly the grammar of their plain twins in src/epignn/formats. Where a text leaves it, or has
// white space outside ASCII, they stop; the twin then reads the text and says what is wrong.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace epignn {

// Pieces of a text, numbered in the order in which they are first asked for.
class Names {
 public:
  Names() : slots_(1 << 10) {}
  std::int32_t number(std::string_view name);
  const std::vector<std::string_view>& all() const { return all_; }

 private:
  // A short name stands in its slot whole, a long one by its hash and its beginning, so that few looks go elsewhere.
  struct Slot {
    std::uint64_t low = 0, high = 0;
    std::uint64_t size = 0;
    std::int64_t number = -1;
    std::size_t place() const;
  };
  void grow();

  std::vector<std::string_view> all_;
  std::vector<Slot> slots_;
};

// Facts, with the places of their relation sets in the text.
struct Rows {
  std::vector<std::int32_t> heads, sets, tails;
  std::vector<std::int64_t> places;
  Names written;
  void add(std::int32_t head, std::string_view set, std::int32_t tail, std::int64_t place);
};

struct Facts : Rows {
  Names entities;
  std::deque<std::string> unquoted;  // cells with doubled quotes, which stand in no text as they are meant
};

// How a table has its facts: what separates cells, where rows begin, and which columns are head, relations and tail.
struct Layout {
  char delimiter;
  std::size_t begin;
  std::size_t head, set, tail;
};

// A network of numbered nodes 0 to nodes - 1; its constraints are rows begin to end of all rows.
struct Numbered {
  std::int64_t nodes;
  std::string_view title;
  std::int64_t begin, end;
};

struct Constraints : Rows {
  std::vector<Numbered> networks;
};

struct Triples {
  std::vector<std::int32_t> heads, sets, tails;
  Names entities, relations;
  std::vector<std::int32_t> lines;
  std::int64_t blank = 0, repeated = 0;
};

// Each returns whether it has read the whole text.
bool read_facts(std::string_view text, Facts& out);
bool read_table(std::string_view text, const Layout& layout, Facts& out);
bool read_constraints(std::string_view text, std::int64_t most_nodes, Constraints& out);
bool read_triples(std::string_view text, Triples& out);

// A column of a table: a piece of text for each row.
struct Column {
  const std::int32_t* which;
  const std::vector<std::string_view>* pieces;
};

// Rows of text: between[0], a piece of the first column, between[1], and so on to the last of `between`.
class Table {
 public:
  Table(std::size_t rows, const std::vector<Column>& columns, const std::vector<std::string_view>& between);
  std::size_t size() const { return size_; }
  void write(char* out) const;

 private:
  // Pieces with what stands before them, and after the last, one behind the other.
  struct Joined {
    const std::int32_t* which;
    std::string text;
    std::vector<std::size_t> ends;
  };
  std::size_t rows_, size_ = 0;
  std::vector<Joined> columns_;
};

}  // namespace epignn
