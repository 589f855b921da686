// The graphs of a batch, out of all graphs of a data set.
#pragma once

#include <cstdint>
#include <vector>

namespace epignn {

// All graphs of a data set; see src/epignn/models/batch.py.
struct Graphs {
  const std::int32_t* node_offset;
  const std::int32_t *in_offset, *in_source, *in_label;
  const std::int32_t *out_offset, *out_target, *out_label;
  const std::int32_t *head, *tail;
  const std::int64_t* label;
  const std::int32_t *path_offset, *path_node;
  const std::int32_t* depth;
  const bool* acyclic;
};

// Those of a batch, numbered anew.
struct Collated {
  struct Edges {
    std::vector<std::int32_t> offset, other, label;
  };
  std::vector<std::int32_t> node_offset, head, tail, path_offset, path_node;
  Edges in, out;
  std::int32_t depth;
  bool acyclic;
  void take(const Graphs& from, const std::int64_t* chosen, std::int32_t count);
};

}  // namespace epignn
