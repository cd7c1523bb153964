// SPDX-License-Identifier: MIT
#include "core/node/release/publisher.hpp"

#include "core/base/file.hpp"
#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/node/release/watch.hpp"
#include "core/node/services.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kMaxKeyBytes = 4096;
constexpr Duration kJoinTime = std::chrono::seconds(60);
constexpr Duration kStoreTime = std::chrono::seconds(60);

Co<Status> store_newest(Services& services, PeerId key, ReleaseNotice notice, Bytes envelope) {
  auto& runtime = services.runtime();
  auto& dht = services.dht();
  WAGGLE_CO_TRY_STATUS(co_await services.joined(runtime.now() + kJoinTime));
  if (dht.table_size() == 0)
    co_return Error{Errc::not_found,
                    "no peer is known that could keep the notice; name one with --peer"};
  auto const place = dht::Id::of_text(ReleaseNotice::key_text(key));
  auto const search_until = runtime.now() + kStoreTime;
  WAGGLE_CO_TRY(auto const found, co_await dht.get(place, dht::Freshness::latest, search_until));
  auto const there = found.regular ? unwrap_notice(found.regular->value) : std::nullopt;
  if (there && *there != envelope) {
    auto const before = ReleaseNotice::open(*there, key);
    auto const old = before ? ReleaseVersion::parse(before->version) : Error{Errc::not_found, ""};
    auto const fresh = ReleaseVersion::parse(notice.version);
    if (old && fresh && *old >= *fresh)
      co_return Error{Errc::refused,
                      cat("a notice of version ",
                          before->version,
                          " is there already; one of ",
                          notice.version,
                          " would be ignored: only a higher version counts")};
  }
  auto const store_until = runtime.now() + kStoreTime;
  co_return co_await store_notice(dht, key, std::move(envelope), store_until);
}

Co<void> publish(
    Services& services, PeerId key, ReleaseNotice notice, Bytes envelope, Status& outcome) {
  outcome = co_await services.begin();
  if (outcome) {
    ReleaseWatch watch(services, std::nullopt);
    outcome = co_await store_newest(services, key, std::move(notice), std::move(envelope));
    co_await watch.close();
  }
  co_await services.close();
}

}  // namespace

Result<crypto::Identity> read_release_key(std::filesystem::path const& file) {
  WAGGLE_TRY(auto const bytes, read_file(file, kMaxKeyBytes));
  auto key = crypto::Identity::from_protobuf(bytes);
  if (!key) return Error{Errc::malformed, cat(file.string(), ": ", key.error().detail)};
  if (key->public_key().type() != crypto::KeyType::ed25519)
    return Error{Errc::refused, cat(file.string(), " holds no Ed25519 key")};
  return key;
}

Status publish_notice(Options options, crypto::Identity const& key, ReleaseNotice const& notice) {
  WAGGLE_TRY(auto envelope, notice.seal(key));
  SystemRuntime runtime;
  WAGGLE_TRY(auto const services, Services::open(runtime, std::move(options)));
  Status outcome = Error{Errc::cancelled, "stopped"};
  {
    Scope root(runtime);
    root.spawn("release notice",
               publish(*services, key.peer_id(), notice, std::move(envelope), outcome));
    runtime.run_to_completion();
  }
  return outcome;
}

}  // namespace waggle::node
