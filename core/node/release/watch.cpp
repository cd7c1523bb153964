// SPDX-License-Identifier: MIT
#include "core/node/release/watch.hpp"

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/node/settings/config.hpp"

namespace waggle::node {
namespace {

constexpr Duration kFirstLook = std::chrono::seconds(5);
constexpr Duration kLook = std::chrono::seconds(30);  // at the setting
constexpr Duration kAskEvery = std::chrono::hours(3);
constexpr Duration kAskRetry = std::chrono::minutes(5);
constexpr Duration kAskTime = std::chrono::seconds(30);

// Hex of the highest notice seen.
constexpr std::string_view kSeenSetting = "release_notice";

}  // namespace

ReleaseWatch::ReleaseWatch(Services& services, std::optional<PeerId> key)
    : services_(services),
      rule_(services.dht().add_rule(std::make_shared<ReleaseRule>())),
      scope_(services.runtime()) {
  if (key) scope_.spawn("release watch", watch(*key));
}

Co<void> ReleaseWatch::close() {
  co_await scope_.close();
  rule_.reset();
}

Co<bool> ReleaseWatch::agreed() {
  auto read = [folder = services_.options().data_dir] { return read_config(folder); };
  auto const config = co_await on(services_.disk(), services_.runtime(), std::move(read));
  co_return config.update_notice;
}

Co<void> ReleaseWatch::watch(PeerId key) {
  auto& runtime = services_.runtime();
  bool recalled = false;
  TimePoint next{};
  auto const waited = co_await runtime.sleep_for(kFirstLook);
  if (!waited) co_return;
  for (;;) {
    bool const asking = co_await agreed();
    if (scope_.cancelled()) co_return;
    if (asking && !recalled) {
      recalled = true;
      auto read = [&store = services_.store()] { return store.setting(kSeenSetting); };
      auto const seen = co_await on(services_.disk(), runtime, std::move(read));
      if (scope_.cancelled()) co_return;
      if (seen && *seen)
        if (auto envelope = from_hex(**seen)) take(key, *std::move(envelope));
    }
    if (asking && runtime.now() >= next) {
      auto const asked = co_await ask(key);
      if (!asked && asked.error().code == Errc::cancelled) co_return;
      if (!asked) log::debug("node", "no release notice: ", asked.error().detail);
      next = runtime.now() + (asked ? kAskEvery : kAskRetry);
    }
    auto const slept = co_await runtime.sleep_for(kLook);
    if (!slept) co_return;
  }
}

Co<Status> ReleaseWatch::ask(PeerId key) {
  auto const deadline = services_.runtime().now() + kAskTime;
  auto const place = dht::Id::of_text(ReleaseNotice::key_text(key));
  WAGGLE_CO_TRY(auto const found,
                co_await services_.dht().get(place, dht::Freshness::latest, deadline));
  if (found.regular)
    if (auto envelope = unwrap_notice(found.regular->value)) take(key, *std::move(envelope));
  // Also where the DHT has lost it, or has an older one.
  if (envelope_.empty()) co_return ok();
  auto const until = services_.runtime().now() + kAskTime;
  auto envelope = envelope_;
  co_return co_await store_notice(services_.dht(), key, std::move(envelope), until);
}

void ReleaseWatch::take(PeerId const& key, Bytes envelope) {
  auto const notice = ReleaseNotice::open(envelope, key);
  if (!notice) {
    log::debug("node", notice.error().detail);
    return;
  }
  auto const version = ReleaseVersion::parse(notice->version);
  if (!version || (highest_ && *version <= *highest_)) return;
  highest_ = *version;
  envelope_ = std::move(envelope);
  services_.disk().post([&store = services_.store(), text = to_hex(envelope_)] {
    if (auto const kept = store.put_setting(kSeenSetting, text); !kept)
      log::warning("store", kept.error().detail);
  });
  auto const& own_text = services_.options().version;
  auto const own = ReleaseVersion::parse(own_text);
  if (own && *version > *own)
    services_.notice(
        cat("there is Waggle ", notice->version, ", this is ", own_text, ": ", notice->text));
}

Co<Status> store_notice(dht::Dht& dht, PeerId key, Bytes envelope, TimePoint deadline) {
  dht::Record record;
  record.key = dht::Id::of_text(ReleaseNotice::key_text(key));
  record.value = wrap_notice(envelope);
  record.expiration = dht.time() + to_seconds(kReleaseRecordTime);
  WAGGLE_CO_TRY(bool const taken, co_await dht.store(std::move(record), deadline));
  if (!taken) co_return Error{Errc::not_found, "no node took the release notice"};
  co_return ok();
}

}  // namespace waggle::node
