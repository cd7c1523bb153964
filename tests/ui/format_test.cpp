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
  CHECK(duration(180, Language::chinese) == "3 分钟");
  CHECK(duration(-1, en) == "–");
}

TEST_CASE("a duration beside an axis does not change each second") {
  auto const en = Language::english;
  CHECK(rough_duration(30, en) == "30 s");
  CHECK(rough_duration(849, en) == "14 min");
  CHECK(rough_duration(3593, en) == "1 h");
  CHECK(rough_duration(6000, en) == "1 h 40 min");
}

TEST_CASE("how long something took has a digit that says something, in the language's unit") {
  CHECK(took(0.0225, Language::english) == "0.02 s");
  CHECK(took(5.39, Language::english) == "5.4 s");
  CHECK(took(5.39, Language::chinese) == "5.4 秒");
  CHECK(took(59.96, Language::english) == "1 min");
  CHECK(took(-1, Language::english) == "–");
}

TEST_CASE("memory is counted as it is sold") {
  CHECK(binary_bytes(0) == "0 B");
  CHECK(binary_bytes(512.0 * 1024 * 1024) == "512 MiB");
  CHECK(binary_bytes(16'655'286'272.0) == "15.5 GiB");
  CHECK(binary_bytes(12'884'901'888.0) == "12 GiB");
  CHECK(binary_bytes(212.4e9) == "198 GiB");
  CHECK(binary_bytes(1023.9) == "1 KiB");
}

TEST_CASE("a speed is grouped once it is large") {
  CHECK(speed(0.4, Language::english) == "0.400");
  CHECK(speed(51.94, Language::english) == "51.9");
  CHECK(speed(4297.3, Language::english) == "4,297");
}

TEST_CASE("a little electricity is said with one digit") {
  CHECK(kilowatt_hours(0) == "0 Wh");
  CHECK(kilowatt_hours(0.0000065) == "< 0.1 Wh");
  CHECK(kilowatt_hours(0.00021) == "0.2 Wh");
  CHECK(kilowatt_hours(0.169) == "169 Wh");
  CHECK(kilowatt_hours(1.234) == "1.23 kWh");
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
  CHECK(printable("起初 é") == "起初 é");
  // Cut, too long, half of a pair, a control, beyond 16 bits.
  CHECK(printable("\xe8\xb5") == "..");
  CHECK(printable("\xc0\xaf\xe0\x80\x80") == ".....");
  CHECK(printable("\xed\xa0\x80") == "...");
  CHECK(printable("\xc2\x85") == "..");
  CHECK(printable("\xf0\x9f\x90\x9d") == "....");
}
