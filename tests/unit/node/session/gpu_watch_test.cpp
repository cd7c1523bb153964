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
    auto const advice = watch.look({}, {{"libcuda.so.1"}}, at(0));
    CHECK(advice.notice == "");
    CHECK(!advice.try_again);
  }

  TEST_CASE("one that was lost is told once, tried every five minutes, and told when it is back") {
    GpuWatch watch;
    CHECK(watch.look(kWorks, {}, at(0)).notice == "");
    CHECK(watch.asks(kLost, at(1)));
    auto const lost = watch.look(kLost, {{"/dev/nvidiactl"}}, at(1));
    for (auto const* const words :
         {"was lost", "unspecified launch failure", "/dev/nvidiactl", "5 minutes"}) {
      CAPTURE(words);
      CHECK(says(lost.notice, words));
    }
    CHECK(!says(lost.notice, "debugging"));
    CHECK(!lost.try_again);
    int tries = 0;
    for (int minute = 2; minute <= 61; ++minute) {
      auto const advice = watch.look(kLost, {{"/dev/nvidiactl"}}, at(minute));
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
    auto const first = watch.look(none, {{"libcuda.so.1", "/dev/nvidia0"}}, at(0));
    CHECK(says(first.notice, "libcuda.so.1, /dev/nvidia0"));
    CHECK(says(first.notice, "no GPU was found"));
    for (int minute = 1; minute < 60; ++minute)
      CHECK(!watch.look(none, {{"libcuda.so.1"}}, at(minute)).try_again);
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

  TEST_CASE("a limit too small for the model is told with both figures, and not tried again") {
    GpuWatch watch;
    CHECK(watch.look(kWorks, {}, at(0)).notice == "");
    GpuState small{true, false, "max_gpu_memory, 64 MiB: CUDA out of memory"};
    small.shortage = {std::uint64_t{64} << 20, (std::uint64_t{120} << 20) + 1};
    CHECK(!watch.asks(small, at(1)));
    CHECK(watch.look(small, {}, at(1)).notice ==
          "max_gpu_memory of 64 MiB is too small for this model, whose weights and gradients alone "
          "take 121 MiB; it trains on the processor. Raise max_gpu_memory, set it to 0 for no "
          "limit, or leave it so");
    for (int minute = 2; minute < 24 * 60; ++minute) {
      auto const advice = watch.look(small, {}, at(minute));
      CHECK(advice.notice == "");
      CHECK(!advice.try_again);
    }
    // Another one that is too small is another notice; one that is enough, the end of it.
    small.trouble = "max_gpu_memory, 100 MiB: CUDA out of memory";
    small.shortage->limit = std::uint64_t{100} << 20;
    CHECK(says(watch.look(small, {}, at(2000)).notice, "of 100 MiB"));
    CHECK(watch.look(kWorks, {}, at(2001)).notice == "");
  }

  TEST_CASE("a limit that holds the weights and no batch may not be alone to blame: tried again") {
    GpuWatch watch;
    GpuState tight{true, false, "max_gpu_memory, 64 MiB: CUDA out of memory"};
    tight.shortage = {std::uint64_t{64} << 20, std::uint64_t{60} << 20};
    CHECK(
        watch.look(tight, {}, at(0)).notice ==
        "max_gpu_memory of 64 MiB, or what other programs leave of the GPU's memory, is too small "
        "for this model, whose weights and gradients alone take 60 MiB; it trains on the "
        "processor. Raise max_gpu_memory, or set it to 0 for no limit. It is tried again in 5 "
        "minutes, then more seldom");
    CHECK(watch.look(tight, {}, at(5)).try_again);
  }

  TEST_CASE("a card that is full is tried again, with no word of its driver") {
    GpuWatch watch;
    GpuState full{true, false, "CUDA out of memory"};
    full.shortage = {0, std::uint64_t{120} << 20};
    CHECK(watch.asks(full, at(0)));
    CHECK(
        watch.look(full, {}, at(0)).notice ==
        "the GPU's memory is too small for this model, whose weights and gradients alone take 120 "
        "MiB; it trains on the processor. Other programs may hold some of it, too. It is tried "
        "again in 5 minutes, then more seldom");
    CHECK(watch.look(full, {}, at(5)).try_again);
    CHECK(says(watch.look(kWorks, {}, at(6)).notice, "works again"));
    CHECK(says(watch.look(full, {}, at(7)).notice, "again every 5 minutes"));
  }

  TEST_CASE("an AMD trainer's driver is AMD's, and a trainer for other cards is told so") {
    GpuState const none{true, false, "no GPU was found"};
    GpuWatch amd;
    auto const missing =
        amd.look(none, {{"/dev/kfd", "/dev/dri/renderD*"}, device::GpuMaker::amd}, at(0)).notice;
    CHECK(says(missing, "Missing of AMD's driver: /dev/kfd, /dev/dri/renderD*; once"));
    CHECK(!says(missing, "NVIDIA"));
    GpuWatch all;
    CHECK(says(all.look(none, {{}, device::GpuMaker::amd}, at(0)).notice,
               "No file of AMD's driver is missing"));
    GpuWatch other;
    auto const wrong =
        other.look(none, {{"libcuda.so.1"}, device::GpuMaker::nvidia, true}, at(0)).notice;
    CHECK(says(wrong,
               "Its engine is for cards of NVIDIA, and this computer's is of AMD: choose a trainer "
               "that was built for that"));
    CHECK(!says(wrong, "libcuda"));
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
