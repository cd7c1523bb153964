// SPDX-License-Identifier: MIT
#include "core/task/directory.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/scope.hpp"
#include "core/base/text.hpp"
#include "core/task/detail/direct.hpp"
#include "core/task/detail/place.hpp"
#include "core/wire/msgpack.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

using namespace waggle;
using namespace waggle::task;
using namespace std::chrono_literals;

namespace {

crypto::Identity identity(int n) {
  std::array<std::byte, 32> seed{};
  seed[0] = static_cast<std::byte>(n);
  seed[1] = static_cast<std::byte>(n >> 8);
  return crypto::Identity::from_seed(seed);
}

/// A DHT node; with a Directory it is Waggle's, without it knows no rule, as Python's.
struct Node {
  Node(sim::MemoryNetwork& network, std::uint64_t n, bool waggle)
      : host(network, sim::peer(n)), dht(host, dht::Options{}) {
    if (waggle) directory.emplace(dht);
  }

  Co<void> stop() {
    if (directory) co_await directory->close();
    co_await dht.close();
    co_await host.close();
  }

  sim::MemoryHost host;
  dht::Dht dht;
  std::optional<Directory> directory;
};

struct Swarm {
  Swarm() : world(5), network(world, sim::links::lan()) {}

  ~Swarm() {
    auto stop_all = [](std::vector<std::unique_ptr<Node>>& all) -> Co<void> {
      for (auto& node : all) co_await node->stop();
    };
    world.run(stop_all(nodes));
  }

  Node& add(bool waggle = true) {
    nodes.push_back(std::make_unique<Node>(network, 1 + nodes.size(), waggle));
    auto join = [](Node& node, PeerId known) -> Co<void> {
      std::vector<PeerId> peers{known};
      (void)co_await node.dht.bootstrap(std::move(peers), node.host.runtime().now() + 1min);
    };
    if (nodes.size() > 1) world.run(join(*nodes.back(), nodes.front()->host.self()));
    return *nodes.back();
  }

  void wait(Duration d) { world.run_for(d); }

  sim::World world;
  sim::MemoryNetwork network;
  std::vector<std::unique_ptr<Node>> nodes;
};

struct Task {
  crypto::Identity key;
  TaskRecord record;
  Bytes envelope;

  Task(int n, std::string prefix, std::uint64_t version, bool ended = false, double valid_until = 0)
      : key(identity(n)) {
    record.prefix = std::move(prefix);
    record.version = version;
    record.toml = "# a task";
    record.ended = ended;
    record.valid_until = valid_until;
    envelope = record.seal(key);
    record.operator_id = key.peer_id();
  }

  void keep(Node& node, bool listed = false) const {
    node.directory->keep_alive(record, envelope, listed);
  }
};

using FoundTask = std::optional<Result<std::pair<TaskRecord, Bytes>>>;

Co<void> find_into(Node& node, PeerId operator_id, std::string prefix, FoundTask& out) {
  auto found = co_await node.directory->find(
      operator_id, std::move(prefix), node.host.runtime().now() + 1min);
  out.emplace(std::move(found));
}

/// The version that `node` finds; nothing if none.
std::optional<std::uint64_t> found_version(Swarm& swarm, Node& node, Task const& task) {
  FoundTask found;
  swarm.world.run(find_into(node, task.record.operator_id, task.record.prefix, found));
  REQUIRE(found);
  if (!*found) return std::nullopt;
  CHECK((*found)->first.operator_id == task.record.operator_id);
  CHECK(TaskRecord::open((*found)->second, task.record.operator_id, task.record.prefix));
  return (*found)->first.version;
}

Co<void> store_into(Node& node, dht::Record record, bool& stored) {
  auto done = co_await node.dht.store(std::move(record), node.host.runtime().now() + 1min);
  stored = done && *done;
}

bool store(Swarm& swarm,
           Node& node,
           dht::Id key,
           std::optional<Bytes> subkey,
           Bytes value,
           double seconds) {
  dht::Record record;
  record.key = key;
  record.subkey = std::move(subkey);
  record.value = std::move(value);
  record.expiration = node.dht.time() + seconds;
  bool stored = false;
  swarm.world.run(store_into(node, std::move(record), stored));
  return stored;
}

dht::Id place(Task const& task) {
  return dht::Id::of_text(TaskRecord::key_text(task.record.operator_id, task.record.prefix));
}

std::vector<PeerId> operators_of(Swarm& swarm, Node& node, std::string prefix) {
  std::optional<Result<std::vector<PeerId>>> out;
  auto ask =
      [](Node& n, std::string p, std::optional<Result<std::vector<PeerId>>>& result) -> Co<void> {
    auto found = co_await n.directory->operators(std::move(p), n.host.runtime().now() + 2min);
    result.emplace(std::move(found));
  };
  swarm.world.run(ask(node, std::move(prefix), out));
  REQUIRE(*out);
  return **out;
}

std::vector<std::string> listed_by(Swarm& swarm, Node& node) {
  std::optional<Result<std::vector<TaskRecord>>> out;
  auto ask = [](Node& n, std::optional<Result<std::vector<TaskRecord>>>& result) -> Co<void> {
    auto found = co_await n.directory->listed(n.host.runtime().now() + 2min);
    result.emplace(std::move(found));
  };
  swarm.world.run(ask(node, out));
  REQUIRE(*out);
  std::vector<std::string> prefixes;
  for (auto const& record : **out) prefixes.push_back(record.prefix);
  std::sort(prefixes.begin(), prefixes.end());
  return prefixes;
}

}  // namespace

TEST_SUITE("Directory") {
  TEST_CASE("what one publishes, another finds; a newer version replaces it") {
    Swarm swarm;
    for (int i = 0; i < 6; ++i) swarm.add();
    Task const first(1, "p", 1);
    first.keep(*swarm.nodes[1]);
    swarm.wait(10s);
    CHECK(found_version(swarm, *swarm.nodes[4], first) == 1u);
    Task const second(1, "p", 2);
    second.keep(*swarm.nodes[1]);
    swarm.wait(10s);
    CHECK(found_version(swarm, *swarm.nodes[4], first) == 2u);
    // An older one that is handed in later does not go back.
    first.keep(*swarm.nodes[1]);
    CHECK(found_version(swarm, *swarm.nodes[1], first) == 2u);
    CHECK(!found_version(swarm, *swarm.nodes[4], Task(2, "p", 1)));
    CHECK(!found_version(swarm, *swarm.nodes[4], Task(1, "q", 1)));
  }

  TEST_CASE("strangers who overwrite, replay or shadow its place do not move a volunteer") {
    Swarm swarm;
    for (int i = 0; i < 8; ++i) swarm.add();
    auto& stranger = swarm.add(false);
    auto& volunteer = swarm.add();
    Task const old(1, "p", 3);
    Task const good(1, "p", 4);
    good.keep(*swarm.nodes[2]);
    swarm.wait(10s);
    double const later = 20 * 3600;
    // Garbage, an older version, another operator's record, another prefix's, a dictionary: all
    // with a later expiration.
    (void)store(swarm, stranger, place(good), {}, wire::Msgpack("gone").encode(), later);
    CHECK(found_version(swarm, volunteer, good) == 4u);
    (void)store(swarm, stranger, place(good), {}, task::detail::wrap(old.envelope), later + 1);
    CHECK(found_version(swarm, volunteer, good) == 4u);
    (void)store(
        swarm, stranger, place(good), {}, task::detail::wrap(Task(2, "p", 99).envelope), later + 2);
    (void)store(
        swarm, stranger, place(good), {}, task::detail::wrap(Task(1, "q", 99).envelope), later + 3);
    for (int i = 0; i < 30; ++i)
      (void)store(swarm,
                  stranger,
                  place(good),
                  wire::Msgpack(cat("sub", i)).encode(),
                  wire::Msgpack(true).encode(),
                  later + 4);
    CHECK(found_version(swarm, volunteer, good) == 4u);
    // And it still moves when its operator wants it to.
    Task const next(1, "p", 5);
    next.keep(*swarm.nodes[2]);
    swarm.wait(10s);
    CHECK(found_version(swarm, volunteer, good) == 5u);
  }

  TEST_CASE(
      "a volunteer connected to one keeper finds the task, though every other node was "
      "overwritten") {
    Swarm swarm;
    for (int i = 0; i < 8; ++i) swarm.add(false);  // none knows the rule
    auto& keeper = swarm.add();
    auto& volunteer = swarm.add();
    Task const good(1, "p", 4);
    good.keep(keeper);
    swarm.wait(10s);
    for (auto& node : swarm.nodes)
      if (!node->directory)
        (void)store(swarm, *node, place(good), {}, wire::Msgpack("gone").encode(), 22 * 3600);
    auto connect = [](Node& a, PeerId b) -> Co<void> {
      (void)co_await a.host.connect(b, a.host.runtime().now() + 10s);
    };
    swarm.world.run(connect(volunteer, keeper.host.self()));
    CHECK(found_version(swarm, volunteer, good) == 4u);
  }

  TEST_CASE("records outlive their operator as long as one keeper is there") {
    Swarm swarm;
    for (int i = 0; i < 6; ++i) swarm.add();
    Task const task(1, "p", 1);
    task.keep(*swarm.nodes[1]);
    task.keep(*swarm.nodes[3]);
    swarm.wait(30s);
    swarm.nodes[1]->directory->stop_keeping(task.record.operator_id, "p");
    swarm.wait(std::chrono::hours(14));
    CHECK(found_version(swarm, *swarm.nodes[5], task) == 1u);
    swarm.nodes[3]->directory->stop_keeping(task.record.operator_id, "p");
    swarm.wait(std::chrono::hours(7));
    CHECK(!found_version(swarm, *swarm.nodes[5], task));
  }

  TEST_CASE("keepers pass a newer version on that somebody else published") {
    Swarm swarm;
    for (int i = 0; i < 6; ++i) swarm.add();
    Task const first(1, "p", 1);
    first.keep(*swarm.nodes[1]);
    swarm.wait(10s);
    Task const second(1, "p", 2);
    CHECK(store(
        swarm, *swarm.nodes[2], place(second), {}, task::detail::wrap(second.envelope), 2 * 3600));
    swarm.wait(std::chrono::hours(10));  // the one-time store is long gone
    CHECK(found_version(swarm, *swarm.nodes[5], first) == 2u);
  }

  TEST_CASE("an ended task is found as ended; one past its date is not found") {
    Swarm swarm;
    for (int i = 0; i < 5; ++i) swarm.add();
    Task const ended(1, "p", 2, true);
    ended.keep(*swarm.nodes[1]);
    Task const brief(1, "q", 1, false, swarm.nodes[0]->dht.time() + 600);
    brief.keep(*swarm.nodes[1]);
    swarm.wait(10s);
    FoundTask found;
    swarm.world.run(find_into(*swarm.nodes[3], ended.record.operator_id, "p", found));
    REQUIRE(*found);
    CHECK((*found)->first.ended);
    CHECK(found_version(swarm, *swarm.nodes[3], brief) == 1u);
    swarm.wait(11min);
    CHECK(!found_version(swarm, *swarm.nodes[3], brief));
  }

  TEST_CASE(
      "a bare prefix names the operators whose records verify, in a flood of those whose do not") {
    Swarm swarm;
    for (int i = 0; i < 6; ++i) swarm.add();
    auto& stranger = swarm.add(false);
    Task const a(1, "p", 1);
    Task const b(2, "p", 1);
    a.keep(*swarm.nodes[1]);
    b.keep(*swarm.nodes[2]);
    swarm.wait(10s);
    auto const claims = dht::Id::of_text("p_task");
    for (int i = 0; i < 100; ++i)
      (void)store(swarm,
                  stranger,
                  claims,
                  task::detail::subkey(identity(1000 + i).peer_id()),
                  wire::Msgpack(true).encode(),
                  3600);
    (void)store(swarm,
                stranger,
                claims,
                wire::Msgpack("no peer").encode(),
                wire::Msgpack(true).encode(),
                3600);
    auto found = operators_of(swarm, *swarm.nodes[4], "p");
    std::sort(found.begin(), found.end());
    std::vector<PeerId> expected{a.record.operator_id, b.record.operator_id};
    std::sort(expected.begin(), expected.end());
    CHECK(found == expected);
    CHECK(operators_of(swarm, *swarm.nodes[4], "nobody").empty());
  }

  TEST_CASE("the public directory shows only what was listed and verifies") {
    Swarm swarm;
    for (int i = 0; i < 6; ++i) swarm.add();
    auto& stranger = swarm.add(false);
    Task(1, "open1", 1).keep(*swarm.nodes[1], true);
    Task(1, "hidden", 1).keep(*swarm.nodes[1], false);
    swarm.wait(10s);
    Task(1, "open2", 1).keep(*swarm.nodes[2], true);  // another keeper: the first one's entry stays
    Task(2, "over", 2, true).keep(*swarm.nodes[3], true);
    swarm.wait(10s);
    auto const key = dht::Id::of_text("waggle/directory");
    wire::Msgpack::Array names;
    for (int i = 0; i < 40; ++i) names.emplace_back(cat("fake", i));
    (void)store(swarm,
                stranger,
                key,
                task::detail::subkey(identity(50).peer_id()),
                wire::Msgpack(names).encode(),
                3600);
    (void)store(swarm,
                stranger,
                key,
                task::detail::subkey(identity(51).peer_id()),
                wire::Msgpack("text").encode(),
                3600);
    (void)store(
        swarm, stranger, key, wire::Msgpack("x").encode(), wire::Msgpack(names).encode(), 3600);
    CHECK(listed_by(swarm, *swarm.nodes[4]) == std::vector<std::string>{"open1", "open2"});
  }

  TEST_CASE("whoever keeps a listed task lists it too, so that it outlives its operator's node") {
    Swarm swarm;
    for (int i = 0; i < 6; ++i) swarm.add();
    Task const task(1, "open", 1);
    task.keep(*swarm.nodes[1], true);
    // Keeping it once more for another reason does not take it off the list.
    task.keep(*swarm.nodes[1], false);
    swarm.wait(10s);
    CHECK(listed_by(swarm, *swarm.nodes[4]) == std::vector<std::string>{"open"});
    task.keep(*swarm.nodes[2], false);
    Task(1, "hidden", 1).keep(*swarm.nodes[2], false);
    swarm.wait(10s);
    swarm.nodes[1]->directory->stop_keeping(task.record.operator_id, "open");
    swarm.wait(10h);
    CHECK(listed_by(swarm, *swarm.nodes[4]) == std::vector<std::string>{"open"});
  }

  TEST_CASE(
      "the direct question is answered for kept records only, and survives strange askers and "
      "holders") {
    Swarm swarm;
    auto& holder = swarm.add();
    auto& asker = swarm.add(false);
    Task const task(1, "p", 1);
    task.keep(holder);
    auto ask = [](Node& node,
                  PeerId peer,
                  std::string key,
                  std::optional<Result<Bytes>>& out) -> Co<void> {
      auto answer = co_await task::detail::ask_directly(
          node.host, peer, std::move(key), node.host.runtime().now() + 10s);
      out.emplace(std::move(answer));
    };
    std::optional<Result<Bytes>> got;
    swarm.world.run(
        ask(asker, holder.host.self(), TaskRecord::key_text(task.record.operator_id, "p"), got));
    REQUIRE(*got);
    CHECK(**got == task.envelope);
    for (auto const& key :
         {std::string("waggle/task/x/p"), std::string(), std::string(5000, 'x')}) {
      swarm.world.run(ask(asker, holder.host.self(), key, got));
      CHECK(!*got);
    }
    auto lie = [](Node& node, net::Incoming in) -> Co<void> {
      auto const huge = *from_hex("ffffffff0f");
      (void)co_await in.stream->write(huge, node.host.runtime().now() + 10s);
    };
    auto const serving =
        asker.host.serve(std::string(task::detail::kTaskProtocol),
                         [&](net::Incoming in) { return lie(asker, std::move(in)); });
    swarm.world.run(ask(holder, asker.host.self(), "k", got));
    REQUIRE(!*got);
    CHECK(got->error().code == Errc::too_large);
  }
}
