#include "collate.hpp"

#include <algorithm>

namespace epignn {
namespace {

void take_edges(const std::int32_t* offset, const std::int32_t* other, const std::int32_t* label, std::int32_t node,
                std::int32_t nodes, std::int32_t shift, Collated::Edges& to) {
  const std::int32_t first = offset[node], moved = std::int32_t(to.other.size()) - first;
  for (std::int32_t v = node + 1; v <= node + nodes; ++v) to.offset.push_back(offset[v] + moved);
  for (std::int32_t e = first; e < offset[node + nodes]; ++e) {
    to.other.push_back(other[e] + shift);
    to.label.push_back(label[e]);
  }
}

}  // namespace

void Collated::take(const Graphs& from, const std::int64_t* chosen, std::int32_t count) {
  for (Edges* edges : {&in, &out}) {
    edges->offset.assign(1, 0);
    edges->other.clear();
    edges->label.clear();
  }
  node_offset.assign(1, 0);
  path_offset.assign(1, 0);
  for (auto* list : {&head, &tail, &path_node}) list->clear();
  depth = count ? 0 : 1;
  acyclic = true;
  for (std::int32_t c = 0; c < count; ++c) {
    const std::int64_t g = chosen[c];
    const std::int32_t node = from.node_offset[g], nodes = from.node_offset[g + 1] - node;
    const std::int32_t shift = node_offset.back() - node;
    take_edges(from.in_offset, from.in_source, from.in_label, node, nodes, shift, in);
    take_edges(from.out_offset, from.out_target, from.out_label, node, nodes, shift, out);
    head.push_back(from.head[g] + shift);
    tail.push_back(from.tail[g] + shift);
    for (std::int32_t p = from.path_offset[g]; p < from.path_offset[g + 1]; ++p)
      path_node.push_back(from.path_node[p] + shift);
    path_offset.push_back(std::int32_t(path_node.size()));
    node_offset.push_back(node_offset.back() + nodes);
    depth = std::max(depth, from.depth[g]);
    acyclic = acyclic && from.acyclic[g];
  }
}

}  // namespace epignn
