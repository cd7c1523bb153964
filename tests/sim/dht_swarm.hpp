// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <map>
#include <optional>

#include "core/dht/dht.hpp"

#include "tests/sim/churn.hpp"
#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

namespace waggle::sim {

/// Counts of one kind of question and how many were answered as the outside checker says they must
/// be.
struct Score {
  std::uint64_t asked = 0;
  std::uint64_t right = 0;

  [[nodiscard]] double share() const noexcept {
    return asked == 0 ? 1 : static_cast<double>(right) / static_cast<double>(asked);
  }

  void add(bool is_right) noexcept {
    ++asked;
    right += is_right ? 1 : 0;
  }
};

/// Nodes of hivemind's DHT on MemoryHosts, each living in a coroutine of its own: it joins by one
/// node that it knows, stays, and, if there is churn, dies (half of the time without a word), stays
/// away and comes back as another. The checker sees all of them at once and says what a search
/// should have found.
class DhtSwarm {
 public:
  DhtSwarm(World& world, MemoryNetwork& network, std::size_t slots);
  /// stop() first.
  ~DhtSwarm();

  /// Slot `i` joins at a time drawn from [0, spread) from now, the first at once.
  void start(Duration spread);
  /// From now on every node dies at the end of a session.
  void begin_churn(Churn churn);
  /// All nodes leave.
  [[nodiscard]] Co<void> stop();

  /// Starts `count` searches, `pace` apart, from random nodes for random ids, and waits for them.
  [[nodiscard]] Co<void> search(std::size_t count, Duration pace);
  /// Stores `count` records, `pace` apart, from random nodes; find() asks for each of them, from
  /// random nodes.
  [[nodiscard]] Co<void> store(std::size_t count, Duration pace, Duration lifetime);
  [[nodiscard]] Co<void> find(Duration pace);

  [[nodiscard]] std::size_t live() const noexcept { return joined_.size(); }

  /// The nearest node, and the nearest five in order (those that store), were found; records were
  /// found.
  struct Scores {
    Score nearest;
    Score nearest_five;
    Score stored;
    Score found;
  };

  [[nodiscard]] Scores take_scores() noexcept { return std::exchange(scores_, {}); }

  /// Over all searches of all nodes, dead ones included.
  struct Load {
    double hops = 0;           ///< answers that had to wait for each other, a search
    double calls = 0;          ///< calls, a search
    double served_median = 0;  ///< calls answered, a live node
    double served_p99 = 0;
    double served_max = 0;
    double table_median = 0;
    std::uint64_t malformed = 0;
    std::uint64_t joins = 0;
    std::uint64_t failed_joins = 0;
  };

  [[nodiscard]] Load load() const;

 private:
  struct Node;

  Co<void> live(std::size_t slot, Duration delay);
  Co<void> live_once(std::size_t slot, bool& go_on);
  Co<void> search_once(Node& node, dht::Id target, std::size_t& open);
  Co<void> store_once(Node& node, dht::Record record, std::size_t& open);
  Co<void> find_once(Node& node, dht::Id key, Bytes value, std::size_t& open);
  Co<void> drain(std::size_t& open);
  Node* random_node();
  [[nodiscard]] std::vector<Node const*> nearest(dht::Id const& target,
                                                 Node const& except,
                                                 std::size_t n) const;
  void account(dht::Counters const& counters);

  World& world_;
  MemoryNetwork& network_;
  std::size_t slots_;
  std::optional<Churn> churn_;
  Signal churn_begins_;
  Signal finished_;  // a question of search(), store() or find()
  Scope lives_;
  std::vector<Node*> joined_;  // alive and bootstrapped
  std::uint64_t next_name_ = 0;
  std::map<dht::Id, Bytes> records_;
  Scores scores_;
  dht::Counters dead_;
  std::uint64_t joins_ = 0;
  std::uint64_t failed_joins_ = 0;
};

}  // namespace waggle::sim
