#include "heads.hpp"

namespace epignn {
namespace {

constexpr std::int32_t NEVER = 1 << 20;

// Steps from the given nodes, up to a limit, over edges that are not left out.
void search(const HeadGraph& g, std::vector<std::int32_t>& frontier, const std::vector<char>* left_out,
            std::vector<std::int32_t>& distance) {
  distance.assign(g.nodes, NEVER);
  for (const std::int32_t v : frontier) distance[v] = 0;
  std::vector<std::int32_t> next;
  for (std::int32_t step = 1; step <= g.rounds && !frontier.empty(); ++step) {
    next.clear();
    for (const std::int32_t v : frontier)
      for (std::int32_t e = g.offset[v]; e < g.offset[v + 1]; ++e) {
        const std::int32_t u = g.source[e];
        if (distance[u] != NEVER || (left_out && (*left_out)[e])) continue;
        distance[u] = step;
        next.push_back(u);
      }
    frontier.swap(next);
  }
}

}  // namespace

// What a pass has to compute. Leaving out an edge changes what its target hears even where the source knows
// nothing, unless such nodes are silent: so the search takes the edges left out as well, or not.
Plan plan_pass(const HeadGraph& g, const HeadBatch& b, std::int32_t h) {
  Plan plan;
  plan.head = b.head[h];
  plan.left_out.assign(b.left_out + b.left_out_offset[h], b.left_out + b.left_out_offset[h + 1]);
  std::vector<char> without;
  if (g.silent) {
    without.assign(g.offset[g.nodes], 0);
    for (const std::int32_t e : plan.left_out) without[e] = 1;
  }
  std::vector<std::int32_t> level, need, start{b.head[h]};
  search(g, start, g.silent ? &without : nullptr, level);
  start.assign(b.wanted + b.wanted_offset[h], b.wanted + b.wanted_offset[h + 1]);
  search(g, start, nullptr, need);
  std::vector<std::int32_t> reached;
  for (std::int32_t v = 0; v < g.nodes; ++v)
    if (level[v] + need[v] <= g.rounds) reached.push_back(v);
  plan.slot.assign(std::size_t(g.rounds + 1) * g.nodes, -1);
  plan.round_offset.assign(1, 0);
  for (std::int32_t round = 0; round <= g.rounds; ++round) {
    for (const std::int32_t v : reached)
      if (level[v] <= round && need[v] <= g.rounds - round) {
        plan.slot[std::size_t(round) * g.nodes + v] = static_cast<std::int32_t>(plan.node.size());
        plan.node.push_back(v);
      }
    plan.round_offset.push_back(static_cast<std::int64_t>(plan.node.size()));
  }
  return plan;
}

Plan plan_background(const HeadGraph& g) {
  Plan plan;
  plan.round_offset.push_back(0);
  for (std::int32_t round = 0; round <= g.rounds; ++round) {
    for (std::int32_t v = 0; v < g.nodes; ++v) {
      plan.slot.push_back(static_cast<std::int32_t>(plan.node.size()));
      plan.node.push_back(v);
    }
    plan.round_offset.push_back(static_cast<std::int64_t>(plan.node.size()));
  }
  return plan;
}

std::vector<char> marked(const HeadGraph& g, const Plan& plan) {
  std::vector<char> marks(g.offset[g.nodes], 0);
  for (const std::int32_t e : plan.left_out) marks[e] = 1;
  return marks;
}

}  // namespace epignn
