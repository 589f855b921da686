#include "text.hpp"

#include <algorithm>
#include <cstring>

namespace epignn {
namespace {

constexpr std::size_t MAX_DIGITS = 9;
constexpr std::size_t SHORT = 16;

// Python's white space within ASCII.
bool space(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }

// Whether Python takes something outside ASCII for white space.
bool has_wide_space(std::string_view text) {
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    const auto byte = [&](std::size_t k) {
      return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : static_cast<unsigned char>(0);
    };
    const unsigned char a = byte(0);
    if (a < 0xC2) continue;
    const unsigned char b = byte(1), c = byte(2);
    if (a == 0xC2 && (b == 0x85 || b == 0xA0)) return true;
    if (a == 0xE1 && b == 0x9A && c == 0x80) return true;
    if (a == 0xE2 && b == 0x80 && (c <= 0x8A || c == 0xA8 || c == 0xA9 || c == 0xAF)) return true;
    if (a == 0xE2 && b == 0x81 && c == 0x9F) return true;
    if (a == 0xE3 && b == 0x80 && c == 0x80) return true;
  }
  return false;
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::uint64_t hash(std::string_view name) {
  std::uint64_t h = name.size() * 0x9E3779B97F4A7C15ull;
  const auto mix = [&](std::uint64_t word) {
    h = (h ^ word) * 0xD6E8FEB86659FD93ull;
    h ^= h >> 32;
  };
  while (name.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, name.data(), 8);
    mix(word);
    name.remove_prefix(8);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, name.data(), name.size());
  mix(word);
  return h ^ h >> 29;
}

// A place in a text; every step says whether what it expects is there.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }
  std::int64_t place() const { return static_cast<std::int64_t>(at_); }
  unsigned char now() const { return done() ? 0 : static_cast<unsigned char>(text_[at_]); }

  // White space and comments; with `separators`, also what may stand between facts.
  void skip(bool separators) {
    while (!done()) {
      const unsigned char c = now();
      if (c == '#' || c == '%') {
        const std::size_t end = text_.find('\n', at_);
        at_ = end == text_.npos ? text_.size() : end;
      } else if (space(c) || (separators && (c == '.' || c == ',' || c == ';'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool take(char wanted) {
    if (done() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  // Text up to one of some characters, a comment or the end of the line.
  bool until(const bool (&ends)[256], std::string_view& out) {
    const std::size_t begin = at_;
    while (!done() && !ends[now()]) ++at_;
    out = stripped(text_.substr(begin, at_ - begin));
    return !out.empty();
  }

  bool quoted(std::string_view& out) {
    const std::size_t begin = at_ + 1;
    at_ = begin;
    while (!done() && now() != '"' && now() != '\n') ++at_;
    out = text_.substr(begin, at_ - begin);
    return take('"');
  }

  bool node(std::int64_t below, std::int32_t& out) {
    while (now() == '0' && at_ + 1 < text_.size() && text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9') ++at_;
    std::int64_t value = 0;
    const std::size_t begin = at_;
    for (; now() >= '0' && now() <= '9'; ++at_) {
      if (at_ - begin >= MAX_DIGITS) return false;
      value = value * 10 + (now() - '0');
    }
    out = static_cast<std::int32_t>(value);
    return at_ > begin && value < below;
  }

  void blanks() {
    while (!done() && now() != '\n' && space(now())) ++at_;
  }

  std::string_view line() {
    const std::size_t begin = at_, end = text_.find('\n', at_);
    at_ = end == text_.npos ? text_.size() : end + 1;
    return text_.substr(begin, (end == text_.npos ? text_.size() : end) - begin);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

struct Ends {
  bool of_relations[256] = {}, of_entity[256] = {}, of_set[256] = {};
  Ends() {
    for (const char* c = ".,;()\"\n#%"; *c; ++c) of_relations[static_cast<unsigned char>(*c)] = true;
    for (const char* c = ",()|\"\n#%"; *c; ++c) of_entity[static_cast<unsigned char>(*c)] = true;
    for (const char* c = "()\n"; *c; ++c) of_set[static_cast<unsigned char>(*c)] = true;
  }
};
const Ends ENDS;

bool entity(Cursor& at, Facts& out, std::int32_t& number) {
  std::string_view name;
  if (at.now() == '"' ? !at.quoted(name) : !at.until(ENDS.of_entity, name)) return false;
  number = out.entities.number(name);
  return true;
}

bool fact(Cursor& at, Facts& out) {
  std::string_view words;
  std::int32_t head, tail;
  const std::int64_t place = at.place();
  if (!at.until(ENDS.of_relations, words)) return false;
  at.skip(false);
  if (!at.take('(')) return false;
  at.skip(false);
  if (!entity(at, out, head)) return false;
  at.skip(false);
  if (!at.take(',')) return false;
  at.skip(false);
  if (!entity(at, out, tail)) return false;
  at.skip(false);
  if (!at.take(')')) return false;
  out.add(head, words, tail, place);
  return true;
}

// A cell of a table as Python's csv module reads it; a quoted one that goes on in another line is left to the twin.
bool cell(std::string_view line, char delimiter, std::size_t& at, std::deque<std::string>& unquoted,
          std::string_view& out) {
  const std::size_t begin = at;
  if (at >= line.size() || line[at] != '"') {
    at = std::min(line.find(delimiter, at), line.size());
    out = stripped(line.substr(begin, at - begin));
    return true;
  }
  bool doubled = false;
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') continue;
    if (at + 1 >= line.size() || line[at + 1] != '"') break;
    doubled = true;
    ++at;
  }
  if (at >= line.size()) return false;
  out = line.substr(begin + 1, at - begin - 1);
  ++at;
  if (doubled) {
    std::string& plain = unquoted.emplace_back();
    for (std::size_t k = 0; k < out.size(); ++k) {
      plain.push_back(out[k]);
      k += out[k] == '"';
    }
    out = plain;
  }
  out = stripped(out);
  return at == line.size() || line[at] == delimiter;
}

bool row(std::string_view line, std::int64_t place, const Layout& layout, Facts& out) {
  const std::size_t last = std::max({layout.head, layout.set, layout.tail});
  std::string_view found[3], one;
  std::size_t column = 0;
  for (std::size_t at = 0;; ++at, ++column) {
    if (!cell(line, layout.delimiter, at, out.unquoted, one)) return false;
    if (column == layout.head) found[0] = one;
    if (column == layout.set) found[1] = one;
    if (column == layout.tail) found[2] = one;
    if (at >= line.size()) break;
  }
  if (column < last) return false;
  const std::int32_t head = out.entities.number(found[0]), tail = out.entities.number(found[2]);
  out.add(head, found[1], tail, place);
  return true;
}

// The header of a network: its highest node and, after '#', its name.
bool header(std::string_view line, std::int64_t most_nodes, Numbered& out) {
  Cursor at(line);
  std::int32_t highest;
  if (!at.node(most_nodes, highest)) return false;
  at.blanks();
  out.nodes = highest + std::int64_t{1};
  if (at.done()) return true;
  out.title = stripped(line.substr(static_cast<std::size_t>(at.place()) + 1));
  return at.now() == '#';
}

bool constraint(Cursor& at, const Numbered& network, Constraints& out) {
  std::int32_t head, tail;
  if (!at.node(network.nodes, head) || !space(at.now())) return false;
  at.blanks();
  if (!at.node(network.nodes, tail)) return false;
  at.blanks();
  if (!at.take('(')) return false;
  at.blanks();
  std::string_view words;
  const std::int64_t place = at.place();
  at.until(ENDS.of_set, words);
  if (!at.take(')')) return false;
  at.blanks();
  if (!at.done() && !at.take('\n')) return false;
  out.add(head, words, tail, place);
  return true;
}

// Which triples there were: open addressing over their numbers.
class Seen {
 public:
  explicit Seen(const Triples& all) : all_(all), slots_(1 << 10) {}

  // Whether the last triple is new.
  bool add() {
    if (2 * all_.heads.size() > slots_.size()) {
      slots_.assign(2 * slots_.size(), {});
      for (std::size_t f = 0; f + 1 < all_.heads.size(); ++f) put(static_cast<std::int32_t>(f));
    }
    return put(static_cast<std::int32_t>(all_.heads.size() - 1));
  }

 private:
  bool put(std::int32_t f) {
    std::uint64_t h = static_cast<std::uint32_t>(all_.heads[f]) * 0x9E3779B97F4A7C15ull;
    h = (h ^ h >> 31 ^ static_cast<std::uint32_t>(all_.tails[f])) * 0xD6E8FEB86659FD93ull;
    h = (h ^ h >> 32 ^ static_cast<std::uint32_t>(all_.sets[f])) * 0x9E3779B97F4A7C15ull;
    const auto half = static_cast<std::uint32_t>(h >> 32);
    for (std::size_t s = (h ^ h >> 32) & (slots_.size() - 1);; s = (s + 1) & (slots_.size() - 1)) {
      const std::int32_t other = slots_[s].triple;
      if (other < 0) {
        slots_[s] = {half, f};
        return true;
      }
      if (slots_[s].hash == half && all_.heads[other] == all_.heads[f] && all_.sets[other] == all_.sets[f] &&
          all_.tails[other] == all_.tails[f])
        return false;
    }
  }

  // Half of the hash stands beside the number, so that a wrong slot costs no look at the triple.
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t triple = -1;
  };
  const Triples& all_;
  std::vector<Slot> slots_;
};

// The three columns of a line, split at tabs if it has any, and otherwise at white space.
bool columns(std::string_view line, std::string_view (&out)[3]) {
  const bool tabs = line.find('\t') != line.npos;
  if (!tabs) line = stripped(line);
  for (int c = 0; c < 3; ++c) {
    std::size_t end = 0;
    while (end < line.size() && (tabs ? line[end] != '\t' : !space(line[end]))) ++end;
    out[c] = stripped(line.substr(0, end));
    if (out[c].empty() || (end == line.size()) != (c == 2)) return false;
    if (c < 2) line.remove_prefix(end + 1);
    if (!tabs) line = stripped(line);
  }
  return true;
}

}  // namespace

std::size_t Names::Slot::place() const {
  std::uint64_t h = (low ^ size * 0x9E3779B97F4A7C15ull) * 0xD6E8FEB86659FD93ull;
  h = (h ^ h >> 32 ^ high) * 0x9E3779B97F4A7C15ull;
  return static_cast<std::size_t>(h ^ h >> 29);
}

std::int32_t Names::number(std::string_view name) {
  Slot wanted;
  wanted.size = name.size();
  if (name.size() > SHORT) {
    wanted.low = hash(name);
    std::memcpy(&wanted.high, name.data(), 8);
  } else {
    std::memcpy(&wanted.low, name.data(), std::min<std::size_t>(name.size(), 8));
    if (name.size() > 8) std::memcpy(&wanted.high, name.data() + 8, name.size() - 8);
  }
  std::size_t s = wanted.place() & (slots_.size() - 1);
  for (; slots_[s].number >= 0; s = (s + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[s];
    if (slot.low == wanted.low && slot.high == wanted.high && slot.size == wanted.size &&
        (name.size() <= SHORT || all_[static_cast<std::size_t>(slot.number)] == name))
      return static_cast<std::int32_t>(slot.number);
  }
  wanted.number = static_cast<std::int64_t>(all_.size());
  slots_[s] = wanted;
  all_.push_back(name);
  if (2 * all_.size() > slots_.size()) grow();
  return static_cast<std::int32_t>(wanted.number);
}

void Names::grow() {
  std::vector<Slot> before(2 * slots_.size());
  before.swap(slots_);
  for (const Slot& slot : before) {
    if (slot.number < 0) continue;
    std::size_t s = slot.place() & (slots_.size() - 1);
    while (slots_[s].number >= 0) s = (s + 1) & (slots_.size() - 1);
    slots_[s] = slot;
  }
}

void Rows::add(std::int32_t head, std::string_view set, std::int32_t tail, std::int64_t place) {
  heads.push_back(head);
  sets.push_back(written.number(set));
  tails.push_back(tail);
  places.push_back(place);
}

bool read_facts(std::string_view text, Facts& out) {
  if (has_wide_space(text)) return false;
  Cursor at(text);
  for (at.skip(true); !at.done(); at.skip(true))
    if (!fact(at, out)) return false;
  return true;
}

bool read_table(std::string_view text, const Layout& layout, Facts& out) {
  if (has_wide_space(text) || text.find('\0') != text.npos) return false;
  Cursor at(text);
  while (at.place() < static_cast<std::int64_t>(layout.begin)) at.line();
  while (!at.done()) {
    const std::int64_t place = at.place();
    std::string_view line = at.line();
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find('\r') != line.npos) return false;
    if (!line.empty() && !row(line, place, layout, out)) return false;
  }
  return true;
}

bool read_constraints(std::string_view text, std::int64_t most_nodes, Constraints& out) {
  if (has_wide_space(text)) return false;
  Cursor at(text);
  bool open = false;
  std::int64_t nodes = 0;
  while (!at.done()) {
    at.blanks();
    if (at.done() || at.take('\n')) continue;
    const auto rows = static_cast<std::int64_t>(out.heads.size());
    if (!open) {
      out.networks.push_back({0, {}, rows, rows});
      if (!header(stripped(at.line()), most_nodes, out.networks.back())) return false;
      if ((nodes += out.networks.back().nodes) > most_nodes) return false;
      open = true;
    } else if (at.now() == '.') {
      if (stripped(at.line()) != ".") return false;
      out.networks.back().end = rows;
      open = false;
    } else if (!constraint(at, out.networks.back(), out)) {
      return false;
    }
  }
  return !open;
}

bool read_triples(std::string_view text, Triples& out) {
  if (has_wide_space(text)) return false;
  Seen seen(out);
  Cursor at(text);
  for (std::int32_t number = 1; !at.done(); ++number) {
    const std::string_view line = at.line();
    if (stripped(line).empty()) {
      ++out.blank;
      continue;
    }
    std::string_view cells[3];
    if (!columns(line, cells)) return false;
    out.heads.push_back(out.entities.number(cells[0]));
    out.sets.push_back(out.relations.number(cells[1]));
    out.tails.push_back(out.entities.number(cells[2]));
    if (seen.add()) {
      out.lines.push_back(number);
    } else {
      ++out.repeated;
      out.heads.pop_back();
      out.sets.pop_back();
      out.tails.pop_back();
    }
  }
  return true;
}

Table::Table(std::size_t rows, const std::vector<Column>& columns, const std::vector<std::string_view>& between)
    : rows_(rows) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    Joined joined{columns[c].which, {}, {0}};
    for (std::string_view piece : *columns[c].pieces) {
      joined.text.append(between[c]).append(piece);
      if (c + 1 == columns.size()) joined.text.append(between[c + 1]);
      joined.ends.push_back(joined.text.size());
    }
    joined.text.append(SHORT, '\0');
    for (std::size_t r = 0; r < rows; ++r) {
      const auto piece = static_cast<std::size_t>(joined.which[r]);
      size_ += joined.ends[piece + 1] - joined.ends[piece];
    }
    columns_.push_back(std::move(joined));
  }
}

void Table::write(char* at) const {
  const char* const end = at + size_;
  for (std::size_t r = 0; r < rows_; ++r) {
    for (const Joined& column : columns_) {
      const auto piece = static_cast<std::size_t>(column.which[r]);
      const std::size_t begin = column.ends[piece], length = column.ends[piece + 1] - begin;
      // A copy of fixed length is one instruction; what it writes too much is written over by the next piece.
      if (length <= SHORT && end - at >= static_cast<std::ptrdiff_t>(SHORT)) {
        std::memcpy(at, column.text.data() + begin, SHORT);
      } else {
        std::memcpy(at, column.text.data() + begin, length);
      }
      at += length;
    }
  }
}

}  // namespace epignn
