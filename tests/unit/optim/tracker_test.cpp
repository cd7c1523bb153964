// SPDX-License-Identifier: MIT
#include "core/optim/tracker.hpp"

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/dht/rsa_validator.hpp"

#include "tests/support/temp_folder.hpp"
#include "tests/unit/optim/swarm.hpp"

using namespace waggle;
using namespace std::chrono_literals;
using test::OptimSwarm;

namespace {

struct Tracked {
  Tracked(OptimSwarm& swarm, OptimSwarm::Peer& p, std::size_t n) : peer(p) {
    std::shared_ptr<crypto::RecordKey const> const key(std::shared_ptr<void>(),
                                                       &test::record_key(n));
    signing = p.dht->add_validator(std::make_shared<dht::RsaValidator>(key));
    optim::TrackerOptions o;
    o.run_id = "toy";
    o.target_batch_size = 128;
    tracker = std::make_unique<optim::ProgressTracker>(*p.host, *p.dht, *key, o);
    (void)swarm;
    tracker->start();
    tracker->set_joining(false);
    tracker->entered(3);
  }

  OptimSwarm::Peer& peer;
  net::Registration signing;
  std::unique_ptr<optim::ProgressTracker> tracker;
};

// How many lines of `file` hold `text`.
std::size_t lines_with(std::filesystem::path const& file, std::string const& text) {
  auto const content = read_file(file, 1 << 20);
  REQUIRE(content.has_value());
  auto const all = to_string(*content);
  std::size_t n = 0;
  for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("ProgressTracker: peers that never met find each other's progress within a second") {
  OptimSwarm swarm(60);
  std::vector<std::unique_ptr<Tracked>> all;
  for (std::size_t i = 0; i < 3; ++i) {
    auto& peer = swarm.add_bare();
    all.push_back(std::make_unique<Tracked>(swarm, peer, i));
  }
  for (auto& t : all) CHECK(!t->tracker->view().has_peers);
  for (auto& t : all) t->tracker->trained(16, 100ms);
  swarm.run_for(1500ms);
  for (auto& t : all) {
    auto const view = t->tracker->view();
    CHECK(view.progress.peers == 3);
    CHECK(view.progress.samples_accumulated == 48);
    CHECK(view.progress.samples_per_second == doctest::Approx(480).epsilon(0.01));
    CHECK(t->tracker->expected().peers.size() == 2);
  }
  // Leaving withdraws the record.
  swarm.world.run(all[2]->tracker->close());
  all[2]->tracker.reset();
  swarm.run_for(12s);
  CHECK(all[0]->tracker->view().progress.peers == 2);
  for (std::size_t i = 0; i < 2; ++i) swarm.world.run(all[i]->tracker->close());
}

TEST_CASE("ProgressTracker: who has trained nothing says nothing, who is silent withdraws") {
  OptimSwarm swarm(61);
  Tracked a(swarm, swarm.add_bare(), 0);
  Tracked b(swarm, swarm.add_bare(), 1);
  a.tracker->trained(16, 100ms);
  swarm.run_for(12s);  // who has no rate of its own looks every ten seconds
  CHECK(a.tracker->view().progress.peers == 1);
  CHECK(b.tracker->view().progress.peers == 2);
  a.tracker->set_silent(true);
  swarm.run_for(12s);
  CHECK(b.tracker->view().progress.peers == 1);
  swarm.world.run(a.tracker->close());
  swarm.world.run(b.tracker->close());
}

TEST_CASE("ProgressTracker: a flood of records of invented peers changes nothing") {
  OptimSwarm swarm(62);
  Tracked a(swarm, swarm.add_bare(), 0);
  Tracked b(swarm, swarm.add_bare(), 1);
  a.tracker->trained(16, 100ms);
  b.tracker->trained(16, 100ms);
  swarm.run_for(2s);
  auto& liar = swarm.add_bare();
  std::vector<dht::Record> records;
  std::vector<net::Registration> signing;
  for (std::size_t i = 0; i < 10; ++i) {
    auto const& key = test::record_key(2 + i % 8);
    std::shared_ptr<crypto::RecordKey const> const borrowed(std::shared_ptr<void>(), &key);
    if (i < 8)
      signing.push_back(liar.dht->add_validator(std::make_shared<dht::RsaValidator>(borrowed)));
    dht::Record r;
    r.key = dht::Id::of_text("toy_progress");
    r.subkey = optim::progress_subkey(key.openssh_public());
    optim::LocalProgress const p{sim::peer(500 + i), 4, 100, 500, liar.dht->time(), false};
    r.value = p.to_msgpack().encode();
    r.expiration = liar.dht->time() + 60;
    records.push_back(std::move(r));
  }
  auto store = [](OptimSwarm& s, OptimSwarm::Peer& p, std::vector<dht::Record> r) -> Co<void> {
    auto const stored = co_await p.dht->store_many(std::move(r), s.world.now() + 10s);
    CHECK(stored.has_value());
  };
  swarm.world.run(store(swarm, liar, std::move(records)));
  swarm.run_for(12s);
  auto const view = a.tracker->view();
  CHECK(view.progress.epoch == 3);
  CHECK(view.progress.peers == 2);
  CHECK(view.progress.samples_accumulated == 32);
  CHECK(view.progress.ignored.size() == 8);
  CHECK(a.tracker->expected().peers.size() == 1);
  signing.clear();
  swarm.world.run(a.tracker->close());
  swarm.world.run(b.tracker->close());
}

TEST_CASE("ProgressTracker: a connected companion without a record is said to be back once") {
  OptimSwarm swarm(63);
  Tracked a(swarm, swarm.add_bare(), 0);
  Tracked b(swarm, swarm.add_bare(), 1);
  test::TempFolder const folder;
  auto const back = crypto::short_text(b.peer.host->self()) + " is back";
  a.tracker->trained(16, 100ms);
  b.tracker->trained(16, 100ms);
  for (auto const* file : {"first", "second"}) {
    CAPTURE(file);
    swarm.run_for(12s);
    CHECK(a.tracker->view().progress.peers == 2);
    // Two epochs without a sample of its own: it says nothing more, and takes no leave.
    b.tracker->entered(4);
    b.tracker->entered(5);
    log::start(log::Level::info, folder / file);
    swarm.run_for(5min);
    log::start(log::Level::warning, "");
    CHECK(a.tracker->view().progress.peers == 1);
    CHECK(lines_with(folder / file, back) == 1);
    b.tracker->entered(3);
    b.tracker->trained(16, 100ms);
  }
  swarm.world.run(a.tracker->close());
  swarm.world.run(b.tracker->close());
}
