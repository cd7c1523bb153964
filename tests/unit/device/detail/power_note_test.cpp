// SPDX-License-Identifier: MIT
#include "core/device/detail/power_note.hpp"

#include <doctest/doctest.h>

#include "tests/unit/device/tree.hpp"

using namespace waggle::device::detail;

TEST_CASE("power_note, what is to be put back stands in a file until it is removed") {
  waggle::test::Tree const run;
  CHECK(!has_notes(run.path));
  auto note = PowerNote::create(run.path, "0000:65:00.0");
  REQUIRE(note);
  CHECK(note.address() == "0000:65:00.0");
  CHECK(!note.read());
  CHECK(note.write({200'000, 300'000}));
  CHECK(note.write({90'000, 300'000}));
  CHECK(note.read() == LoweredLimit{90'000, 300'000});
  CHECK(has_notes(run.path));
  note.remove();
  CHECK(!note);
  CHECK(!note.write({1, 2}));
  CHECK(std::filesystem::is_empty(run.path));
}

TEST_CASE("power_note, one of a process that lives is nobody else's; of one that ended it is") {
  waggle::test::Tree const run;
  run.put("others", "kept");
  {
    auto const note = PowerNote::create(run.path, "a");
    REQUIRE(note.write({1, 2}));
    CHECK(left_notes(run.path).empty());
    CHECK(!PowerNote::create(run.path, "a"));
  }
  auto left = left_notes(run.path);
  REQUIRE(left.size() == 1);
  CHECK(left[0].address() == "a");
  CHECK(left[0].read() == LoweredLimit{1, 2});
  CHECK(left_notes(run.path).empty());
  left[0].remove();
  CHECK(!has_notes(run.path));
  CHECK(std::filesystem::exists(run.path / "others"));
}

TEST_CASE(
    "power_note, limits that nobody lowers so are none, and so is a folder that is not there") {
  for (auto const* const text :
       {"", "x", "1", "1 2 3", "300000 200000", "1 1", "0 5", "-1 5", "1 100000001", "1  2"}) {
    CAPTURE(text);
    CHECK(!LoweredLimit::parse(text));
  }
  CHECK(LoweredLimit::parse("1 100000000"));
  CHECK(!PowerNote::create("/no/such/folder", "a"));
  CHECK(!has_notes("/no/such/folder"));
  CHECK(left_notes("/no/such/folder").empty());
}
