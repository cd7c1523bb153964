// SPDX-License-Identifier: MIT
#include "core/device/quiet_hours.hpp"

#include <random>

#include <doctest/doctest.h>

using namespace waggle::device;

namespace {

QuietHours parse(std::string_view text) {
  auto const hours = QuietHours::parse(text);
  REQUIRE(hours);
  return *hours;
}

constexpr int at(int hour, int minute) {
  return 60 * hour + minute;
}

}  // namespace

TEST_SUITE("quiet hours") {
  TEST_CASE("go past midnight and belong to the day on which they begin") {
    auto const night = parse("22:00-07:00");
    CHECK(night.minutes_left({0, at(22, 0)}) == 9 * 60);
    CHECK(night.minutes_left({0, at(6, 59)}) == 1);
    CHECK(!night.minutes_left({0, at(7, 0)}));
    CHECK(!night.minutes_left({0, at(21, 59)}));
    auto const saturday = parse("sat 22:00-07:00");
    CHECK(saturday.minutes_left({5, at(23, 0)}));
    CHECK(saturday.minutes_left({6, at(3, 0)}));
    CHECK(!saturday.minutes_left({5, at(3, 0)}));
    CHECK(!saturday.minutes_left({6, at(23, 0)}));
    CHECK(parse("sun 22:00-07:00").minutes_left({0, at(1, 0)}));
  }

  TEST_CASE("days are single, listed or a range, over the week's end too") {
    CHECK(parse("mon-fri 09:00-17:00").days == 0b0011111U);
    CHECK(parse("sat,sun 10:00-12:30").days == 0b1100000U);
    CHECK(parse("sat-mon,wed 10:00-12:30").days == 0b1100101U);
    CHECK(parse("22:00-07:00").days == 0b1111111U);
    CHECK(parse("00:00-24:00").minutes_left({3, at(13, 0)}) == at(11, 0));
  }

  TEST_CASE("what is wrong is refused with an example") {
    for (char const* const bad : {"",
                                  " ",
                                  "22-7",
                                  "22:00",
                                  "22:00-",
                                  "22:60-07:00",
                                  "25:00-07:00",
                                  "24:01-07:00",
                                  "2:00-07:00",
                                  "22:00 - 07:00",
                                  "sat22:00-07:00",
                                  "sat, sun 22:00-07:00",
                                  "sat, 22:00-07:00",
                                  "Sat 22:00-07:00",
                                  "mon- 22:00-07:00",
                                  ",mon 22:00-07:00",
                                  "-1:00-07:00",
                                  "22:00-07:000",
                                  "mon 22:00-07:00 "}) {
      CAPTURE(bad);
      auto const hours = QuietHours::parse(bad);
      REQUIRE(!hours);
      CHECK(hours.error().detail.find("22:00-07:00") != std::string::npos);
    }
  }

  TEST_CASE("in every minute of the week: inside exactly when some span that began covers it") {
    std::mt19937 chance(4);
    for (int round = 0; round < 20; ++round) {
      QuietHours const hours{static_cast<unsigned>(chance() % 128),
                             static_cast<int>(chance() % 1440),
                             static_cast<int>(chance() % 1440)};
      int const length =
          hours.end > hours.begin ? hours.end - hours.begin : hours.end - hours.begin + 1440;
      for (int minute = 0; minute < 7 * 1440; minute += 7) {
        std::optional<int> expected;
        for (int day = 0; day < 7; ++day) {
          if ((hours.days >> day & 1U) == 0) continue;
          int const since = (minute - (day * 1440 + hours.begin) + 7 * 1440) % (7 * 1440);
          if (since < length) expected = std::max(expected.value_or(0), length - since);
        }
        CHECK(hours.minutes_left({minute / 1440, minute % 1440}) == expected);
      }
    }
  }

  TEST_CASE("the last to end counts, and the clock is written as clocks are") {
    std::vector<QuietHours> const both{parse("22:00-07:00"), parse("06:00-08:00")};
    CHECK(minutes_left(both, {0, at(6, 30)}) == 90);
    CHECK(!minutes_left(both, {0, at(12, 0)}));
    CHECK(clock_text(at(7, 5)) == "07:05");
    CHECK(clock_text(at(23, 0) + 120) == "01:00");
  }
}
