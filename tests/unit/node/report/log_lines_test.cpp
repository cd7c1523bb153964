// SPDX-License-Identifier: MIT
#include "core/node/report/log_lines.hpp"

#include <fstream>

#include <doctest/doctest.h>

#include "core/base/text.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

std::string line_of(std::string const& text) {
  return "2026-01-31T12:00:00.500Z info    node      " + text;
}

std::vector<std::string> read(LogReader& reader) {
  std::vector<std::string> out;
  CHECK(reader.read([&](log::Line const& line) { out.push_back(line.text); }));
  return out;
}

void append(std::filesystem::path const& path, std::string const& text) {
  std::ofstream(path, std::ios::app) << text;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE("log lines") {
  TEST_CASE("a line of the log is read back, and written alike") {
    auto const text = line_of("epoch 3  loss 0.5");
    auto const line = parse_log_line(text);
    REQUIRE(line);
    CHECK(line->time == doctest::Approx(1769860800.5));
    CHECK(line->level == log::Level::info);
    CHECK(line->module == "node");
    CHECK(line->text == "epoch 3  loss 0.5");
    CHECK(format_log_line(*line) == text);
    auto const longer = parse_log_line("2026-01-31T12:00:00.999Z warning averaging_long text");
    REQUIRE(longer);
    CHECK(longer->module == "averaging_long");
    CHECK(longer->text == "text");
    CHECK(parse_log_line(line_of(""))->text.empty());
  }

  TEST_CASE("what log::write() wrote is what is read") {
    test::Folder const folder;
    log::start({.to_stderr = log::Level::error,
                .kept = log::Level::debug,
                .file = (folder.path / "waggle.log").string()});
    log::debug("net", "dialled \n", 7);
    log::error("a_module_with_a_name", "群体");
    LogReader reader(folder.path);
    CHECK(read(reader) == Texts{"dialled \\x0a7", "群体"});
    log::start(log::Level::warning, "");
  }

  TEST_CASE("what is no line of the log is none") {
    for (char const* const bad : {"",
                                  "2026-01-31T12:00:00.500Z",
                                  "2026-01-31T12:00:00.500Z info   ",
                                  "2026-01-31T12:00:00.500Z loud    node      text",
                                  "2026-02-31T12:00:00.500Z info    node      text",
                                  "2026-01-31 12:00:00.500  info    node      text",
                                  "continued on the next line, long enough to be one itself"}) {
      CAPTURE(bad);
      CHECK(!parse_log_line(bad));
    }
  }

  TEST_CASE("a time is UTC, or so long ago") {
    CHECK(parse_utc("1970-01-01") == 0.0);
    CHECK(parse_utc("1970-01-02T00:01") == 86460.0);
    CHECK(parse_utc("2024-02-29T23:59:59.25Z") == doctest::Approx(1709251199.25));
    for (char const* const bad : {"1970",
                                  "1969-12-31",
                                  "1970-01-01T10:00:60",
                                  "1970-13-01",
                                  "2023-02-29",
                                  "1970-01-01T24:00",
                                  "1970-01-01T1:00",
                                  "1970-01-01T10:00:00.",
                                  "1970-01-01T10:00:0",
                                  "1970-01-01x",
                                  "1970/01/01"}) {
      CAPTURE(bad);
      CHECK(!parse_utc(bad));
    }
    CHECK(parse_since("90s", 1000) == 910.0);
    CHECK(parse_since("2m", 1000) == 880.0);
    CHECK(parse_since("1h", 10000) == 6400.0);
    CHECK(parse_since("1d", 100000) == 13600.0);
    CHECK(parse_since("1970-01-02", 5) == 86400.0);
    for (char const* const bad : {"", "s", "5", "-5s", "5w", "1.5h", "99999999999s"}) {
      CAPTURE(bad);
      CHECK(!parse_since(bad, 0));
    }
  }
}

TEST_SUITE("LogReader") {
  TEST_CASE("reads the old files first, then what comes, whole lines only") {
    test::Folder const folder;
    append(folder.path / "waggle.2.log", line_of("1") + "\n");
    append(folder.path / "waggle.1.log", line_of("2") + "\n");
    append(folder.path / "waggle.log", line_of("3") + "\n" + line_of("4").substr(0, 20));
    LogReader reader(folder.path);
    CHECK(read(reader) == Texts{"1", "2", "3"});
    append(folder.path / "waggle.log", line_of("4").substr(20) + "\n");
    CHECK(read(reader) == Texts{"4"});
    CHECK(read(reader).empty());
  }

  TEST_CASE("follows through a rotation without losing or repeating a line") {
    test::Folder const folder;
    auto const path = folder.path / "waggle.log";
    append(path, line_of("1") + "\n");
    LogReader reader(folder.path);
    CHECK(read(reader) == Texts{"1"});
    append(path, line_of("2") + "\n");
    std::filesystem::rename(path, folder.path / "waggle.1.log");
    append(path, line_of("3") + "\n");
    CHECK(read(reader) == Texts{"2", "3"});
    // Two at once.
    std::filesystem::rename(folder.path / "waggle.1.log", folder.path / "waggle.2.log");
    std::filesystem::rename(path, folder.path / "waggle.1.log");
    std::filesystem::rename(folder.path / "waggle.2.log", folder.path / "waggle.3.log");
    std::filesystem::rename(folder.path / "waggle.1.log", folder.path / "waggle.2.log");
    append(folder.path / "waggle.1.log", line_of("4") + "\n");
    append(path, line_of("5") + "\n");
    CHECK(read(reader) == Texts{"4", "5"});
  }

  TEST_CASE("follows the log as it is really written and rotated") {
    test::Folder const folder;
    log::start({.to_stderr = log::Level::error,
                .kept = log::Level::info,
                .file = (folder.path / "waggle.log").string(),
                .file_bytes = 2000,
                .older_files = 3});
    LogReader reader(folder.path);
    Texts all;
    for (int i = 0; i < 300; ++i) {
      log::info("node", i);
      if (i % 7 == 0)
        for (auto& text : read(reader)) all.push_back(std::move(text));
    }
    for (auto& text : read(reader)) all.push_back(std::move(text));
    log::start(log::Level::warning, "");
    REQUIRE(all.size() == 300);
    for (int i = 0; i < 300; ++i) CHECK(all[static_cast<std::size_t>(i)] == cat(i));
  }

  TEST_CASE("no log at all is named; a line without end takes no memory") {
    test::Folder const folder;
    LogReader reader(folder.path);
    auto const none = reader.read([](log::Line const&) {});
    REQUIRE(!none);
    CHECK(none.error().code == Errc::not_found);
    append(folder.path / "waggle.log", std::string(1 << 20, 'x') + "\n" + line_of("after") + "\n");
    CHECK(read(reader) == Texts{"after"});
  }
}
