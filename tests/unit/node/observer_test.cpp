// SPDX-License-Identifier: MIT
#include "core/node/observer.hpp"

#include <future>

#include <doctest/doctest.h>

#include "core/node/jobs.hpp"

#include "tests/support/run.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/node/release/started.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

Co<void> run(JobRunner& runner) {
  Job job = ServeJob{};
  std::function<void()> begun = [] {};
  (void)co_await runner.run(std::move(job), std::move(begun));
}

// `look` while an observer that has just begun, and a job, are there.
Co<void> observed(Services& services, std::function<Co<void>(Services&, Snapshots&)> look) {
  Snapshots snapshots(services.runtime());
  JobRunner runner(services, [](Event const&) {});
  Observer observer(services, runner, snapshots);
  Scope scope(services.runtime());
  observer.begin();
  scope.spawn("job", run(runner));
  co_await look(services, snapshots);
  runner.leave();
  co_await observer.close();
  co_await runner.close();
  co_await scope.close();
}

Co<void> sleep(Services& services, int milliseconds) {
  (void)co_await services.runtime().sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace

TEST_SUITE("Observer") {
  TEST_CASE("who asks before the first whole snapshot waits for it") {
    test::TempFolder const folder;
    SystemRuntime runtime;
    std::promise<void> go_on;
    auto look = [&go_on](Services& s, Snapshots& snapshots) -> Co<void> {
      auto asked = std::async(std::launch::async, [&snapshots] { return snapshots.fresh(); });
      co_await sleep(s, 200);
      // The ledger is not read yet.
      CHECK(asked.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
      go_on.set_value();
      while (asked.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        co_await sleep(s, 10);
      auto const snapshot = asked.get();
      REQUIRE(snapshot);
      CHECK(!snapshot->settings.empty());
    };
    auto work = [&look, &go_on](Services& s) -> Co<void> {
      s.disk().post([&go_on] { go_on.get_future().wait(); });
      std::function<Co<void>(Services&, Snapshots&)> const looks = look;
      co_await observed(s, looks);
    };
    test::run(runtime, test::with_services(runtime, test::alone(folder.path()), work));
  }

  TEST_CASE("the first whole snapshot is there soon, though nobody asks") {
    test::TempFolder const folder;
    SystemRuntime runtime;
    auto look = [](Services& s, Snapshots& snapshots) -> Co<void> {
      auto const whole = [&snapshots] {
        auto const last = snapshots.last();
        return last && !last->settings.empty();
      };
      auto const end = s.runtime().now() + std::chrono::seconds(10);
      while (!whole() && s.runtime().now() < end) co_await sleep(s, 10);
      CHECK(whole());
    };
    auto work = [&look](Services& s) -> Co<void> {
      std::function<Co<void>(Services&, Snapshots&)> const looks = look;
      co_await observed(s, looks);
    };
    test::run(runtime, test::with_services(runtime, test::alone(folder.path()), work));
  }
}
