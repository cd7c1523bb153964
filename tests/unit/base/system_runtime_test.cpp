// SPDX-License-Identifier: MIT
#include "core/base/system_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <vector>

#include <asio/post.hpp>
#include <doctest/doctest.h>

#include "core/base/bytes.hpp"
#include "core/base/compute.hpp"

using namespace waggle;

TEST_SUITE("SystemRuntime") {
  TEST_CASE("its clocks are the machine's") {
    SystemRuntime runtime;
    auto const first = runtime.now();
    CHECK(runtime.now() >= first);
    CHECK(std::abs(runtime.unix_time() - static_cast<double>(std::time(nullptr))) < 2);
  }

  TEST_CASE("randomness fills all of what it is given, afresh each time") {
    SystemRuntime runtime;
    Bytes one(1000);
    Bytes two(1000);
    runtime.fill_random(one);
    runtime.fill_random(two);
    CHECK(one != two);
    // A kilobyte without one bit set in its last hundred bytes has chance 2^-800.
    CHECK(std::any_of(one.end() - 100, one.end(), [](std::byte b) { return b != std::byte{0}; }));
    runtime.fill_random({});
  }

  TEST_CASE("timers fire in order, cancelled ones and those without deadline never") {
    SystemRuntime runtime;
    std::vector<int> order;
    auto const start = runtime.now();
    auto const at = [&](int ms) { return start + std::chrono::milliseconds(ms); };
    (void)runtime.call_at(at(4), [&] { order.push_back(4); });
    (void)runtime.call_at(at(2), [&] { order.push_back(2); });
    auto const dropped = runtime.call_at(at(3), [&] { order.push_back(3); });
    auto const never = runtime.call_at(kNoDeadline, [&] { order.push_back(0); });
    (void)runtime.call_at(at(-5), [&] { order.push_back(-5); });
    runtime.cancel(dropped);
    runtime.run_to_completion();
    CHECK(order == std::vector<int>{-5, 2, 4});
    runtime.cancel(dropped);  // harmless, as is one that never was due
    runtime.cancel(never);
    CHECK(dropped != never);
  }

  TEST_CASE("a timer may cancel another that is due at the same moment") {
    SystemRuntime runtime;
    int fired = 0;
    Runtime::TimerId second = 0;
    auto const when = runtime.now();
    (void)runtime.call_at(when, [&] {
      ++fired;
      runtime.cancel(second);
    });
    second = runtime.call_at(when, [&] { fired += 10; });
    runtime.run_to_completion();
    CHECK(fired == 1);
  }

  TEST_CASE("a callback may set the next timer") {
    SystemRuntime runtime;
    int left = 5;
    std::function<void()> again = [&] {
      if (--left > 0) (void)runtime.call_at(runtime.now(), again);
    };
    (void)runtime.call_at(runtime.now(), again);
    runtime.run_to_completion();
    CHECK(left == 0);
  }

  TEST_CASE("run stays until another thread stops it, with work posted meanwhile done") {
    SystemRuntime runtime;
    std::atomic<bool> done = false;
    ThreadPool other("other", 1);
    other.post([&] {
      asio::post(runtime.executor(), [&] {
        done = true;
        runtime.stop();
      });
    });
    runtime.run();
    CHECK(done);
  }
}
