// SPDX-License-Identifier: MIT
#include "core/node/observer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <asio/post.hpp>
#include <unistd.h>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/jobs.hpp"
#include "core/node/services.hpp"

namespace waggle::node {
namespace {

constexpr Duration kLedgerEvery = std::chrono::seconds(10);  // it changes once an epoch
constexpr Duration kLedgerMost = std::chrono::seconds(60);
constexpr double kHour = 3600;
constexpr double kDay = 24 * kHour;
constexpr double kMostWeeks = 52;

ContributionView view_of(store::LedgerSum const& sum) {
  return {sum.samples, sum.rounds, sum.gigaflop, sum.seconds / 3600, sum.kwh};
}

// `count` spans up to `end`, those in which nothing was given too.
std::vector<SpanView> spans(store::Store const& store,
                            double end,
                            double width,
                            std::size_t count) {
  double const since = end - width * static_cast<double>(count);
  std::vector<SpanView> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i].begin = since + width * static_cast<double>(i);
  auto const found = store.ledger_spans(since, width, count);
  if (!found) return all;
  for (auto const& span : *found) {
    auto const at = static_cast<std::size_t>(std::max(0.0, (span.begin - since) / width + 0.5));
    if (at < count) all[at] = {all[at].begin, span.samples, span.seconds / 3600, span.kwh};
  }
  return all;
}

/// What the ledger says, read at once on the store's thread.
struct LedgerLook {
  std::array<store::LedgerSum, 3> sums;
  std::vector<SpanView> by_hour;
  std::vector<SpanView> by_day;
  std::vector<SpanView> by_week;
};

LedgerLook look_at(store::Store const& store, double now) {
  LedgerLook look;
  std::array<double, 3> const since{now - kDay, now - 7 * kDay, 0};
  for (std::size_t i = 0; i < look.sums.size(); ++i)
    if (auto sum = store.ledger_sum("", since[i])) look.sums[i] = *sum;
  // Whole hours, so that a sample stays in its span while time goes on.
  double const end = std::ceil(now / kHour) * kHour;
  look.by_hour = spans(store, end, kHour, 24);
  look.by_day = spans(store, end, kDay, 7);
  auto const first = store.ledger_begin();
  double const weeks = first && *first && **first < end ? (end - **first) / (7 * kDay) : 0;
  auto const shown = static_cast<std::size_t>(std::clamp(std::ceil(weeks), 1.0, kMostWeeks));
  look.by_week = spans(store, end, 7 * kDay, shown);
  return look;
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

Observer::Observer(Services& services, JobRunner& runner, Snapshots& into)
    : services_(services),
      runner_(runner),
      into_(into),
      started_(services.runtime().now()),
      wants_(services.runtime()),
      scope_(services.runtime()) {
}

void Observer::begin() {
  publish();
  // Nothing is known but who we are: whoever asks waits for the next.
  into_.outdate();
  scope_.spawn("observer", serve());
  into_.made_by([this, executor = services_.runtime().executor()] {
    asio::post(executor, [this] {
      wanted_ = true;
      wants_.notify_all();
    });
  });
}

Observer::~Observer() = default;

Co<void> Observer::close() {
  into_.made_by(nullptr);
  co_await scope_.close();
}

Co<void> Observer::read_ledger() {
  double const now = services_.runtime().unix_time();
  auto read = [&store = services_.store(), now] { return look_at(store, now); };
  auto look = co_await on(services_.disk(), services_.runtime(), std::move(read));
  today_ = view_of(look.sums[0]);
  week_ = view_of(look.sums[1]);
  all_ = view_of(look.sums[2]);
  by_hour_ = std::move(look.by_hour);
  by_day_ = std::move(look.by_day);
  by_week_ = std::move(look.by_week);
}

void Observer::publish() {
  auto& runtime = services_.runtime();
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
    snapshot->settings = guest->settings();
  }
  snapshot->today = today_;
  snapshot->week = week_;
  snapshot->all_time = all_;
  snapshot->by_hour = by_hour_;
  snapshot->by_day = by_day_;
  snapshot->by_week = by_week_;
  snapshot->socket_bytes_in = services_.swarm().socket_bytes_in();
  snapshot->socket_bytes_out = services_.swarm().socket_bytes_out();
  snapshot->dht_table = services_.dht().table_size();
  snapshot->dht_records = services_.dht().stored_records();
  snapshot->clock_offset = services_.dht().clock_offset();
  snapshot->notices = services_.notices();
  if (also_) also_(*snapshot);
  into_.set(std::move(snapshot));
}

Co<void> Observer::serve() {
  auto& runtime = services_.runtime();
  auto ledger_read = runtime.now();
  co_await read_ledger();
  publish();
  for (;;) {
    while (!wanted_) {
      auto const woken = co_await wants_.wait();
      if (!woken) co_return;
    }
    wanted_ = false;
    runner_.looked_at();
    auto const age = runtime.now() - ledger_read;
    // A busy disk keeps nobody from the rest, but sums of an hour ago are not shown.
    if (age < kLedgerMost) publish();
    if (age < kLedgerEvery) continue;
    ledger_read = runtime.now();
    co_await read_ledger();
    if (age >= kLedgerMost) publish();
  }
}

}  // namespace waggle::node
