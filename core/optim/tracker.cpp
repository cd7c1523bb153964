// SPDX-License-Identifier: MIT
#include "core/optim/tracker.hpp"

#include <algorithm>
#include <utility>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::optim {

namespace {

// Judging is quadratic in records; those never met are kept few.
constexpr std::size_t kMostRecords = 512;
constexpr std::size_t kMostStrangers = 64;
constexpr Duration kStoreTimeout = std::chrono::seconds(10);
constexpr Duration kFetchTimeout = std::chrono::seconds(10);
constexpr Duration kWithdrawTimeout = std::chrono::seconds(1);
// Two fetches are never closer, whoever asks.
constexpr Duration kFetchPause = std::chrono::milliseconds(100);

// Seconds. Who takes no part looks now and then only, and sleeps meanwhile.
constexpr double kSilentFetch = 30;

}  // namespace

ProgressTracker::ProgressTracker(net::Host& host,
                                 dht::Dht& dht,
                                 crypto::RecordKey const& record_key,
                                 TrackerOptions options)
    : host_(host),
      runtime_(host.runtime()),
      dht_(dht),
      options_(std::move(options)),
      key_(dht::Id::of_text(progress_key(options_.run_id))),
      subkey_(progress_subkey(record_key.openssh_public())),
      companions_(host,
                  dht,
                  {.back =
                       [this] {
                         fetch_soon_ = dirty_ = urgent_ = true;
                         fetch_wanted_.notify_all();
                         publish_wanted_.notify_all();
                       },
                   .dialled = [this] { news_.notify_all(); }}),
      belief_(host.self(), options_.target_batch_size, options_.refresh),
      publish_wanted_(runtime_),
      fetch_wanted_(runtime_),
      news_(runtime_),
      scope_(runtime_) {
  us_.peer = host.self();
  us_.samples_per_second = kNoRate;
  us_.client_mode = options_.client_mode;
}

ProgressTracker::~ProgressTracker() = default;

void ProgressTracker::start() {
  scope_.spawn("publish progress", publish_loop());
  scope_.spawn("fetch progress", fetch_loop());
}

Co<void> ProgressTracker::close() {
  bool const withdraw = published_;
  co_await scope_.close();
  co_await companions_.close();
  if (withdraw) (void)co_await publish(true);
}

void ProgressTracker::trained(std::uint64_t samples, Duration interval) {
  if (samples == 0) return;
  us_.samples_accumulated += samples;
  if (!ema_.measured()) {
    // Without a rate the epoch had no end in sight, and the next fetch was far.
    fetch_soon_ = true;
    fetch_wanted_.notify_all();
  }
  ema_.update(samples, std::max(1e-9, to_seconds(interval)));
  us_.samples_per_second = ema_.samples_per_second();
  last_active_epoch_ = us_.epoch;
  dirty_ = true;
  publish_wanted_.notify_all();
}

void ProgressTracker::dropped() {
  us_.samples_accumulated = 0;
  dirty_ = true;
  publish_wanted_.notify_all();
}

void ProgressTracker::entered(std::int64_t epoch) {
  us_.epoch = epoch;
  us_.samples_accumulated = 0;
  entered_at_ = dht_.time();
  belief_.entered(epoch, entered_at_);
  dirty_ = urgent_ = true;
  fetch_soon_ = true;
  publish_wanted_.notify_all();
  fetch_wanted_.notify_all();
}

void ProgressTracker::renumber(std::int64_t epoch) {
  us_.epoch = epoch;
  belief_.entered(epoch, entered_at_);
  if (last_active_epoch_ >= 0) last_active_epoch_ = epoch;
  dirty_ = urgent_ = true;
  publish_wanted_.notify_all();
}

void ProgressTracker::set_joining(bool joining) {
  joining_ = joining;
}

void ProgressTracker::set_silent(bool silent) {
  if (silent == silent_) return;
  silent_ = silent;
  fetch_soon_ = true;
  fetch_wanted_.notify_all();
  withdraw_ = silent && published_;
  dirty_ = urgent_ = true;
  publish_wanted_.notify_all();
}

void ProgressTracker::round_begins() {
  (void)view();
  belief_.round_begins();
  round_seconds_ = dht_.time() - entered_at_;
}

void ProgressTracker::came_along(std::span<PeerId const> group) {
  belief_.came_along(group);
}

void ProgressTracker::round_over(averaging::RoundReport const* report,
                                 std::span<PeerId const> waited_for) {
  if (report) {
    belief_.took_part(report->group, report->weights, round_seconds_);
    attendance_.round(waited_for, report->group, dht_.time());
  } else {
    belief_.took_part({}, {}, 0);
    attendance_.round(waited_for, {}, dht_.time());
  }
}

void ProgressTracker::fell_silent(std::span<PeerId const> peers) {
  for (auto const& peer : peers) {
    belief_.stayed_behind(peer);
    attendance_.missed(peer, dht_.time());
  }
}

View ProgressTracker::view() {
  us_.time = dht_.time();
  companions_.look(claims_);
  return belief_.judge(us_, joining_, claims_, us_.time);
}

averaging::Expected ProgressTracker::expected() {
  averaging::Expected expected;
  auto const now = view();
  for (auto const& p : now.peers) {
    if (!p.believed || !p.connected || !attendance_.expected(p.peer)) continue;
    // A record one epoch old is that of a peer that has just stepped; nobody need miss a round
    // because the DHT is slower than an epoch.
    if (p.epoch < us_.epoch - 1 || p.epoch > us_.epoch + 1) continue;
    expected.peers.push_back(p.peer);
  }
  return expected;
}

double ProgressTracker::weight_limit(PeerId const& peer) const {
  return belief_.weight_limit(peer, dht_.time());
}

Co<void> ProgressTracker::publish_loop() {
  auto last = runtime_.now() - options_.publish_every;
  auto const half = seconds(options_.expiration / 2);
  for (;;) {
    while (!dirty_ && !withdraw_) {
      auto const waited = co_await publish_wanted_.wait(silent_ ? kNoDeadline : last + half);
      if (waited) continue;
      if (waited.error().code == Errc::cancelled) co_return;
      break;
    }
    while (!urgent_ && runtime_.now() < last + options_.publish_every) {
      auto const waited = co_await publish_wanted_.wait(last + options_.publish_every);
      if (!waited && waited.error().code == Errc::cancelled) co_return;
    }
    bool const nil = withdraw_;
    dirty_ = urgent_ = withdraw_ = false;
    last = runtime_.now();
    if (silent_ && !nil) continue;
    // Who has nothing to give stays silent, as in hivemind.
    if (!nil && (last_active_epoch_ < 0 || last_active_epoch_ < us_.epoch - 1)) continue;
    auto const stored = co_await publish(nil);
    if (stored) continue;
    if (stored.error().code == Errc::cancelled) co_return;
    log::debug("optim", "progress not stored: ", stored.error().detail);
  }
}

Co<Status> ProgressTracker::publish(bool nil) {
  dht::Record record;
  record.key = key_;
  record.subkey = subkey_;
  us_.time = dht_.time();
  record.value = nil ? wire::Msgpack().encode() : us_.to_msgpack().encode();
  record.expiration = us_.time + options_.expiration;
  published_ = !nil;
  auto const deadline = runtime_.now() + (nil ? kWithdrawTimeout : kStoreTimeout);
  WAGGLE_CO_TRY(bool const stored, co_await dht_.store(std::move(record), deadline));
  if (!stored) co_return Error{Errc::refused, "no node took our progress record"};
  co_return ok();
}

Co<void> ProgressTracker::fetch_loop() {
  for (;;) {
    auto const began = runtime_.now();
    fetch_soon_ = false;
    auto const fetched = co_await fetch();
    if (!fetched) {
      if (fetched.error().code == Errc::cancelled) co_return;
      log::debug("optim", "progress not fetched: ", fetched.error().detail);
    }
    auto const now = view();
    auto const& [min, max] = std::pair(options_.refresh.min, options_.refresh.max);
    double const wait =
        silent_ ? kSilentFetch : std::clamp(now.progress.next_fetch - dht_.time(), min, max);
    while (runtime_.now() < began + kFetchPause ||
           (!fetch_soon_ && runtime_.now() < began + seconds(wait))) {
      auto const until = fetch_soon_ ? began + kFetchPause : began + seconds(wait);
      auto const waited = co_await fetch_wanted_.wait(until);
      if (!waited && waited.error().code == Errc::cancelled) co_return;
    }
  }
}

Co<Status> ProgressTracker::fetch() {
  auto const deadline = runtime_.now() + kFetchTimeout;
  WAGGLE_CO_TRY(auto const found, co_await dht_.get(key_, dht::Freshness::latest, deadline));
  std::vector<Claim> claims;
  std::size_t strangers = 0;
  if (found.dictionary) {
    for (auto const& [subkey, timed] : *found.dictionary) {
      if (subkey == subkey_ || claims.size() >= kMostRecords) continue;
      auto const value = wire::Msgpack::decode(timed.value);
      if (!value) continue;
      if (value->is_nil()) {
        // It took leave.
        for (auto const& claim : claims_)
          if (claim.owner == subkey) companions_.took_leave(claim.progress.peer);
        continue;
      }
      auto progress = LocalProgress::from_msgpack(*value);
      if (!progress) {
        log::debug("optim", progress.error().detail);
        continue;
      }
      if (progress->peer == us_.peer) continue;
      attendance_.news(progress->peer, progress->time);
      Claim claim;
      claim.connected = host_.connected(progress->peer);
      claim.seen = companions_.met(progress->peer);
      if (!claim.seen && ++strangers > kMostStrangers) continue;
      claim.progress = std::move(*progress);
      claim.owner = subkey;
      claims.push_back(std::move(claim));
    }
  }
  claims_ = std::move(claims);
  ++fetches_;
  companions_.meet(claims_);
  news_.notify_all();
  co_return ok();
}

Co<Status> ProgressTracker::refresh(TimePoint deadline) {
  auto const before = fetches_;
  while (fetches_ == before) {
    fetch_soon_ = true;
    fetch_wanted_.notify_all();
    WAGGLE_CO_TRY_STATUS(co_await news_.wait(deadline));
  }
  co_return ok();
}

}  // namespace waggle::optim
