// Rules of paths that lead from a head: walks along their bodies, and what the rules say of where the walks end.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace epignn {

constexpr int MOST_HOPS = 4;

// A knowledge graph: edges into node v are offset[v]..offset[v+1], each with its inverse. Labels are below `relations`,
// of which the second half are the inverses of the first.
struct WalkGraph {
  std::int32_t nodes, relations;
  const std::int32_t* offset;  // nodes + 1
  const std::int32_t* source;
  const std::int32_t* label;
  const std::int32_t* alike;  // among how many edges of its relation a walker who takes an edge chooses; may be null
};

// The bodies of rules as a tree. A body is that of its parent and one relation more; body 0 is empty.
struct Bodies {
  std::int32_t count;
  const std::int32_t* child;        // count + 1: the children of body b are child[b]..child[b+1]
  const std::int32_t* last;         // count: the relation that each ends with
  const std::int64_t* rule;         // count + 1: the rules of body b are rule[b]..rule[b+1], by relation
  const std::int32_t* relation;     // of each rule
  const double* confidence;         // of each rule
};

struct Aggregate {
  double spread;     // the chance that a walk ends somewhere counts to this power
  double next_best;  // what the second best rule counts
  bool noisy_or;     // all rules instead, as if they were independent
};

// What rules say of the entities they lead to. Those of relation r are offset[r]..offset[r+1], each once.
struct Said {
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> entity;
  std::vector<double> value;
};

class RulesFrom {
 public:
  // Walks have up to `hops` edges and visit no node twice; where there would be more than `most` of one length, before
  // bodies choose among them, they end.
  RulesFrom(const WalkGraph& graph, const Bodies& bodies, int hops, std::int64_t most, const Aggregate& aggregate);

  // What the rules say of the relations that are `asked` (one byte each); the result holds until the next call.
  const Said& from(std::int32_t head, const std::uint8_t* asked);

 private:
  struct Walk {
    std::array<std::int32_t, MOST_HOPS> node;  // that it visits after its head
    double chance;
  };
  struct Group {  // walks that follow one body
    std::int32_t body;
    std::int64_t first, last;
  };
  struct Step {
    std::int64_t walk;
    std::int32_t child, node;
    double chance;
  };
  struct End {
    std::int32_t place;  // among all ends
    double weight;
  };

  void look_up(std::int32_t head, const std::uint8_t* asked);
  void begin_anew();
  bool grow(std::int32_t head, int length);
  void follow(std::int32_t head, const Group& group, int length);
  void note_ends(const Group& group, int length);
  void join(const std::uint8_t* asked);
  void join_block(const std::vector<std::int32_t>& asked, std::size_t first, std::size_t last);

  WalkGraph graph_;
  Bodies bodies_;
  int hops_;
  std::int64_t most_;
  Aggregate aggregate_;

  std::vector<Walk> walks_, longer_;
  std::vector<Group> groups_, longer_groups_;
  std::vector<Step> steps_;
  std::vector<std::int32_t> child_of_;      // by relation; -1: none
  std::vector<std::int64_t> begin_;         // of the walks of each child
  std::vector<double> chance_;              // by node, of the body at hand; 0: it leads nowhere there
  std::vector<std::int32_t> touched_;
  std::vector<std::int32_t> place_;         // by node; -1: no body leads there
  std::vector<std::int32_t> ends_;          // the node of each place
  std::vector<End> end_;
  std::vector<Group> reached_;              // ends of each body that has rules
  std::vector<std::int64_t> next_;          // for each of these, the first rule that is not joined yet
  std::vector<std::int32_t> column_;        // by relation, in the block; -1: not in it
  std::vector<std::array<double, 2>> best_;  // the best two, by place and column; or the sum and nothing
  Said said_;
};

}  // namespace epignn
