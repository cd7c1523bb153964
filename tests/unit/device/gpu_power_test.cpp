// SPDX-License-Identifier: MIT
#include "core/device/gpu_power.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tests/unit/device/fake_card.hpp"

using namespace waggle::device;
using waggle::test::Card;

namespace {

constexpr char kFirst[] = "0000:65:00.0";
constexpr char kSecond[] = "0000:b3:00.0";

bool says(std::string const& text, char const* words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_SUITE("GpuPowerCap") {
  TEST_CASE("the limit is set once, and what was there before is put back") {
    Card const card;
    {
      GpuPowerCap cap(WAGGLE_FAKE_NVML);
      CHECK(cap.hold(0, kFirst) == "");
      CHECK(card.times_set() == 0);
      CHECK(cap.hold(150, kFirst) == "");
      CHECK(cap.hold(150, kFirst) == "");
      CHECK(card.limit() == 150'000);
      CHECK(card.times_set() == 1);
      CHECK(cap.hold(0, "") == "");
      CHECK(card.limit() == 300'000);
      CHECK(cap.hold(200, kFirst) == "");
      // Another one: from the first limit, not from ours.
      CHECK(cap.hold(120, kFirst) == "");
      CHECK(card.limit() == 120'000);
    }
    CHECK(card.limit() == 300'000);
  }

  TEST_CASE("a limit that is lower already stays, and one that somebody set meanwhile, too") {
    Card const card;
    {
      GpuPowerCap cap(WAGGLE_FAKE_NVML);
      CHECK(cap.hold(320, kFirst) == "");
      CHECK(card.times_set() == 0);
      CHECK(cap.hold(150, kFirst) == "");
      card.put("180000 100000 350000 0 7");
    }
    CHECK(card.limit() == 180'000);
    CHECK(card.times_set() == 7);
  }

  TEST_CASE("a refusal names the card, the limit, what is allowed and what to do") {
    Card const card("300000 100000 350000 4 0");
    GpuPowerCap cap(WAGGLE_FAKE_NVML);
    auto const refused = cap.hold(150, kFirst);
    for (auto const* const words :
         {"NVIDIA Fake 9000", "150 W", "100 to 350 W", "root", "nvidia-smi -pl 150"}) {
      CAPTURE(words);
      CHECK(says(refused, words));
    }
    CHECK(cap.hold(150, kFirst) == refused);
    card.put("300000 100000 350000 999 0");
    CHECK(says(cap.hold(150, kFirst), "code 999"));
    // Below what the card allows: not even tried.
    auto const low = cap.hold(50, kFirst);
    CHECK(says(low, "50 W"));
    CHECK(says(low, "100 to 350 W"));
    CHECK(card.times_set() == 0);
    // And once the driver lets us, it holds.
    card.put("300000 100000 350000 0 0");
    CHECK(cap.hold(150, kFirst) == "");
    CHECK(card.limit() == 150'000);
  }

  TEST_CASE("no card there, none that is the only one, one without limits, no driver") {
    Card const card;
    GpuPowerCap cap(WAGGLE_FAKE_NVML);
    CHECK(says(cap.hold(150, "0000:01:00.0"), "no card at 0000:01:00.0"));
    CHECK(says(cap.hold(150, ""), "the only one"));
    CHECK(says(cap.hold(150, kSecond), "no power limit"));
    GpuPowerCap none("libno-such-thing.so.1");
    CHECK(says(none.hold(150, kFirst), "libno-such-thing.so.1 is not there"));
    CHECK(none.hold(0, kFirst) == "");
    CHECK(card.times_set() == 0);
  }
}
