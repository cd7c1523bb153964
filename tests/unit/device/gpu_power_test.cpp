// SPDX-License-Identifier: MIT
#include "core/device/gpu_power.hpp"

#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/device/fake_card.hpp"

using namespace waggle::device;
using waggle::test::Card;
using waggle::test::Tree;

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
    Tree const run;
    {
      GpuPowerCap cap(WAGGLE_FAKE_NVML, run.path);
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
    Tree const run;
    {
      GpuPowerCap cap(WAGGLE_FAKE_NVML, run.path);
      CHECK(cap.hold(320, kFirst) == "");
      CHECK(card.times_set() == 0);
      CHECK(cap.hold(150, kFirst) == "");
      card.put("180000 100000 350000 0 7");
    }
    CHECK(card.limit() == 180'000);
    CHECK(card.times_set() == 7);
  }

  TEST_CASE("one that somebody raises meanwhile is lowered again, and then theirs is put back") {
    Card const card;
    Tree const run;
    {
      GpuPowerCap cap(WAGGLE_FAKE_NVML, run.path);
      CHECK(cap.hold(320, kFirst) == "");
      card.put("340000 100000 350000 0 0");
      CHECK(cap.hold(320, kFirst) == "");
      CHECK(card.limit() == 320'000);
      card.put("330000 100000 350000 0 1");
      CHECK(cap.hold(320, kFirst) == "");
      CHECK(card.limit() == 320'000);
      CHECK(card.times_set() == 2);
      // Root's rights went: said, and lowered once they are back.
      card.put("350000 100000 350000 4 2");
      CHECK(says(cap.hold(320, kFirst), "nvidia-smi -pl 320"));
      card.put("350000 100000 350000 0 2");
      CHECK(cap.hold(320, kFirst) == "");
    }
    CHECK(card.limit() == 350'000);
    CHECK(std::filesystem::is_empty(run.path));
  }

  TEST_CASE("what a process that was killed left is put back by the next, not by one beside it") {
    Card const card;
    Tree const run;
    auto const killed = ::fork();
    if (killed == 0) {
      GpuPowerCap cap(WAGGLE_FAKE_NVML, run.path);
      ::_exit(cap.hold(150, kFirst).empty() ? 0 : 1);
    }
    int status = 1;
    REQUIRE(::waitpid(killed, &status, 0) == killed);
    CHECK(status == 0);
    CHECK(card.limit() == 150'000);
    {
      GpuPowerCap next(WAGGLE_FAKE_NVML, run.path);
      CHECK(next.hold(150, kFirst) == "");
      CHECK(card.limit() == 150'000);
      GpuPowerCap beside(WAGGLE_FAKE_NVML, run.path);
      CHECK(beside.hold(0, "") == "");
      CHECK(card.limit() == 150'000);
    }
    CHECK(card.limit() == 300'000);
    CHECK(std::filesystem::is_empty(run.path));
  }

  TEST_CASE("a note that is no note, or of a limit that is no longer there, changes nothing") {
    Card const card;
    Tree const run;
    for (auto const* const text :
         {"", "x", "1", "300000 200000", "300000 99999999999999999999", "-1 5", "150000 200000"}) {
      CAPTURE(text);
      run.put(std::string("waggle-gpu-power-") + kFirst, text);
      run.put("others", "kept");
      GpuPowerCap cap(WAGGLE_FAKE_NVML, run.path);
      CHECK(cap.hold(0, "") == "");
      CHECK(card.times_set() == 0);
      CHECK(!std::filesystem::exists(run.path / (std::string("waggle-gpu-power-") + kFirst)));
      CHECK(std::filesystem::exists(run.path / "others"));
    }
  }

  TEST_CASE("a refusal names the card, the limit, what is allowed and what to do") {
    Card const card("300000 100000 350000 4 0");
    Tree const run;
    GpuPowerCap cap(WAGGLE_FAKE_NVML, run.path);
    auto const refused = cap.hold(150, kFirst);
    for (auto const* const words :
         {"NVIDIA Fake 9000", "150 W", "100 to 350 W", "root", "nvidia-smi -pl 150"}) {
      CAPTURE(words);
      CHECK(says(refused, words));
    }
    CHECK(!says(refused, "run Waggle as root"));
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
    Tree const run;
    GpuPowerCap cap(WAGGLE_FAKE_NVML, run.path);
    CHECK(says(cap.hold(150, "0000:01:00.0"), "no card at 0000:01:00.0"));
    CHECK(says(cap.hold(150, ""), "the only one"));
    CHECK(says(cap.hold(150, kSecond), "no power limit"));
    GpuPowerCap none("libno-such-thing.so.1", run.path);
    CHECK(says(none.hold(150, kFirst), "libno-such-thing.so.1 is not there"));
    CHECK(none.hold(0, kFirst) == "");
    CHECK(card.times_set() == 0);
  }
}
