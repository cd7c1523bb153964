// SPDX-License-Identifier: MIT
#include "ui/pace.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::ui;

namespace {

node::Snapshot training() {
  node::Snapshot snapshot;
  snapshot.pid = 7;
  snapshot.time = 100;
  node::TaskView task;
  task.prefix = "stripes";
  task.state = "training";
  snapshot.tasks.push_back(task);
  return snapshot;
}

// A Pace that nobody has touched for a long time, at `now`, with everything shown.
Pace untouched(double now) {
  Pace pace;
  pace.laid_out(now);
  return pace;
}

}  // namespace

TEST_SUITE("what is new in a snapshot") {
  TEST_CASE("a clock, the machine's gauges and traffic are ambient") {
    auto const before = training();
    auto after = before;
    CHECK(change(before, after) == Change::none);
    after.time += 1;
    after.uptime += 1;
    after.machine.cpu = 0.4;
    after.machine.memory_available = 5;
    after.socket_bytes_in = 1000;
    CHECK(change(before, after) == Change::ambient);
  }

  TEST_CASE("samples and speeds are figures") {
    auto const before = training();
    auto after = before;
    after.time += 1;
    after.tasks[0].samples_given = 64;
    CHECK(change(before, after) == Change::figures);
    after = before;
    after.tasks[0].swarm_samples_per_second = 12;
    CHECK(change(before, after) == Change::figures);
  }

  TEST_CASE("states, peers, notices and settings are the story") {
    auto const before = training();
    auto after = before;
    after.tasks[0].state = "paused";
    CHECK(change(before, after) == Change::story);
    after = before;
    after.peers.push_back({.id = "peer"});
    CHECK(change(before, after) == Change::story);
    after = before;
    after.notices.emplace_back("port 31337 was busy");
    CHECK(change(before, after) == Change::story);
    after = before;
    after.settings.push_back({.name = "power"});
    CHECK(change(before, after) == Change::story);
    after = before;
    after.known_tasks.push_back({.prefix = "other"});
    CHECK(change(before, after) == Change::story);
    after = before;
    after.pid = 8;
    CHECK(change(before, after) == Change::story);
  }

  TEST_CASE("a reason that counts is figures, another reason is the story") {
    auto before = training();
    before.tasks[0].reason = "other programs use 31.5 % of the processors";
    auto after = before;
    after.tasks[0].reason = "other programs use 8 % of the processors";
    CHECK(change(before, after) == Change::figures);
    after.tasks[0].reason = "other programs use 8 % of the memory";
    CHECK(change(before, after) == Change::story);
    after.tasks[0].reason = "";
    CHECK(change(before, after) == Change::story);
    before.tasks[0].reason = "12";
    CHECK(change(before, after) == Change::figures);
  }
}

TEST_SUITE("what is new in the list of machines") {
  TEST_CASE("a new list that says the same is ambient, but while a code counts down") {
    Machines before;
    before.all.push_back({.name = "here"});
    before.now = 100;
    auto after = before;
    CHECK(change(before, after) == Change::none);
    after.now = 101;
    CHECK(change(before, after) == Change::ambient);
    before.here.pairing_until = after.here.pairing_until = 160;
    CHECK(change(before, after) == Change::figures);
    after.all[0].state = Machine::State::lost;
    CHECK(change(before, after) == Change::story);
  }
}

TEST_SUITE("the window's pace") {
  TEST_CASE("nothing new: no frame, however long") {
    auto const pace = untouched(100);
    CHECK(!pace.due(100.5, false));
    CHECK(!pace.due(100'000, false));
    CHECK(pace.sleep(100'000, false) == Pace::kCalmLook);
  }

  TEST_CASE("the story is shown at once, once") {
    auto pace = untouched(100);
    pace.note(Change::story);
    pace.note(Change::ambient);
    CHECK(pace.due(100, false));
    pace.laid_out(100);
    CHECK(!pace.due(101, false));
  }

  TEST_CASE("figures wait for their turn and are not forgotten") {
    auto pace = untouched(100);
    pace.note(Change::figures);
    CHECK(!pace.due(100.0 + 0.99 * Pace::kUnwatched, false));
    CHECK(pace.due(100.0 + Pace::kUnwatched, false));
    pace.focused(true);
    CHECK(!pace.due(100.0 + 0.9 * Pace::kWatched, false));
    CHECK(pace.due(100.0 + Pace::kWatched, false));
  }

  TEST_CASE("clocks alone are drawn seldom, focus or not") {
    auto pace = untouched(100);
    pace.focused(true);
    for (int i = 0; i < 29; ++i) {
      pace.note(Change::ambient);
      CHECK(!pace.due(100.0 + i, false));
    }
    CHECK(pace.due(100.0 + Pace::kAmbient, false));
  }

  TEST_CASE("after a touch everything new is shown at once, and what ends by itself ends") {
    auto pace = untouched(100);
    pace.touched(100);
    CHECK(!pace.due(100.1, false));
    pace.note(Change::ambient);
    CHECK(pace.due(100.1, false));
    pace.laid_out(100.1);
    CHECK(pace.due(100.1 + Pace::kLook, false));
    CHECK(pace.sleep(100.1, false) == Pace::kLook);
    CHECK(!pace.due(100.0 + Pace::kLively, false));
    CHECK(pace.sleep(100.0 + Pace::kLively, false) == Pace::kCalmLook);
  }

  TEST_CASE("a text cursor blinks for a while, then stands") {
    auto pace = untouched(100);
    pace.touched(100);
    double now = 100;
    int frames = 0;
    for (; now < 160; now += Pace::kLook)
      if (pace.due(now, true)) {
        pace.laid_out(now);
        ++frames;
      }
    CHECK(frames >= Pace::kBlink / Pace::kLook - 1);
    CHECK(frames <= Pace::kBlink / Pace::kLook + 1);
    CHECK(pace.sleep(now, true) == Pace::kCalmLook);
  }
}
