// SPDX-License-Identifier: MIT
#include "core/node/control/client.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

#include "tests/unit/node/control/pair_of_machines.hpp"

using namespace waggle;
using namespace waggle::test;
using namespace waggle::node::control;
using node::Command;

namespace {

PeerId const kLaptop = sim::peer(2);

Contact server_contact() {
  Contact contact;
  contact.peer = sim::peer(1);
  contact.name = "server";
  return contact;
}

struct Watch {
  explicit Watch(Contacts paired) : network(world), laptop(network, kLaptop) {
    machine.emplace(network, 1, std::move(paired));
    machine->show(1);
    link.emplace(laptop, server_contact(), [this] { ++changes; });
    link->start();
  }

  ~Watch() {
    world.run(link->close());
    if (machine) world.run(machine->close());
    world.run(laptop.close());
  }

  Status gives(Command command, double patience = 10) {
    Status out = Error{Errc::timeout, "nothing"};
    auto const work = [](Link& l, Command c, TimePoint deadline, Status& into) -> Co<void> {
      into = co_await l.give(std::move(c), deadline);
    };
    world.run(work(*link, std::move(command), world.now() + seconds(patience), out));
    return out;
  }

  sim::World world{3};
  sim::MemoryNetwork network;
  std::optional<WatchedMachine> machine;
  sim::MemoryHost laptop;
  int changes = 0;
  std::optional<Link> link;
};

}  // namespace

TEST_SUITE("control client") {
  TEST_CASE("snapshots come by themselves, at most one a second") {
    Watch watch(may(kLaptop, Right::control));
    watch.world.run_for(seconds(0.5));
    REQUIRE(watch.link->state() == LinkState::watching);
    CHECK(watch.link->snapshot()->time == 1);
    CHECK(watch.link->contact().right == Right::control);
    int const before = watch.changes;
    for (int i = 2; i < 102; ++i) {
      watch.machine->show(i);
      watch.world.run_for(seconds(0.1));
    }
    CHECK(watch.link->snapshot()->time > 90);
    CHECK(watch.changes - before <= 12);
    CHECK(watch.changes - before >= 8);
  }

  TEST_CASE("commands are answered, each by its own answer") {
    Watch watch(may(kLaptop, Right::control));
    CHECK(watch.gives({.kind = Command::Kind::pause, .prefix = "stripes"}));
    REQUIRE(watch.machine->commands.size() == 1);
    CHECK(watch.machine->commands.front().prefix == "stripes");
    watch.machine->answer = Error{Errc::invalid, "no such task"};
    auto const no = watch.gives({.kind = Command::Kind::resume});
    REQUIRE_FALSE(no);
    CHECK(no.error().code == Errc::refused);
    CHECK(no.error().detail == "no such task");
  }

  TEST_CASE("a machine that goes silent is lost, with when and why, and found again") {
    Watch watch(may(kLaptop, Right::watch));
    watch.world.run_for(seconds(2));
    REQUIRE(watch.link->state() == LinkState::watching);
    watch.machine->host.kill(/*silent=*/true);
    watch.world.run_for(Link::kSilence + seconds(5));
    CHECK(watch.link->state() == LinkState::lost);
    CHECK_FALSE(watch.link->why().empty());
    CHECK(watch.link->snapshot() != nullptr);
    CHECK(watch.link->since() > 1.8e9);
    CHECK_FALSE(watch.gives({.kind = Command::Kind::pause}, 3));
    watch.world.run(watch.machine->close());
    watch.machine.reset();
    watch.machine.emplace(watch.network, 1, may(kLaptop, Right::watch));
    watch.machine->show(50);
    watch.world.run_for(Link::kLongestWait + seconds(10));
    CHECK(watch.link->state() == LinkState::watching);
    CHECK(watch.link->snapshot()->time == 50);
  }

  TEST_CASE("who was removed says so, and does not hammer") {
    Watch watch(may(kLaptop, Right::control));
    watch.world.run_for(seconds(2));
    int opened = 0;
    watch.network.on_open = [&](auto const&, auto const&, auto) { ++opened; };
    REQUIRE(watch.machine->server->remove(kLaptop));
    watch.world.run_for(seconds(3));
    CHECK(watch.link->state() == LinkState::refused);
    CHECK(watch.link->why().find("waggle pair") != std::string::npos);
    auto const no = watch.gives({.kind = Command::Kind::stop});
    REQUIRE_FALSE(no);
    CHECK(no.error().code == Errc::refused);
    watch.world.run_for(seconds(600));
    CHECK(opened <= 12);
    CHECK(watch.machine->commands.empty());
  }

  TEST_CASE("a command whose answer is lost says that it may or may not have been done") {
    Watch watch(may(kLaptop, Right::control));
    watch.world.run_for(seconds(2));
    Status out = ok();
    Scope scope(watch.world);
    auto const work = [](Link& l, TimePoint deadline, Status& into) -> Co<void> {
      Command stop{.kind = Command::Kind::stop};
      into = co_await l.give(std::move(stop), deadline);
    };
    scope.spawn("give", work(*watch.link, watch.world.now() + seconds(30), out));
    watch.machine->host.kill();
    watch.world.run_for(seconds(2));
    REQUIRE_FALSE(out);
    CHECK(out.error().code == Errc::closed);
    watch.world.run(scope.close());
  }

  TEST_CASE("a machine that lies in its answers loses the stream, nothing else") {
    sim::World world(5);
    sim::MemoryNetwork network(world);
    sim::MemoryHost liar(network, sim::peer(1));
    sim::MemoryHost laptop(network, kLaptop);
    int asked = 0;
    auto const lie = [](net::Incoming incoming, Runtime& runtime, int n) -> Co<void> {
      std::vector<Reply> const lies{View{to_bytes("no zstd")},
                                    Answer{1, true, {}},
                                    Pong{},
                                    PairAnswer{},
                                    Welcome{kVersion, "x", Right::watch}};
      auto const frame = encode(lies[static_cast<std::size_t>(n) % lies.size()]);
      auto const deadline = runtime.now() + seconds(5);
      (void)co_await net::write_frame(*incoming.stream, frame, deadline);
      (void)co_await net::write_frame(*incoming.stream, frame, deadline);
      (void)co_await runtime.sleep_for(seconds(1));
    };
    auto const registration = liar.serve(std::string(kProtocol), [&](net::Incoming incoming) {
      return lie(std::move(incoming), world, asked++);
    });
    Link link(laptop, server_contact(), [] {});
    link.start();
    world.run_for(seconds(300));
    CHECK(asked >= 5);
    CHECK(link.snapshot() == nullptr);
    CHECK(link.state() != LinkState::watching);
    world.run(link.close());
    world.run(laptop.close());
    world.run(liar.close());
  }
}
