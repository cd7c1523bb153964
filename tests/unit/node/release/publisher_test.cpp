// SPDX-License-Identifier: MIT
#include "core/node/release/publisher.hpp"

#include <thread>

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/node/node.hpp"

#include "tests/support/temp_folder.hpp"
#include "tests/unit/node/release/started.hpp"

using namespace waggle;
using namespace waggle::node;

TEST_SUITE("release publisher") {
  TEST_CASE("a key is read from its file, or the file is named") {
    test::TempFolder const folder;
    CHECK(read_release_key(folder / "none").error().code == Errc::not_found);
    REQUIRE(write_file(folder / "junk", as_bytes("junk"), FileMode::secret));
    auto const junk = read_release_key(folder / "junk");
    REQUIRE(!junk);
    CHECK(junk.error().detail.find("junk: ") != std::string::npos);
    auto const made = crypto::Identity::load_or_create(folder / "release.key");
    REQUIRE(made);
    auto const read = read_release_key(folder / "release.key");
    REQUIRE(read);
    CHECK(read->peer_id() == made->peer_id());
  }

  TEST_CASE("a notice goes to a peer, and only a higher version follows it") {
    test::TempFolder const folder;
    auto const key = crypto::Identity::generate();
    auto const alone = publish_notice(test::alone(folder / "maker"), key, {"0.2.0", "Faster."});
    REQUIRE(!alone);
    CHECK(alone.error().detail.find("--peer") != std::string::npos);
    CHECK(publish_notice(test::alone(folder / "maker"), key, {"0.2.0", ""}).error().code ==
          Errc::invalid);

    auto seed = Node::start(test::alone(folder / "seed"), ServeJob{}, nullptr);
    REQUIRE(seed);
    std::shared_ptr<Snapshot const> snapshot;
    for (int i = 0; i < 200 && (!snapshot || snapshot->addresses.empty()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      snapshot = (*seed)->snapshot();
    }
    REQUIRE(snapshot);
    auto maker = test::alone(folder / "maker");
    auto const id = crypto::Identity::load_or_create(folder / "seed" / "identity.key");
    REQUIRE(id);
    maker.peers.push_back(
        wire::Multiaddr::parse(snapshot->addresses.front())->with_peer_id(id->peer_id()));
    Status const first = publish_notice(maker, key, {"0.2.0", "Faster."});
    CHECK_MESSAGE(first, (first ? std::string() : first.error().detail));
    auto const lower = publish_notice(maker, key, {"0.1.9", "Slower."});
    REQUIRE(!lower);
    CHECK(lower.error().code == Errc::refused);
    CHECK(lower.error().detail.find("0.2.0 is there already") != std::string::npos);
    CHECK(publish_notice(maker, key, {"0.10.0", "Faster still."}));
  }
}
