// SPDX-License-Identifier: MIT
#include "ui/format.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace waggle::ui;

TEST_CASE("counts are grouped, and shortened where nobody reads the end") {
  auto const en = Language::english;
  CHECK(count(0, en) == "0");
  CHECK(count(2.5, en) == "2.5");
  CHECK(count(950, en) == "950");
  CHECK(count(12'992, en) == "12,992");
  CHECK(count(1'234'567, en) == "1.23 M");
  CHECK(count(45e9, en) == "45.0 G");
  CHECK(count(123'400, Language::chinese) == "12.34 万");
  CHECK(count(std::numeric_limits<double>::infinity(), en) == "–");
}

TEST_CASE("bytes have three digits and a unit") {
  CHECK(bytes(0) == "0 B");
  CHECK(bytes(512) == "512 B");
  CHECK(bytes(999.9) == "1.00 kB");
  CHECK(bytes(32'120'343) == "32.1 MB");
  CHECK(bytes(1e18) == "1000 PB");
}

TEST_CASE("durations name their two largest units") {
  auto const en = Language::english;
  CHECK(duration(4.4, en) == "4 s");
  CHECK(duration(200, en) == "3 min 20 s");
  CHECK(duration(7200, en) == "2 h");
  CHECK(duration(3 * 86'400 + 4 * 3600, en) == "3 d 4 h");
  CHECK(duration(200, Language::chinese) == "3 分 20 秒");
  CHECK(duration(-1, en) == "–");
}

TEST_CASE("shares are written with a digit") {
  CHECK(percent(0) == "0 %");
  CHECK(percent(0.7519) == "75.2 %");
  CHECK(percent(1) == "100 %");
}

TEST_CASE("a PeerID is told by its end") {
  CHECK(short_id("12D3KooWFfi9KVLNoTsARYETUH2Sg5GbPnUXjCFJatDZG2bGig7x") == "Ffi9…ig7x");
  CHECK(short_id("short") == "short");
}

TEST_CASE("a key to be read aloud stands in groups of four, whole") {
  CHECK(readable_key("12D3KooWFf") == "12D3 KooW Ff");
  CHECK(readable_key("12D3") == "12D3");
  CHECK(readable_key("").empty());
}

TEST_CASE("a date is two figures for the month and two for the day") {
  auto const words = date(1'796'000'000);
  REQUIRE(words.size() == 5);
  CHECK(words[2] == '-');
}

TEST_CASE("bytes that are no letters become dots, and a new line a space") {
  CHECK(printable("in the\nbeginning\x01\xff") == "in the beginning..");
  CHECK(printable("").empty());
}
