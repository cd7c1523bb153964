// SPDX-License-Identifier: MIT
#include "core/base/log.hpp"

#include <algorithm>
#include <filesystem>

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

  TEST_CASE("stderr and the file have levels of their own") {
    test::TempFolder const folder;
    auto const path = folder / "waggle.log";
    log::start({.to_stderr = log::Level::error, .kept = log::Level::info, .file = path.string()});
    CHECK(log::enabled(log::Level::info));
    CHECK(!log::enabled(log::Level::debug));
    log::info("node", "kept quietly");
    CHECK(content(path).find("info    node      kept quietly\n") != std::string::npos);
    log::start(log::Level::warning, "");
  }

  TEST_CASE("a text from a stranger is one line, without control characters, and ends somewhere") {
    CHECK(log::one_line("a\nb\x1b[31m\x7f") == "a\\x0ab\\x1b[31m\\x7f");
    CHECK(log::one_line("群体") == "群体");
    auto const cut = log::one_line(std::string(log::kMaxText - 1, 'x') + "群" + "rest");
    CHECK(cut == std::string(log::kMaxText - 1, 'x') + "…");
    test::TempFolder const folder;
    auto const path = folder / "waggle.log";
    log::start({.to_stderr = log::Level::error, .kept = log::Level::info, .file = path.string()});
    log::info("net", "agent \n2000-01-01T00:00:00.000Z error   node      forged");
    auto const text = content(path);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    log::start(log::Level::warning, "");
  }

  TEST_CASE("files are rotated by size, and only so many are kept") {
    test::TempFolder const folder;
    auto const path = folder / "waggle.log";
    log::start({.to_stderr = log::Level::error,
                .kept = log::Level::info,
                .file = path.string(),
                .file_bytes = 4096,
                .older_files = 2});
    for (int i = 0; i < 1000; ++i) log::info("node", "line ", i, std::string(100, '.'));
    std::uintmax_t all = 0;
    std::size_t files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(path.parent_path())) {
      all += entry.file_size();
      ++files;
    }
    CHECK(files == 3);
    CHECK(all <= 3 * 4096);
    CHECK(content(path).find("line 999") != std::string::npos);
    CHECK(std::filesystem::exists(folder / "waggle.1.log"));
    log::start(log::Level::warning, "");
  }

  TEST_CASE("a folder that takes no file does not stop the program") {
    log::start({.to_stderr = log::Level::error, .file = "/proc/no/such/folder/waggle.log"});
    log::warning("node", "still here");
    CHECK(log::recent(0).back().text == "still here");
    log::start(log::Level::warning, "");
  }

  TEST_CASE("the newest lines stay in memory, numbered without gaps") {
    log::start({.to_stderr = log::Level::error, .kept = log::Level::info, .file = ""});
    log::info("node", "one");
    auto const before = log::recent(0).back().number;
    log::info("node", "two");
    log::debug("node", "unseen");
    log::warning("net", "three");
    auto const lines = log::recent(before);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].number == before + 1);
    CHECK(lines[0].text == "two");
    CHECK(lines[1].number == before + 2);
    CHECK(lines[1].module == "net");
    CHECK(lines[1].level == log::Level::warning);
    CHECK(lines[1].time > 1.6e9);
    CHECK(log::recent(before + 2).empty());
    CHECK(log::recent(before + 100).empty());
    CHECK(log::recent(0, 1).front().text == "three");
    for (std::size_t i = 0; i < log::kLinesKept + 10; ++i) log::info("node", i);
    CHECK(log::recent(0).size() == log::kLinesKept);
    CHECK(log::recent(0).front().number == before + 2 + 11);
    log::start(log::Level::warning, "");
  }
}
