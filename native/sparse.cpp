#include "sparse.hpp"

#include <algorithm>
#include <queue>
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
                 const std::vector<std::int32_t>& order, const std::vector<std::int32_t>& rank,
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
  for (int p = 0; p < entities; ++p) {
    const std::int32_t v = order.empty() ? waiting.pop(position) : order[p];
    position[v] = p;
    graph.order.push_back(v);
    later[p] = std::move(neighbours[v]);
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

}  // namespace epignn
