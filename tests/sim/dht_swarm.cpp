// SPDX-License-Identifier: MIT
#include "tests/sim/dht_swarm.hpp"

#include <algorithm>

#include "core/base/assert.hpp"
#include "core/dht/routing_table.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::sim {
namespace {

constexpr Duration kJoinTime = std::chrono::seconds(60);
constexpr Duration kJoinRetry = std::chrono::seconds(5);
constexpr Duration kQuestionTime = std::chrono::seconds(60);
constexpr std::size_t kReplicas = 5;
// A node counts as one that must be found when others have had time to hear of it.
constexpr Duration kSettled = std::chrono::seconds(30);

dht::Options options_of(std::vector<PeerId> initial) {
  dht::Options options;
  options.initial_peers = std::move(initial);
  return options;
}

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  auto const at = static_cast<std::ptrdiff_t>(p * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

struct DhtSwarm::Node {
  Node(MemoryNetwork& network, PeerId self, dht::Options options)
      : host(network, self),
        dht(host, std::move(options)),
        id(dht.id()),
        questions(network.runtime()) {}

  MemoryHost host;
  dht::Dht dht;
  dht::Id id;
  Scope questions;
  TimePoint joined{};
  TimePoint churn_seen{};
};

DhtSwarm::DhtSwarm(World& world, MemoryNetwork& network, std::size_t slots)
    : world_(world),
      network_(network),
      slots_(slots),
      churn_begins_(world),
      finished_(world),
      lives_(world) {
}

DhtSwarm::~DhtSwarm() = default;

void DhtSwarm::start(Duration spread) {
  for (std::size_t slot = 0; slot < slots_; ++slot) {
    auto const delay = slot == 0 ? Duration{} : seconds(to_seconds(spread) * world_.random_unit());
    lives_.spawn("node", live(slot, delay));
  }
}

void DhtSwarm::begin_churn(Churn churn) {
  churn_ = churn;
  churn_begins_.notify_all();
}

Co<void> DhtSwarm::stop() {
  co_await lives_.close();
}

Co<void> DhtSwarm::live(std::size_t slot, Duration delay) {
  auto waited = co_await world_.sleep_for(delay);
  bool go_on = waited.has_value();
  while (go_on) co_await live_once(slot, go_on);
}

// From birth to death, and the absence after it.
Co<void> DhtSwarm::live_once(std::size_t slot, bool& go_on) {
  std::vector<PeerId> known;
  if (auto* const other = random_node()) known.push_back(other->host.self());
  bool const alone = known.empty();
  if (alone && slot != 0) {
    auto slept = co_await world_.sleep_for(kJoinRetry);
    go_on = slept.has_value();
    co_return;
  }
  auto const node =
      std::make_unique<Node>(network_, peer(next_name_++), options_of(std::move(known)));
  auto joined = co_await node->dht.bootstrap(world_.now() + kJoinTime);
  go_on = joined || joined.error().code != Errc::cancelled;
  joined ? ++joins_ : ++failed_joins_;
  Duration absence = kJoinRetry;
  if (joined) {
    node->joined = world_.now();
    joined_.push_back(node.get());
    while (go_on && !churn_) {
      auto waited = co_await churn_begins_.wait();
      go_on = waited.has_value();
    }
    if (go_on) {
      auto slept = co_await world_.sleep_for(churn_->session(world_));
      go_on = slept.has_value();
    }
    std::erase(joined_, node.get());
    node->host.kill(world_.random_below(2) == 0);
    if (churn_) absence = churn_->absence(world_);
  }
  co_await node->questions.close();
  co_await node->dht.close();
  co_await node->host.close();
  account(node->dht.counters());
  if (!go_on) co_return;
  auto slept = co_await world_.sleep_for(absence);
  go_on = slept.has_value();
}

DhtSwarm::Node* DhtSwarm::random_node() {
  if (joined_.empty()) return nullptr;
  return joined_[world_.random_below(joined_.size())];
}

std::vector<DhtSwarm::Node const*> DhtSwarm::nearest(dht::Id const& target,
                                                     Node const& except,
                                                     std::size_t n) const {
  std::vector<std::pair<dht::Id, Node const*>> all;
  all.reserve(joined_.size());
  for (auto const* node : joined_)
    if (node != &except && world_.now() - node->joined >= kSettled)
      all.emplace_back(dht::distance(target, node->id), node);
  n = std::min(n, all.size());
  auto const by_distance = [](auto const& a, auto const& b) {
    return dht::nearer(a.first, b.first);
  };
  auto const middle = all.begin() + static_cast<std::ptrdiff_t>(n);
  std::nth_element(all.begin(), middle, all.end(), by_distance);
  std::sort(all.begin(), middle, by_distance);
  std::vector<Node const*> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(all[i].second);
  return out;
}

// What must be found is what was there when the search began and still is when it ends; who came or
// went meanwhile may be found or not.
Co<void> DhtSwarm::search_once(Node& node, dht::Id target, std::size_t& open) {
  std::map<PeerId, TimePoint> before;
  for (auto const* expected : nearest(target, node, 4 * kReplicas))
    before.emplace(expected->host.self(), expected->joined);
  auto const found = co_await node.dht.find_nodes(target, world_.now() + kQuestionTime);
  --open;
  finished_.notify_all();
  if (!found) {
    if (found.error().code != Errc::cancelled)
      scores_.nearest.add(false), scores_.nearest_five.add(false);
    co_return;
  }
  std::vector<PeerId> expected;
  for (auto const* now : nearest(target, node, 4 * kReplicas))
    if (before.contains(now->host.self()) && expected.size() < kReplicas)
      expected.push_back(now->host.self());
  // In order; strangers to `expected` between them are those that came or went.
  std::vector<PeerId> heard;
  for (auto const& id : *found)
    if (std::find(expected.begin(), expected.end(), id) != expected.end()) heard.push_back(id);
  scores_.nearest.add(!expected.empty() && !heard.empty() && heard[0] == expected[0]);
  scores_.nearest_five.add(heard == expected);
}

Co<void> DhtSwarm::store_once(Node& node, dht::Record record, std::size_t& open) {
  auto const stored = co_await node.dht.store(record, world_.now() + kQuestionTime);
  --open;
  finished_.notify_all();
  if (!stored && stored.error().code == Errc::cancelled) co_return;
  scores_.stored.add(stored && *stored);
  if (stored && *stored) records_[record.key] = record.value;
}

Co<void> DhtSwarm::find_once(Node& node, dht::Id key, Bytes value, std::size_t& open) {
  auto const found = co_await node.dht.get(key, dht::Freshness::any, world_.now() + kQuestionTime);
  --open;
  finished_.notify_all();
  if (!found && found.error().code == Errc::cancelled) co_return;
  scores_.found.add(found && found->regular && found->regular->value == value);
}

Co<void> DhtSwarm::drain(std::size_t& open) {
  while (open > 0) {
    auto waited = co_await finished_.wait();
    WAGGLE_ASSERT(waited, "a scenario is not cancelled");
  }
}

Co<void> DhtSwarm::search(std::size_t count, Duration pace) {
  std::size_t open = 0;
  for (std::size_t i = 0; i < count; ++i) {
    dht::Id target;
    world_.fill_random(target.bytes);
    if (auto* const node = random_node()) {
      ++open;
      node->questions.spawn("search", search_once(*node, target, open));
    }
    (void)co_await world_.sleep_for(pace);
  }
  co_await drain(open);
}

Co<void> DhtSwarm::store(std::size_t count, Duration pace, Duration lifetime) {
  records_.clear();
  std::size_t open = 0;
  for (std::size_t i = 0; i < count; ++i) {
    dht::Record record;
    world_.fill_random(record.key.bytes);
    record.value = wire::Msgpack(static_cast<std::int64_t>(i)).encode();
    record.expiration = world_.unix_time() + to_seconds(lifetime);
    if (auto* const node = random_node()) {
      ++open;
      node->questions.spawn("store", store_once(*node, std::move(record), open));
    }
    (void)co_await world_.sleep_for(pace);
  }
  co_await drain(open);
}

Co<void> DhtSwarm::find(Duration pace) {
  std::size_t open = 0;
  auto const records = records_;
  for (auto const& [key, value] : records) {
    if (auto* const node = random_node()) {
      ++open;
      node->questions.spawn("find", find_once(*node, key, value, open));
    }
    (void)co_await world_.sleep_for(pace);
  }
  co_await drain(open);
}

void DhtSwarm::account(dht::Counters const& counters) {
  dead_.searches += counters.searches;
  dead_.search_calls += counters.search_calls;
  dead_.search_hops += counters.search_hops;
  dead_.malformed += counters.malformed;
}

DhtSwarm::Load DhtSwarm::load() const {
  dht::Counters all = dead_;
  std::vector<double> served;
  std::vector<double> tables;
  for (auto const* node : joined_) {
    auto const& c = node->dht.counters();
    all.searches += c.searches;
    all.search_calls += c.search_calls;
    all.search_hops += c.search_hops;
    all.malformed += c.malformed;
    served.push_back(static_cast<double>(c.finds_served + c.pings_served + c.stores_served));
    tables.push_back(static_cast<double>(node->dht.table_size()));
  }
  Load load;
  auto const searches = static_cast<double>(std::max<std::uint64_t>(all.searches, 1));
  load.hops = static_cast<double>(all.search_hops) / searches;
  load.calls = static_cast<double>(all.search_calls) / searches;
  load.served_median = percentile(served, 0.5);
  load.served_p99 = percentile(served, 0.99);
  load.served_max = percentile(served, 1);
  load.table_median = percentile(tables, 0.5);
  load.malformed = all.malformed;
  load.joins = joins_;
  load.failed_joins = failed_joins_;
  return load;
}

}  // namespace waggle::sim
