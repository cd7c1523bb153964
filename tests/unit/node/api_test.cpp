// SPDX-License-Identifier: MIT
#include "core/node/api.hpp"

#include <atomic>
#include <filesystem>
#include <thread>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

TEST_SUITE("Api") {
  TEST_CASE("serves the snapshot, metrics and health to its owner alone, and takes commands") {
    test::Folder const folder;
    auto const socket = folder.path / "api.sock";
    Latest<Snapshot> latest;
    std::atomic<int> paused{0};
    auto send = [&](Command command) -> Status {
      if (command.prefix == "unknown") return Error{Errc::not_found, "no such task"};
      ++paused;
      return ok();
    };
    auto api = Api::start(socket, latest, send);
    REQUIRE(api);

    struct stat info {};

    REQUIRE(::stat(socket.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);

    CHECK(!api_get(socket, "/healthz"));
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->peer_id = "12D3KooWtest";
    latest.set(snapshot);
    CHECK(api_get(socket, "/healthz").value_or("") == "ok\n");
    CHECK(api_get(socket, "/v1/snapshot").value_or("").find("12D3KooWtest") != std::string::npos);
    CHECK(api_get(socket, "/metrics").value_or("").find("waggle_uptime_seconds") !=
          std::string::npos);
    CHECK(!api_get(socket, "/nothing"));

    CHECK(api_post(socket, Command{Command::Kind::pause, "", {}}));
    CHECK(paused == 1);
    auto const refused = api_post(socket, Command{Command::Kind::pause, "unknown", {}});
    REQUIRE(!refused);
    CHECK(refused.error().detail.find("no such task") != std::string::npos);
  }

  TEST_CASE("no node: the error names the socket") {
    test::Folder const folder;
    auto const answer = api_get(folder.path / "api.sock", "/v1/snapshot");
    REQUIRE(!answer);
    CHECK(answer.error().code == Errc::not_found);
    CHECK(answer.error().detail.find("api.sock") != std::string::npos);
  }
}
