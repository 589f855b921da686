#include "sparse.hpp"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

namespace epignn {
namespace {

// Entities wait by (rank, number of neighbours, number); stale entries are passed over.
class Waiting {
 public:
  Waiting(const std::vector<std::vector<std::int32_t>>& neighbours, const std::vector<std::int32_t>& rank)
      : neighbours_(neighbours), rank_(rank) {
    for (std::size_t v = 0; v < neighbours.size(); ++v) push(static_cast<std::int32_t>(v));
  }
  void push(std::int32_t v) { heap_.push({rank_[v], static_cast<std::int32_t>(neighbours_[v].size()), v}); }
  std::int32_t pop(const std::vector<std::int32_t>& position) {
    for (;;) {
      const Entry top = heap_.top();
      heap_.pop();
      if (position[top.entity] < 0 && top.degree == static_cast<std::int32_t>(neighbours_[top.entity].size()))
        return top.entity;
    }
  }

 private:
  struct Entry {
    std::int32_t rank, degree, entity;
    bool operator<(const Entry& other) const {
      if (rank != other.rank) return rank > other.rank;
      if (degree != other.degree) return degree > other.degree;
      return entity > other.entity;
    }
  };
  const std::vector<std::vector<std::int32_t>>& neighbours_;
  const std::vector<std::int32_t>& rank_;
  std::priority_queue<Entry> heap_;
};

// Calls an interrupt whenever enough work was done.
class Pause {
 public:
  explicit Pause(const Interrupt& interrupt) : interrupt_(interrupt) {}
  void after(std::int64_t work) {
    if ((done_ += work) < 1000000) return;
    done_ = 0;
    interrupt_();
  }

 private:
  const Interrupt& interrupt_;
  std::int64_t done_ = 0;
};

}  // namespace

Chordal complete(int entities, const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second,
                 const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& rank, std::int64_t most,
                 const Interrupt& interrupt) {
  std::vector<std::vector<std::int32_t>> neighbours(entities);
  for (std::size_t e = 0; e < first.size(); ++e) {
    neighbours[first[e]].push_back(second[e]);
    neighbours[second[e]].push_back(first[e]);
  }
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  Waiting waiting(neighbours, rank);
  std::vector<std::int32_t> position(entities, -1), merged;
  std::vector<std::vector<std::int32_t>> later(entities);
  Chordal graph;
  graph.order.reserve(entities);
  Pause pause(interrupt);
  std::int64_t edges = 0;
  for (int p = 0; p < entities; ++p) {
    const std::int32_t v = order.empty() ? waiting.pop(position) : order[p];
    position[v] = p;
    graph.order.push_back(v);
    later[p] = std::move(neighbours[v]);
    if ((edges += static_cast<std::int64_t>(later[p].size())) > most) return Chordal{};
    pause.after(static_cast<std::int64_t>(later[p].size()) * static_cast<std::int64_t>(later[p].size()));
    for (std::int32_t u : later[p]) {  // the neighbours of an eliminated entity become a clique
      auto& list = neighbours[u];
      merged.clear();
      std::set_union(list.begin(), list.end(), later[p].begin(), later[p].end(), std::back_inserter(merged));
      merged.erase(std::remove_if(merged.begin(), merged.end(), [&](std::int32_t x) { return x == u || x == v; }),
                   merged.end());
      if (merged.size() != list.size() && order.empty()) {
        list.assign(merged.begin(), merged.end());
        waiting.push(u);
      } else {
        list.assign(merged.begin(), merged.end());
      }
    }
  }
  graph.offsets.assign(1, 0);
  for (auto& list : later) {
    for (auto& u : list) u = position[u];
    std::sort(list.begin(), list.end());
    graph.later.insert(graph.later.end(), list.begin(), list.end());
    graph.offsets.push_back(static_cast<std::int64_t>(graph.later.size()));
    std::vector<std::int32_t>().swap(list);
  }
  return graph;
}

Sweeper::Sweeper(const Algebra& algebra, const Chordal& graph)
    : labels(graph.later.size(), algebra.universal), algebra_(algebra), graph_(graph) {}

std::int64_t Sweeper::find(std::int32_t from, std::int32_t to) const {
  const auto begin = graph_.later.begin() + graph_.offsets[from], end = graph_.later.begin() + graph_.offsets[from + 1];
  const auto at = std::lower_bound(begin, end, to);
  return at != end && *at == to ? at - graph_.later.begin() : -1;
}

bool Sweeper::refine(std::int64_t edge, Mask mask) {
  const Mask now = labels[edge] & mask;
  if (now == labels[edge]) return true;
  labels[edge] = now;
  ++refinements;
  if (!now) conflict = edge;
  return now != 0;
}

bool Sweeper::up(const Interrupt& interrupt) {
  const int vertices = static_cast<int>(graph_.order.size());
  Pause pause(interrupt);
  for (int v = 0; v < vertices; ++v) {
    const std::int64_t begin = graph_.offsets[v], end = graph_.offsets[v + 1];
    for (std::int64_t a = begin; a < end; ++a) {
      if (labels[a] == algebra_.universal) continue;
      const Mask back = algebra_.converse(labels[a]);
      std::int64_t edge = graph_.offsets[graph_.later[a]];
      for (std::int64_t b = a + 1; b < end; ++b) {
        while (graph_.later[edge] != graph_.later[b]) ++edge;
        if (labels[b] != algebra_.universal && !refine(edge, algebra_.compose(back, labels[b]))) return false;
      }
      triangles += end - a - 1;
      pause.after(end - a);
    }
  }
  return true;
}

bool Sweeper::down(const Interrupt& interrupt) {
  Pause pause(interrupt);
  for (int v = static_cast<int>(graph_.order.size()) - 1; v >= 0; --v) {
    const std::int64_t begin = graph_.offsets[v], end = graph_.offsets[v + 1];
    for (std::int64_t a = begin; a < end; ++a) {
      std::int64_t edge = graph_.offsets[graph_.later[a]];
      for (std::int64_t b = a + 1; b < end; ++b) {
        while (graph_.later[edge] != graph_.later[b]) ++edge;
        const Mask across = labels[edge];
        if (across == algebra_.universal) continue;
        if (!refine(a, algebra_.compose(labels[b], algebra_.converse(across)))) return false;
        if (!refine(b, algebra_.compose(labels[a], across))) return false;
      }
      triangles += end - a - 1;
      pause.after(end - a);
    }
  }
  return true;
}

namespace {

// A function of sets that is that of their parts, by tables of bytes.
template <typename Set>
class ByBytes {
 public:
  template <typename Function>
  ByBytes(const Algebra& algebra, Function function) {
    for (std::size_t byte = 0; byte < sizeof(Set); ++byte)
      for (Mask bits = 0; bits < 256; ++bits)
        table_[byte][bits] = static_cast<Set>(function((bits << (8 * byte)) & algebra.universal));
  }
  Set operator()(Set set) const {
    Set result = table_[0][set & 255];
    for (std::size_t byte = 1; byte < sizeof(Set); ++byte) result |= table_[byte][set >> (8 * byte) & 255];
    return result;
  }

 private:
  Set table_[sizeof(Set)][256];
};

// As few bytes a pair as the relations take.
template <typename Set>
std::vector<Mask> spread_as(const Algebra& algebra, const std::vector<std::int32_t>& order,
                            const std::vector<std::int64_t>& offsets, const std::int32_t* ends, const Mask* labels,
                            const Interrupt& interrupt) {
  const std::size_t n = order.size();
  const Set universal = static_cast<Set>(algebra.universal);
  std::vector<Set> sets(n * n, universal);
  const ByBytes<Set> turned(algebra, [&](Mask mask) { return algebra.converse(mask); });
  std::unordered_map<Mask, ByBytes<Set>> after;
  Pause pause(interrupt);
  for (std::size_t p = n; p-- > 0;) {
    const std::size_t v = static_cast<std::size_t>(order[p]);
    Set* const mine = &sets[v * n];
    for (std::int64_t e = offsets[p]; e < offsets[p + 1]; ++e) {
      const Mask label = labels[e];
      const auto found =
          after.try_emplace(label, algebra, [&](Mask mask) { return algebra.compose(label, mask); }).first;
      const ByBytes<Set>& through = found->second;
      const Set* const other = &sets[static_cast<std::size_t>(ends[e]) * n];
      for (std::size_t j = 0; j < n; ++j) mine[j] &= through(other[j]);
    }
    mine[v] = static_cast<Set>(algebra.identity);
    for (std::size_t q = p + 1; q < n; ++q) {
      const std::size_t j = static_cast<std::size_t>(order[q]);
      if (!mine[j]) return {};
      sets[j * n + v] = turned(mine[j]);
    }
    pause.after(static_cast<std::int64_t>(n) * (offsets[p + 1] - offsets[p] + 1));
  }
  std::vector<Mask> pairs;
  pairs.reserve(n * (n - 1) / 2);
  for (std::size_t i = 0; i < n; ++i) pairs.insert(pairs.end(), &sets[i * n] + i + 1, &sets[i * n] + n);
  return pairs;
}

}  // namespace

std::vector<Mask> spread(const Algebra& algebra, const std::vector<std::int32_t>& order,
                         const std::vector<std::int64_t>& offsets, const std::int32_t* ends, const Mask* labels,
                         const Interrupt& interrupt) {
  const auto as = algebra.relations <= 8    ? spread_as<std::uint8_t>
                  : algebra.relations <= 16 ? spread_as<std::uint16_t>
                  : algebra.relations <= 32 ? spread_as<std::uint32_t>
                                            : spread_as<std::uint64_t>;
  return as(algebra, order, offsets, ends, labels, interrupt);
}

}  // namespace epignn
