#include "heads.hpp"

namespace epignn {
namespace {

constexpr std::int32_t NEVER = 1 << 20;

// Steps from the given nodes, up to a limit, over edges that are not left out, through nodes that are followed.
void search(const HeadGraph& g, std::vector<std::int32_t>& frontier, const std::vector<char>* left_out,
            const std::vector<char>* followed, std::vector<std::int32_t>& distance) {
  distance.assign(g.nodes, NEVER);
  std::int64_t left = g.nodes;
  for (const std::int32_t v : frontier) {
    left -= distance[v] == NEVER;
    distance[v] = 0;
  }
  std::vector<std::int32_t> next;
  for (std::int32_t step = 1; step <= g.rounds && left && !frontier.empty(); ++step) {
    next.clear();
    for (const std::int32_t v : frontier)
      for (std::int32_t e = g.offset[v]; e < g.offset[v + 1]; ++e) {
        const std::int32_t u = g.source[e];
        if (distance[u] != NEVER || (left_out && (*left_out)[e]) || (followed && !(*followed)[u])) continue;
        distance[u] = step;
        next.push_back(u);
      }
    left -= static_cast<std::int64_t>(next.size());
    frontier.swap(next);
  }
}

// Give nodes that are computed places, in their order, and the sources of edges into them places after these.
void list_edges(const HeadGraph& g, const std::vector<std::int32_t>& reached, const std::vector<char>& left_out,
                std::vector<std::int32_t>& place, Plan& plan) {
  for (const std::int32_t v : reached) {
    place[v] = static_cast<std::int32_t>(plan.node.size());
    plan.node.push_back(v);
  }
  plan.offset.assign(1, 0);
  for (const std::int32_t v : reached) {
    for (std::int32_t e = g.offset[v]; e < g.offset[v + 1]; ++e) {
      if (left_out[e]) continue;
      std::int32_t& at = place[g.source[e]];
      if (at < 0) {
        at = static_cast<std::int32_t>(plan.node.size());
        plan.node.push_back(g.source[e]);
      }
      plan.source.push_back(at);
      plan.label.push_back(g.label[e]);
    }
    plan.offset.push_back(static_cast<std::int64_t>(plan.source.size()));
  }
}

}  // namespace

// What a pass has to compute. Leaving out an edge changes what its target hears even where the source knows
// nothing, unless such nodes are silent: so the search takes the edges left out as well, or not.
Plan plan_pass(const HeadGraph& g, const HeadBatch& b, std::int32_t h) {
  Plan plan;
  std::vector<char> left_out(g.offset[g.nodes], 0);
  for (std::int64_t n = b.left_out_offset[h]; n < b.left_out_offset[h + 1]; ++n) left_out[b.left_out[n]] = 1;
  std::vector<char> followed;
  if (b.followed_offset) {
    followed.assign(g.nodes, 0);
    for (std::int64_t n = b.followed_offset[h]; n < b.followed_offset[h + 1]; ++n) followed[b.followed[n]] = 1;
  }
  std::vector<std::int32_t> level, need, start{b.head[h]};
  search(g, start, g.silent ? &left_out : nullptr, b.followed_offset ? &followed : nullptr, level);
  start.assign(b.wanted + b.wanted_offset[h], b.wanted + b.wanted_offset[h + 1]);
  search(g, start, nullptr, nullptr, need);
  std::vector<std::int32_t> reached, place(g.nodes, -1);
  for (std::int32_t v = 0; v < g.nodes; ++v)
    if (level[v] + need[v] <= g.rounds) reached.push_back(v);
  list_edges(g, reached, left_out, place, plan);
  plan.head = reached.empty() ? 0 : place[b.head[h]];
  const std::int32_t computed = static_cast<std::int32_t>(reached.size());
  const std::int32_t places = static_cast<std::int32_t>(plan.node.size());
  for (const std::int32_t v : plan.node) plan.level.push_back(level[v]);
  plan.round.assign(1, 0);
  plan.borrow.assign(1, 0);
  for (std::int32_t round = 0; round <= g.rounds; ++round) {
    for (std::int32_t at = 0; at < places; ++at) {
      if (need[plan.node[at]] > g.rounds - round) continue;
      if (at < computed && plan.level[at] <= round)
        plan.listed.push_back(at);
      else if (!g.silent)
        plan.borrowed.push_back(at);
    }
    plan.round.push_back(static_cast<std::int64_t>(plan.listed.size()));
    plan.borrow.push_back(static_cast<std::int64_t>(plan.borrowed.size()));
  }
  for (std::int64_t w = b.wanted_offset[h]; w < b.wanted_offset[h + 1]; ++w) {
    const std::int32_t v = b.wanted[w];
    plan.wanted.push_back(level[v] <= g.rounds ? place[v] : -1 - v);
  }
  return plan;
}

Plan plan_background(const HeadGraph& g) {
  Plan plan;
  std::vector<std::int32_t> all, place(g.nodes, -1);
  for (std::int32_t v = 0; v < g.nodes; ++v) all.push_back(v);
  list_edges(g, all, std::vector<char>(g.offset[g.nodes], 0), place, plan);
  plan.level.assign(g.nodes, 0);
  plan.round.assign(1, 0);
  plan.borrow.assign(g.rounds + 2, 0);
  for (std::int32_t round = 0; round <= g.rounds; ++round) {
    plan.listed.insert(plan.listed.end(), all.begin(), all.end());
    plan.round.push_back(static_cast<std::int64_t>(plan.listed.size()));
  }
  return plan;
}

}  // namespace epignn
