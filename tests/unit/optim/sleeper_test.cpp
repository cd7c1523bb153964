// SPDX-License-Identifier: MIT
// A machine that stands still: its process is stopped, while clocks and the others go on.
#include <deque>

#include <doctest/doctest.h>

#include "core/optim/collaborative_optimizer.hpp"

#include "tests/unit/optim/swarm.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using namespace waggle::test;

namespace {

/// The World as a process sees it that can be stopped: what falls due meanwhile happens, late and
/// all at once, when it goes on.
class Stoppable final : public Runtime {
 public:
  explicit Stoppable(Runtime& world) : world_(world) {}

  TimePoint now() const noexcept override { return world_.now(); }

  double unix_time() const noexcept override { return world_.unix_time(); }

  void fill_random(std::span<std::byte> out) noexcept override { world_.fill_random(out); }

  asio::any_io_executor executor() const noexcept override { return world_.executor(); }

  TimerId call_at(TimePoint deadline, std::function<void()> f) override {
    auto const ours = ++last_;
    if (deadline == kNoDeadline) return ours;
    timers_[ours] = world_.call_at(deadline, [this, ours, f = std::move(f)] {
      if (!stopped) {
        timers_.erase(ours);
        f();
      } else {
        late_.emplace_back(ours, f);
      }
    });
    return ours;
  }

  void cancel(TimerId timer) noexcept override {
    if (auto const found = timers_.find(timer); found != timers_.end()) {
      world_.cancel(found->second);
      timers_.erase(found);
    }
  }

  void go_on() {
    stopped = false;
    auto const due = std::exchange(late_, {});
    for (auto const& [timer, f] : due)
      if (timers_.erase(timer) > 0) f();
  }

  bool stopped = false;

 private:
  Runtime& world_;
  TimerId last_ = 0;
  std::map<TimerId, TimerId> timers_;
  std::deque<std::pair<TimerId, std::function<void()>>> late_;
};

/// A MemoryHost on another Runtime.
class HostOn final : public net::Host {
 public:
  HostOn(sim::MemoryHost& host, Runtime& runtime) : host_(host), runtime_(runtime) {}

  Runtime& runtime() const noexcept override { return runtime_; }

  PeerId const& self() const noexcept override { return host_.self(); }

  Co<Result<std::unique_ptr<net::Stream>>> open(PeerId peer,
                                                std::string_view protocol,
                                                TimePoint deadline) override {
    return host_.open(peer, protocol, deadline);
  }

  net::Registration serve(std::string protocol, net::Handler handler) override {
    return host_.serve(std::move(protocol), std::move(handler));
  }

  void add_addresses(PeerId const& peer, std::span<wire::Multiaddr const> addresses) override {
    host_.add_addresses(peer, addresses);
  }

  Co<Status> connect(PeerId peer, TimePoint deadline) override {
    return host_.connect(peer, deadline);
  }

  bool connected(PeerId const& peer) const override { return host_.connected(peer); }

  std::vector<net::PeerInfo> peers() const override { return host_.peers(); }

  std::vector<wire::Multiaddr> addresses() const override { return host_.addresses(); }

 private:
  sim::MemoryHost& host_;
  Runtime& runtime_;
};

Co<void> run_optimizer(optim::CollaborativeOptimizer& optimizer) {
  std::function<bool(optim::EpochReport const&)> never = [](optim::EpochReport const&) {
    return false;
  };
  (void)co_await optimizer.run(0, std::move(never));
}

Co<void> join(dht::Dht& dht, Runtime& world) {
  auto const ready = co_await dht.bootstrap(world.now() + 20s);
  CHECK(ready);
}

Co<void> end(Scope& scope,
             optim::CollaborativeOptimizer& optimizer,
             dht::Dht& dht,
             sim::MemoryHost& host) {
  co_await scope.close();
  co_await optimizer.close();
  co_await dht.close();
  co_await host.close();
}

// Ten virtual minutes in some hundred epochs. After two, too, no record of the sleeper's lives.
constexpr Duration kBatchTime = 200ms;
constexpr std::size_t kMinutes = kWhole ? 10 : 2;

}  // namespace

TEST_CASE("swarm: a machine that stands still for minutes slows one round, and rejoins") {
  OptimSwarm swarm(31);
  std::vector<OptimSwarm::Peer*> peers;
  auto const model = logistic();
  for (int i = 0; i < 3; ++i) {
    peers.push_back(&swarm.add(model));
    peers.back()->trainer->batch_time = kBatchTime;
  }

  Stoppable runtime(swarm.world);
  // The fourth host; its number in the network is 3.
  sim::MemoryHost host(swarm.network, sim::peer(100));
  HostOn on(host, runtime);
  dht::Options dht_options;
  for (auto* p : peers) dht_options.initial_peers.push_back(p->host->self());
  dht::Dht dht(on, std::move(dht_options));
  swarm.world.run(join(dht, swarm.world));
  ToyTrainer trainer(runtime, model, 77'000);
  trainer.batch_time = kBatchTime;
  optim::CollaborativeOptimizer optimizer(
      on, dht, swarm.compute, record_key(7), trainer, swarm.options);
  std::vector<optim::EpochReport> reports;
  optimizer.on_epoch([&](optim::EpochReport const& r) { reports.push_back(r); });
  Scope scope(swarm.world);
  for (auto* p : peers) swarm.start(*p);
  scope.spawn("sleeper", run_optimizer(optimizer));
  REQUIRE(swarm.run_until_epoch(peers, 8, 120s));
  REQUIRE(!reports.empty());
  CHECK(reports.back().averaged);
  CHECK(reports.back().gradients->group.size() == 4);

  runtime.stopped = true;
  swarm.network.links().cut = [&](std::uint32_t a, std::uint32_t b) {
    return runtime.stopped && (a == 3 || b == 3);
  };
  auto const at_stop = peers[0]->reports.size();
  auto const slept_with = reports.size();
  swarm.run_for(kMinutes * 1min);
  CHECK(reports.size() <= slept_with + 1);
  for (auto* p : peers) {
    REQUIRE(p->reports.size() > at_stop + 10 * kMinutes);
    std::size_t slow = 0;
    for (std::size_t i = at_stop; i < p->reports.size(); ++i) slow += p->reports[i].took > 2s;
    CHECK(slow <= 1);
    CHECK(p->reports.back().averaged);
    CHECK(p->reports.back().gradients->group.size() == 3);
  }

  auto const at_wake = peers[0]->reports.back().epoch;
  runtime.go_on();
  swarm.network.links().cut = nullptr;  // it outlives the runtime that it asked
  swarm.run_for(90s);
  REQUIRE(reports.size() > slept_with + 5);
  CHECK(reports.back().epoch > at_wake);
  CHECK(reports.back().averaged);
  CHECK(reports.back().gradients->group.size() == 4);
  for (auto* p : peers) {
    CHECK(p->reports.back().gradients->group.size() == 4);
    CHECK(p->optimizer->status().epoch <= optimizer.status().epoch + 1);
  }
  swarm.world.run(end(scope, optimizer, dht, host));
}
