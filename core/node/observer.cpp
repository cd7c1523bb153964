// SPDX-License-Identifier: MIT
#include "core/node/observer.hpp"

#include <array>

#include <unistd.h>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/jobs.hpp"
#include "core/node/services.hpp"

namespace waggle::node {
namespace {

constexpr Duration kPeriod = std::chrono::milliseconds(500);
constexpr int kLedgerEvery = 10;  // periods: the ledger changes once an epoch
constexpr double kDay = 86'400;

ContributionView view_of(store::LedgerSum const& sum) {
  return {sum.samples, sum.rounds, sum.gigaflop, sum.seconds / 3600};
}

PeerView view_of(net::PeerInfo const& peer, TimePoint now) {
  PeerView view;
  view.id = crypto::to_text(peer.id);
  view.address = peer.address.text();
  view.agent = peer.agent;
  view.relayed = peer.relayed;
  view.inbound = peer.inbound;
  if (peer.round_trip) view.round_trip_ms = 1000 * to_seconds(*peer.round_trip);
  view.bytes_in = peer.bytes_in;
  view.bytes_out = peer.bytes_out;
  view.connected_for = to_seconds(now - peer.since);
  return view;
}

}  // namespace

Observer::Observer(Services& services, JobRunner& runner, Latest<Snapshot>& into)
    : services_(services),
      runner_(runner),
      into_(into),
      started_(services.runtime().now()),
      scope_(services.runtime()) {
  scope_.spawn("observer", watch());
}

Observer::~Observer() = default;

Co<void> Observer::close() {
  co_await scope_.close();
}

Co<void> Observer::read_ledger() {
  double const now = services_.runtime().unix_time();
  auto read = [&store = services_.store(), now] {
    std::array<store::LedgerSum, 3> sums;
    std::array<double, 3> const since{now - kDay, now - 7 * kDay, 0};
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (auto sum = store.ledger_sum("", since[i])) sums[i] = *sum;
    return sums;
  };
  auto const sums = co_await on(services_.disk(), services_.runtime(), std::move(read));
  today_ = view_of(sums[0]);
  week_ = view_of(sums[1]);
  all_ = view_of(sums[2]);
}

Co<void> Observer::watch() {
  auto& runtime = services_.runtime();
  for (int tick = 0;; ++tick) {
    if (tick % kLedgerEvery == 0) co_await read_ledger();
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->version = services_.options().version;
    snapshot->pid = ::getpid();
    snapshot->time = runtime.unix_time();
    snapshot->uptime = to_seconds(runtime.now() - started_);
    snapshot->peer_id = crypto::to_text(services_.swarm().self());
    for (auto const& address : services_.swarm().addresses())
      snapshot->addresses.push_back(address.text());
    for (auto const& peer : services_.swarm().peers())
      snapshot->peers.push_back(view_of(peer, runtime.now()));
    snapshot->tasks = runner_.tasks();
    snapshot->known_tasks = runner_.known_tasks();
    if (auto const* const guest = runner_.guest()) {
      snapshot->guest = guest->view();
      snapshot->machine = guest->machine();
    }
    snapshot->today = today_;
    snapshot->week = week_;
    snapshot->all_time = all_;
    snapshot->socket_bytes_in = services_.swarm().socket_bytes_in();
    snapshot->socket_bytes_out = services_.swarm().socket_bytes_out();
    snapshot->dht_table = services_.dht().table_size();
    snapshot->dht_records = services_.dht().stored_records();
    snapshot->clock_offset = services_.dht().clock_offset();
    snapshot->notices = services_.notices();
    if (also_) also_(*snapshot);
    into_.set(std::move(snapshot));
    auto const slept = co_await runtime.sleep_for(kPeriod);
    if (!slept) co_return;
  }
}

}  // namespace waggle::node
