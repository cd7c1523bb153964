// SPDX-License-Identifier: MIT
#include "core/node/release/watch.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/file.hpp"

#include "tests/support/run.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/node/release/started.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

bool said(Services const& services, std::string_view words) {
  return std::ranges::any_of(services.notices(), [&](std::string const& notice) {
    return notice.find(words) != std::string::npos;
  });
}

// Stores a notice, as anybody can who has it.
Co<void> offer(Services& services, crypto::Identity const& key, char const* version) {
  auto envelope = *ReleaseNotice{version, "Rounds are faster."}.seal(key);
  auto const deadline = services.runtime().now() + seconds(10);
  auto const id = key.peer_id();
  auto const stored = co_await store_notice(services.dht(), id, std::move(envelope), deadline);
  CHECK(stored);
}

Co<void> wait_for(Services& services, char const* words) {
  auto& runtime = services.runtime();
  auto const until = runtime.now() + seconds(20);
  while (!said(services, words) && runtime.now() < until)
    (void)co_await runtime.sleep_for(seconds(0.1));
  CHECK_MESSAGE(said(services, words), words);
}

Co<void> first_start(Services& services, crypto::Identity const& key) {
  {
    ReleaseWatch watch(services, key.peer_id());
    co_await offer(services, key, "0.10.0");
    (void)co_await services.runtime().sleep_for(seconds(6));
    CHECK_MESSAGE(services.notices().empty(), "nobody agreed");
    co_await watch.close();
  }
  auto const settings = services.options().data_dir / "waggle.toml";
  CHECK(write_file(settings, as_bytes("update_notice = true\n"), FileMode::secret));
  {
    ReleaseWatch watch(services, key.peer_id());
    co_await wait_for(services, "there is Waggle 0.10.0, this is 0.1.0: Rounds are faster.");
    co_await watch.close();
  }
}

// The DHT has forgotten it, and somebody stores an older one.
Co<void> second_start(Services& services, crypto::Identity const& key) {
  auto& runtime = services.runtime();
  ReleaseWatch watch(services, key.peer_id());
  co_await offer(services, key, "0.9.0");
  co_await wait_for(services, "there is Waggle 0.10.0");
  (void)co_await runtime.sleep_for(seconds(1));
  CHECK_FALSE(said(services, "0.9.0"));
  auto const place = dht::Id::of_text(ReleaseNotice::key_text(key.peer_id()));
  auto const deadline = runtime.now() + seconds(10);
  auto const found = co_await services.dht().get(place, dht::Freshness::latest, deadline);
  REQUIRE(found);
  REQUIRE(found->regular);
  auto const kept = ReleaseNotice::open(*unwrap_notice(found->regular->value), key.peer_id());
  REQUIRE(kept);
  CHECK(kept->version == "0.10.0");
  co_await watch.close();
}

// Our own version, and older ones, are no news.
Co<void> equal_start(Services& services, crypto::Identity const& key) {
  ReleaseWatch watch(services, key.peer_id());
  (void)co_await services.runtime().sleep_for(seconds(6));
  CHECK_FALSE(said(services, "there is Waggle"));
  co_await watch.close();
}

Co<void> starts(Runtime& runtime, std::filesystem::path folder) {
  auto const key = crypto::Identity::generate();
  auto options = test::alone(std::move(folder));
  std::function<Co<void>(Services&)> work = [&key](Services& s) { return first_start(s, key); };
  co_await test::with_services(runtime, options, std::move(work));
  work = [&key](Services& s) { return second_start(s, key); };
  co_await test::with_services(runtime, options, std::move(work));
  options.version = "0.10";
  work = [&key](Services& s) { return equal_start(s, key); };
  co_await test::with_services(runtime, std::move(options), std::move(work));
}

}  // namespace

TEST_CASE("release watch: nothing before a person agreed; then what is newer, and no older one") {
  test::TempFolder const folder;
  SystemRuntime runtime;
  test::run(runtime, starts(runtime, folder.path()));
}
