// SPDX-License-Identifier: MIT
#include "tests/support/run.hpp"

#include <doctest/doctest.h>

#include "core/base/assert.hpp"
#include "core/base/scope.hpp"

namespace waggle::test {

void run(SystemRuntime& runtime, Co<void> work) {
  Scope scope(runtime);
  scope.spawn("test", std::move(work));
  auto const watchdog = runtime.call_at(runtime.now() + std::chrono::seconds(60), [] {
    WAGGLE_ASSERT(false, "the test takes more than 60 s");
  });
  Scope waiter(runtime);
  auto wait = [](Scope& s, Runtime& r, Runtime::TimerId timer) -> Co<void> {
    (void)co_await s.join();
    r.cancel(timer);
  };
  waiter.spawn("wait", wait(scope, runtime, watchdog));
  runtime.run_to_completion();
}

}  // namespace waggle::test
