// SPDX-License-Identifier: MIT
#include "core/node/release/watch.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/file.hpp"

#include "tests/support/run.hpp"
#include "tests/support/temp_folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

Options options(std::filesystem::path folder) {
  Options out;
  out.data_dir = std::move(folder);
  out.listen_host = "127.0.0.1";
  return out;
}

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

Co<void> first_start(Runtime& runtime, std::filesystem::path folder, crypto::Identity const& key) {
  auto opened = Services::open(runtime, options(folder));
  REQUIRE(opened);
  auto& services = **opened;
  auto const begun = co_await services.begin();
  REQUIRE(begun);
  {
    ReleaseWatch watch(services, key.peer_id());
    co_await offer(services, key, "0.10.0");
    (void)co_await runtime.sleep_for(seconds(6));
    CHECK_MESSAGE(services.notices().empty(), "nobody agreed");
    co_await watch.close();
  }
  CHECK(write_file(folder / "waggle.toml", as_bytes("update_notice = true\n"), FileMode::secret));
  {
    ReleaseWatch watch(services, key.peer_id());
    co_await wait_for(services, "there is Waggle 0.10.0, this is 0.1.0: Rounds are faster.");
    co_await watch.close();
  }
  co_await services.close();
}

// The DHT has forgotten it, and somebody stores an older one.
Co<void> second_start(Runtime& runtime, std::filesystem::path folder, crypto::Identity const& key) {
  auto opened = Services::open(runtime, options(folder));
  REQUIRE(opened);
  auto& services = **opened;
  auto const begun = co_await services.begin();
  REQUIRE(begun);
  {
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
  co_await services.close();
}

// Our own version, and older ones, are no news.
Co<void> equal_start(Runtime& runtime, std::filesystem::path folder, crypto::Identity const& key) {
  auto started = options(folder);
  started.version = "0.10";
  auto opened = Services::open(runtime, std::move(started));
  REQUIRE(opened);
  auto& services = **opened;
  auto const begun = co_await services.begin();
  REQUIRE(begun);
  {
    ReleaseWatch watch(services, key.peer_id());
    (void)co_await runtime.sleep_for(seconds(6));
    CHECK_FALSE(said(services, "there is Waggle"));
    co_await watch.close();
  }
  co_await services.close();
}

Co<void> starts(Runtime& runtime, std::filesystem::path folder) {
  auto const key = crypto::Identity::generate();
  co_await first_start(runtime, folder, key);
  co_await second_start(runtime, folder, key);
  co_await equal_start(runtime, folder, key);
}

}  // namespace

TEST_CASE("release watch: nothing before a person agreed; then what is newer, and no older one") {
  test::TempFolder const folder;
  SystemRuntime runtime;
  test::run(runtime, starts(runtime, folder.path()));
}
