// SPDX-License-Identifier: MIT
#include <csignal>
#include <filesystem>

#include <doctest/doctest.h>
#include <unistd.h>

#include "core/base/text.hpp"
#include "core/worker/trainer_process.hpp"

#include "tests/support/run.hpp"

// What the node's end makes of a trainer whose GPU works, fails, or is not there. The trainer is a
// stand-in (fake_trainer.cpp): nothing here has met a GPU.
namespace waggle::worker {
namespace {

TrainerOptions options_for(char const* fate) {
  TrainerOptions options;
  options.config_json = fate;
  options.priority = Priority::normal;
  options.executable = WAGGLE_FAKE_TRAINER;
  return options;
}

TimePoint soon(Runtime& runtime) {
  return runtime.now() + std::chrono::seconds(20);
}

template <class F>
void with_trainer(char const* fate, F body) {
  SystemRuntime runtime;
  auto work = [](SystemRuntime& rt, TrainerOptions options, F const& f) -> Co<void> {
    auto started = co_await TrainerProcess::start(rt, std::move(options), soon(rt));
    REQUIRE(started);
    co_await f(rt, **started);
  };
  auto options = options_for(fate);
  test::run(runtime, work(runtime, std::move(options), body));
}

TEST_SUITE("TrainerProcess and the GPU") {
  TEST_CASE("one that works is used, and its time is counted") {
    with_trainer("well", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      CHECK(trainer.facts().device == "cuda:0 f32");
      CHECK(trainer.facts().gpu == "0000:65:00.0");
      CHECK(trainer.gpu_trouble() == "");
      for (int i = 0; i < 3; ++i) {
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        REQUIRE(batch);
        CHECK(batch->took == std::chrono::milliseconds(50));
      }
      CHECK(trainer.gpu_time() == std::chrono::milliseconds(120));
      auto const pid = trainer.pid();
      trainer.try_gpu();  // it has one
      auto const more = co_await trainer.accumulate(0, soon(rt));
      CHECK(more);
      CHECK(trainer.pid() == pid);
    });
  }

  TEST_CASE("lost in the middle of a batch: the batch is made on the processor, and counts once") {
    with_trainer("breaks", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      for (int i = 0; i < 5; ++i) {
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        REQUIRE(batch);
        CHECK(trainer.facts().device == (i < 2 ? "cuda:0 f32" : "cpu f32"));
      }
      CHECK(trainer.gradients()[0] == 20);
      CHECK(trainer.micro_batch() == 4);
      CHECK(trainer.facts().gpu == "");
      CHECK(trainer.gpu_trouble() == "CUDA error: no CUDA-capable device is detected");
      CHECK(!trainer.gpu_shortage());
      CHECK(trainer.restarts() == 1);
      trainer.try_gpu();
      auto const again = co_await trainer.accumulate(0, soon(rt));
      REQUIRE(again);
      CHECK(trainer.facts().device == "cuda:0 f32");
      CHECK(trainer.gpu_trouble() == "");
      CHECK(trainer.restarts() == 1);  // a wish is no death
      CHECK(trainer.gradients()[0] == 24);
    });
  }

  TEST_CASE("lost while the buffers are handed over, or never there: it trains on the processor") {
    for (auto const* const fate : {"short", "small", "absent"}) {
      CAPTURE(fate);
      with_trainer(fate, [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
        CHECK(trainer.facts().device == "cpu f32");
        CHECK(trainer.gpu_trouble() != "");
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        CHECK(batch);
        CHECK(trainer.gpu_time() == Duration{});
        // Another chance that fails leaves it as it was.
        trainer.try_gpu();
        auto const again = co_await trainer.accumulate(0, soon(rt));
        CHECK(again);
        CHECK(trainer.facts().device == "cpu f32");
        CHECK(trainer.gpu_trouble() != "");
        CHECK(trainer.gradients()[0] == 8);
      });
    }
  }

  TEST_CASE("a limit below what the model needs is told with both figures, and another is tried") {
    with_trainer("small", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      CHECK(trainer.gpu_shortage() == GpuShortage{0, 32});  // of the card's own memory
      trainer.set_gpu_memory_limit(std::uint64_t{64} << 20);
      auto const batch = co_await trainer.accumulate(0, soon(rt));
      CHECK(batch);
      CHECK(trainer.facts().device == "cpu f32");
      CHECK(trainer.gpu_shortage() == GpuShortage{std::uint64_t{64} << 20, 32});
      CHECK(trainer.last_trouble().find("lost") == std::string::npos);
      CHECK(trainer.gpu_trouble().find("max_gpu_memory, 64 MiB, is too small") == 0);
    });
  }

  TEST_CASE("the machine's own memory is too small: the GPU is not to blame") {
    with_trainer("crowded", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      auto const batch = co_await trainer.accumulate(0, soon(rt));
      CHECK(batch.error().code == Errc::too_large);
      CHECK(trainer.facts().device == "cuda:0 f32");
      CHECK(!trainer.gpu_shortage());
      CHECK(trainer.gpu_trouble() == "");
    });
  }

  TEST_CASE("memory for the model and not for one sample: the batch is made on the processor") {
    with_trainer("tight", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      CHECK(trainer.facts().device == "cuda:0 f32");
      CHECK(!trainer.gpu_shortage());
      for (int i = 0; i < 2; ++i) {
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        REQUIRE(batch);
        CHECK(batch->samples == 4);  // all of it: the processor has room
        CHECK(trainer.facts().device == "cpu f32");
      }
      CHECK(trainer.gradients()[0] == 8);
      CHECK(trainer.gpu_shortage() == GpuShortage{0, 32});
      CHECK(trainer.restarts() == 0);
      trainer.set_gpu_memory_limit(std::uint64_t{1} << 30);
      auto const again = co_await trainer.accumulate(0, soon(rt));
      REQUIRE(again);
      CHECK(trainer.gpu_shortage() == GpuShortage{std::uint64_t{1} << 30, 32});
      CHECK(trainer.gradients()[0] == 12);
    });
  }

  TEST_CASE("what a trainer says of its time and its card is not believed beyond sense") {
    with_trainer("lies", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      CHECK(trainer.facts().gpu == "");
      auto const begin = rt.now();
      for (int i = 0; i < 3; ++i) {
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        REQUIRE(batch);
        CHECK(batch->took <= rt.now() - begin);
      }
      CHECK(trainer.gpu_time() <= rt.now() - begin);
    });
  }

  TEST_CASE("it has a session of its own, and nothing to read from a terminal") {
    with_trainer("well", [](SystemRuntime&, TrainerProcess& trainer) -> Co<void> {
      CHECK(::getsid(trainer.pid()) == trainer.pid());
      auto const input = cat("/proc/", trainer.pid(), "/fd/0");
      CHECK(std::filesystem::read_symlink(input) == "/dev/null");
      co_return;
    });
  }

  TEST_CASE("what dead processes used stays counted") {
    with_trainer("well", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      auto const first = trainer.cpu_time();
      CHECK(first > Duration{});
      for (int i = 0; i < 2; ++i) {
        ::kill(trainer.pid(), SIGKILL);
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        REQUIRE(batch);
      }
      CHECK(trainer.restarts() == 2);
      CHECK(trainer.cpu_time() > 2 * first);
    });
  }

  TEST_CASE("a rest longer than the idle limit keeps the process, and what is owed") {
    auto options = options_for("well");
    options.idle_limit = std::chrono::milliseconds(100);
    SystemRuntime runtime;
    auto work = [](SystemRuntime& rt, TrainerOptions o) -> Co<void> {
      auto started = co_await TrainerProcess::start(rt, std::move(o), soon(rt));
      REQUIRE(started);
      auto& trainer = **started;
      trainer.set_gpu_duty(0.1);  // 40 ms of work in 400
      auto const pid = trainer.pid();
      auto const begin = rt.now();
      for (int i = 0; i < 4; ++i) {
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        REQUIRE(batch);
        CHECK(trainer.pid() == pid);
      }
      CHECK(to_seconds(rt.now() - begin) > 3 * 0.4 * 0.8);
    };
    test::run(runtime, work(runtime, std::move(options)));
  }

  TEST_CASE("a rest ends at once for whoever pauses, and by another share") {
    with_trainer("well", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      trainer.set_gpu_duty(0.01);  // 40 ms of work in 4 s
      for (int i = 0; i < 2; ++i) {
        auto const begin = rt.now();
        auto const stop =
            rt.call_at(begin + std::chrono::milliseconds(100), [&trainer] { trainer.end_rest(); });
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        rt.cancel(stop);
        REQUIRE(batch);
        CHECK(batch->samples == (i == 0 ? 4 : 0));  // the first owes nothing
        CHECK(rt.now() - begin < std::chrono::seconds(2));
      }
      CHECK(trainer.stream_position() == 4);
      auto const begin = rt.now();
      auto const more = rt.call_at(begin + std::chrono::milliseconds(100),
                                   [&trainer] { trainer.set_gpu_duty(0.5); });
      auto const batch = co_await trainer.accumulate(0, soon(rt));
      rt.cancel(more);
      REQUIRE(batch);
      CHECK(batch->samples == 4);
      CHECK(rt.now() - begin >= std::chrono::milliseconds(100));
      CHECK(rt.now() - begin < std::chrono::seconds(2));
    });
  }

  TEST_CASE("the GPU's share is held by rests, and another limit of its memory starts it again") {
    with_trainer("well", [](SystemRuntime& rt, TrainerProcess& trainer) -> Co<void> {
      trainer.set_gpu_duty(0.2);  // 40 ms of work, as it claims, in 200
      auto const begin = rt.now();
      constexpr int kBatches = 10;
      for (int i = 0; i < kBatches; ++i) {
        auto const batch = co_await trainer.accumulate(0, soon(rt));
        REQUIRE(batch);
      }
      // The last one's rest is yet to come.
      CHECK(to_seconds(rt.now() - begin) > (kBatches - 1) * 0.04 / 0.25);
      trainer.set_gpu_duty(1);
      auto const pid = trainer.pid();
      trainer.set_gpu_memory_limit(std::uint64_t{1} << 30);
      auto const batch = co_await trainer.accumulate(0, soon(rt));
      CHECK(batch);
      CHECK(trainer.pid() != pid);
      CHECK(trainer.restarts() == 0);
    });
  }
}

}  // namespace
}  // namespace waggle::worker
