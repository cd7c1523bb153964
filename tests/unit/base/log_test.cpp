// SPDX-License-Identifier: MIT
#include "core/base/log.hpp"

#include <doctest/doctest.h>

#include "core/base/file.hpp"

#include "tests/support/temp_folder.hpp"

using namespace waggle;

namespace {

std::string content(std::filesystem::path const& path) {
  auto const bytes = read_file(path, 1 << 20);
  REQUIRE(bytes);
  return to_string(*bytes);
}

}  // namespace

TEST_SUITE("log") {
  TEST_CASE("writes what is at or above its level, with time, level and module") {
    test::TempFolder const folder;
    auto const path = folder / "waggle.log";
    log::start(log::Level::info, path.string());
    CHECK(log::enabled(log::Level::info));
    CHECK(log::enabled(log::Level::error));
    CHECK(!log::enabled(log::Level::debug));
    log::debug("net", "unseen ", 1);
    log::info("net", "dialled ", "peer", " in ", 12, " ms");
    log::warning("dht", "late by ", 0.5, " s");
    log::error("store", "{} %s is no format");
    auto const text = content(path);
    CHECK(text.find("unseen") == std::string::npos);
    CHECK(text.find("dialled peer in 12 ms") != std::string::npos);
    CHECK(text.find("net ") != std::string::npos);
    CHECK(text.find("warning") != std::string::npos);
    CHECK(text.find("late by 0.5 s") != std::string::npos);
    CHECK(text.find("{} %s is no format") != std::string::npos);
    CHECK(text.find("Z info") != std::string::npos);
    log::start(log::Level::warning, "");
  }

  TEST_CASE("a later start replaces the level") {
    log::start(log::Level::error, "");
    CHECK(!log::enabled(log::Level::warning));
    log::start(log::Level::warning, "");
    CHECK(log::enabled(log::Level::warning));
    CHECK(!log::enabled(log::Level::info));
  }
}
