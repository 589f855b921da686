#include "bodies.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace epignn {
namespace {

constexpr std::size_t TOGETHER = 1 << 16;  // pairs of an end and a relation that stay in the cache

}  // namespace

RulesFrom::RulesFrom(const WalkGraph& graph, const Bodies& bodies, int hops, std::int64_t most,
                     const Aggregate& aggregate)
    : graph_(graph),
      bodies_(bodies),
      hops_(hops),
      most_(most),
      aggregate_(aggregate),
      child_of_(graph.relations, -1),
      chance_(graph.nodes, 0.0),
      place_(graph.nodes, -1),
      column_(graph.relations, -1) {
  if (hops < 1 || hops > MOST_HOPS) throw std::invalid_argument("walks have 1 to 4 edges");
}

const Said& RulesFrom::from(std::int32_t head, const std::uint8_t* asked) {
  if (head < 0 || head >= graph_.nodes) throw std::out_of_range("there is no such entity");
  try {
    look_up(head, asked);
  } catch (...) {  // memory ran out
    begin_anew();
    throw;
  }
  return said_;
}

// Forget what a call left behind that did not come to its end.
void RulesFrom::begin_anew() {
  std::fill(child_of_.begin(), child_of_.end(), -1);
  std::fill(chance_.begin(), chance_.end(), 0.0);
  std::fill(place_.begin(), place_.end(), -1);
  std::fill(column_.begin(), column_.end(), -1);
  ends_.clear();
}

void RulesFrom::look_up(std::int32_t head, const std::uint8_t* asked) {
  for (const std::int32_t node : ends_) place_[node] = -1;
  ends_.clear();
  end_.clear();
  reached_.clear();
  walks_.assign(1, Walk{{}, 1.0});
  groups_.assign(1, Group{0, 0, 1});
  for (int length = 0; length < hops_ && grow(head, length); ++length) {
    for (const Group& group : groups_) {
      if (bodies_.rule[group.body] < bodies_.rule[group.body + 1]) note_ends(group, length + 1);
    }
  }
  join(asked);
}

// Make all walks one edge longer, unless these would be too many.
bool RulesFrom::grow(std::int32_t head, int length) {
  std::int64_t edges = 0;
  for (const Walk& walk : walks_) {
    const std::int32_t at = length ? walk.node[length - 1] : head;
    edges += graph_.offset[at + 1] - graph_.offset[at];
  }
  if (edges > most_) return false;
  longer_.clear();
  longer_groups_.clear();
  for (const Group& group : groups_) follow(head, group, length);
  walks_.swap(longer_);
  groups_.swap(longer_groups_);
  return true;
}

// The walks of one body that are one edge longer, child by child.
void RulesFrom::follow(std::int32_t head, const Group& group, int length) {
  const std::int32_t first = bodies_.child[group.body], last = bodies_.child[group.body + 1];
  if (first == last) return;
  for (std::int32_t c = first; c < last; ++c) child_of_[bodies_.last[c]] = c - first;
  begin_.assign(last - first + 1, 0);
  steps_.clear();
  const std::int32_t half = graph_.relations / 2;
  for (std::int64_t w = group.first; w < group.last; ++w) {
    const Walk& walk = walks_[w];
    const std::int32_t at = length ? walk.node[length - 1] : head;
    for (std::int32_t e = graph_.offset[at]; e < graph_.offset[at + 1]; ++e) {
      // What leads into a node leads, as its inverse, out of it.
      const std::int32_t label = graph_.label[e], out = label < half ? label + half : label - half;
      const std::int32_t child = child_of_[out], node = graph_.source[e];
      if (child < 0 || node == head) continue;
      if (std::find(walk.node.begin(), walk.node.begin() + length, node) != walk.node.begin() + length) continue;
      steps_.push_back({w, child, node, graph_.alike ? walk.chance / graph_.alike[e] : walk.chance});
      ++begin_[child + 1];
    }
  }
  for (std::int32_t c = first; c < last; ++c) child_of_[bodies_.last[c]] = -1;
  const std::int64_t before = std::int64_t(longer_.size());
  for (std::int32_t c = 0; c < last - first; ++c) {
    if (begin_[c + 1]) longer_groups_.push_back({first + c, before + begin_[c], before + begin_[c] + begin_[c + 1]});
    begin_[c + 1] += begin_[c];
  }
  longer_.resize(before + steps_.size());
  for (const Step& step : steps_) {
    Walk& made = longer_[before + begin_[step.child]++];
    made = walks_[step.walk];
    made.node[length] = step.node;
    made.chance = step.chance;
  }
}

// Where the walks of a body end, each end once, with the chance of all that end there.
void RulesFrom::note_ends(const Group& group, int length) {
  touched_.clear();
  for (std::int64_t w = group.first; w < group.last; ++w) {
    const std::int32_t node = walks_[w].node[length - 1];
    if (chance_[node] == 0) touched_.push_back(node);
    chance_[node] += walks_[w].chance;
  }
  const std::int64_t first = std::int64_t(end_.size());
  const double spread = aggregate_.spread;
  for (const std::int32_t node : touched_) {
    if (place_[node] < 0) {
      place_[node] = std::int32_t(ends_.size());
      ends_.push_back(node);
    }
    const double chance = chance_[node];
    end_.push_back({place_[node], spread == 0 ? 1.0 : spread == 0.5 ? std::sqrt(chance) : std::pow(chance, spread)});
    chance_[node] = 0;
  }
  reached_.push_back({group.body, first, std::int64_t(end_.size())});
}

void RulesFrom::join(const std::uint8_t* asked) {
  std::vector<std::int32_t> relations;
  for (std::int32_t r = 0; r < graph_.relations; ++r) {
    if (asked[r]) relations.push_back(r);
  }
  said_.offset.assign(graph_.relations + 1, 0);
  said_.entity.clear();
  said_.value.clear();
  next_.clear();
  for (const Group& group : reached_) next_.push_back(bodies_.rule[group.body]);
  const std::size_t columns = std::max<std::size_t>(1, TOGETHER / std::max<std::size_t>(1, ends_.size()));
  for (std::size_t first = 0; first < relations.size(); first += columns) {
    join_block(relations, first, std::min(relations.size(), first + columns));
  }
  for (std::int32_t r = 0; r < graph_.relations; ++r) said_.offset[r + 1] += said_.offset[r];
}

// What the rules of some of the relations asked come to, which stand in order.
void RulesFrom::join_block(const std::vector<std::int32_t>& asked, std::size_t first, std::size_t last) {
  const std::size_t columns = last - first;
  best_.assign(ends_.size() * columns, {0.0, 0.0});
  for (std::size_t q = first; q < last; ++q) column_[asked[q]] = std::int32_t(q - first);
  for (std::size_t g = 0; g < reached_.size(); ++g) {
    const Group& group = reached_[g];
    const std::int64_t stop = bodies_.rule[group.body + 1];
    std::int64_t& rule = next_[g];
    for (; rule < stop && bodies_.relation[rule] <= asked[last - 1]; ++rule) {
      const std::int32_t column = column_[bodies_.relation[rule]];
      if (column < 0) continue;
      const double confidence = bodies_.confidence[rule];
      for (std::int64_t e = group.first; e < group.last; ++e) {
        auto& [most, next] = best_[end_[e].place * columns + column];
        const double sure = confidence * end_[e].weight;
        if (aggregate_.noisy_or) {
          most -= std::log1p(-sure);
        } else if (sure > most) {
          next = most;
          most = sure;
        } else if (sure > next) {
          next = sure;
        }
      }
    }
  }
  for (std::size_t q = first; q < last; ++q) {
    const std::size_t column = q - first;
    for (std::size_t place = 0; place < ends_.size(); ++place) {
      const auto& [most, next] = best_[place * columns + column];
      if (most == 0) continue;
      said_.entity.push_back(ends_[place]);
      said_.value.push_back(most + aggregate_.next_best * next);
      ++said_.offset[asked[q] + 1];
    }
    column_[asked[q]] = -1;
  }
}

}  // namespace epignn
