// SPDX-License-Identifier: MIT
#include "core/node/session/gpu_watch.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::node;

namespace {

TimePoint at(int minutes) {
  return TimePoint{std::chrono::hours(1) + std::chrono::minutes(minutes)};
}

bool says(std::string const& text, char const* words) {
  return text.find(words) != std::string::npos;
}

GpuState const kWorks{true, true, ""};
GpuState const kLost{true, false, "CUDA error: unspecified launch failure\nFor debugging, …"};

}  // namespace

TEST_SUITE("GpuWatch") {
  TEST_CASE("a trainer without an engine for GPUs is nothing to speak of") {
    GpuWatch watch;
    CHECK(!watch.asks({}, at(0)));
    auto const advice = watch.look({}, {"libcuda.so.1"}, at(0));
    CHECK(advice.notice == "");
    CHECK(!advice.try_again);
  }

  TEST_CASE("one that was lost is told once, tried every five minutes, and told when it is back") {
    GpuWatch watch;
    CHECK(watch.look(kWorks, {}, at(0)).notice == "");
    CHECK(watch.asks(kLost, at(1)));
    auto const lost = watch.look(kLost, {"/dev/nvidiactl"}, at(1));
    for (auto const* const words :
         {"was lost", "unspecified launch failure", "/dev/nvidiactl", "5 minutes"}) {
      CAPTURE(words);
      CHECK(says(lost.notice, words));
    }
    CHECK(!says(lost.notice, "debugging"));
    CHECK(!lost.try_again);
    int tries = 0;
    for (int minute = 2; minute <= 61; ++minute) {
      auto const advice = watch.look(kLost, {"/dev/nvidiactl"}, at(minute));
      CHECK(advice.notice == "");
      tries += advice.try_again ? 1 : 0;
    }
    CHECK(tries == 12);
    CHECK(says(watch.look(kWorks, {}, at(62)).notice, "works again"));
    CHECK(watch.look(kWorks, {}, at(63)).notice == "");
    CHECK(says(watch.look(kLost, {}, at(64)).notice, "No file of NVIDIA's driver is missing"));
  }

  TEST_CASE("where it never worked it is tried only once nothing is missing") {
    GpuWatch watch;
    GpuState const none{true, false, "no GPU was found"};
    auto const first = watch.look(none, {"libcuda.so.1", "/dev/nvidia0"}, at(0));
    CHECK(says(first.notice, "libcuda.so.1, /dev/nvidia0"));
    CHECK(says(first.notice, "no GPU was found"));
    for (int minute = 1; minute < 60; ++minute)
      CHECK(!watch.look(none, {"libcuda.so.1"}, at(minute)).try_again);
    CHECK(watch.look(none, {}, at(65)).try_again);
    // It did not help: ever more seldom.
    int tries = 0;
    for (int minute = 66; minute < 66 + 24 * 60; ++minute)
      tries += watch.look(none, {}, at(minute)).try_again ? 1 : 0;
    CHECK(tries >= 12);
    CHECK(tries <= 18);
    CHECK(watch.look(kWorks, {}, at(2000)).notice != "");
    CHECK(watch.look(kLost, {}, at(2001)).notice != "");
    CHECK(watch.look(kLost, {}, at(2006)).try_again);
  }

  TEST_CASE("a kernel without Landlock is told once, and nothing is tried for nothing") {
    GpuWatch watch;
    GpuState const closed{
        true,
        false,
        "this kernel has no Landlock, without which a GPU is not let into the sandbox",
        false};
    CHECK(!watch.asks(closed, at(0)));
    auto const first = watch.look(closed, {}, at(0)).notice;
    CHECK(says(first, "has no Landlock"));
    CHECK(says(first, "does not help"));
    for (auto const* const words : {"NVIDIA", "restart the computer", "minutes"}) {
      CAPTURE(words);
      CHECK(!says(first, words));
    }
    for (int minute = 1; minute < 24 * 60; ++minute) {
      auto const advice = watch.look(closed, {}, at(minute));
      CHECK(advice.notice == "");
      CHECK(!advice.try_again);
    }
  }

  TEST_CASE("a limit that is not held is told once") {
    GpuWatch watch;
    GpuState const open{true, true, "max_gpu_memory is not held: why"};
    CHECK(says(watch.look(open, {}, at(0)).notice, "max_gpu_memory"));
    CHECK(watch.look(open, {}, at(1)).notice == "");
    CHECK(watch.look(kWorks, {}, at(2)).notice == "");
    CHECK(says(watch.look(open, {}, at(3)).notice, "max_gpu_memory"));
  }

  TEST_CASE("a trainer's words are a stranger's: one line, cut") {
    GpuWatch watch;
    auto const notice =
        watch.look({true, false, std::string(5000, 'x') + "\x01"}, {}, at(0)).notice;
    CHECK(notice.size() < 700);
  }
}
