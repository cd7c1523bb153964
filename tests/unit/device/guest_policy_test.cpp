// SPDX-License-Identifier: MIT
#include "core/device/guest_policy.hpp"

#include <random>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::device;

namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr LocalTime kNoon{2, 12 * 60};

TimePoint at(double s) {
  return kStart + seconds(s);
}

Readings on_battery(int percent) {
  Readings readings;
  readings.power = {true, true, percent};
  return readings;
}

}  // namespace

TEST_SUITE("guest policy") {
  TEST_CASE("a server that tells nothing computes always, by the defaults") {
    GuestPolicy policy{GuestSettings{}};
    for (int i = 0; i < 7 * 1440; i += 13)
      CHECK(policy.decide({}, {i / 1440, i % 1440}, at(60 * i)) == Verdict{});
    Readings busy;
    busy.cpu_others = 1;
    busy.celsius = 99;
    busy.idle_seconds = 0;
    busy.program = "blender";
    CHECK(policy.decide(busy, kNoon, at(1e6)).run);
  }

  TEST_CASE("rests on battery at once, says how full it is, and goes on when mains has stayed") {
    GuestPolicy policy{GuestSettings{}};
    auto const verdict = policy.decide(on_battery(62), kNoon, at(0));
    CHECK(!verdict.run);
    CHECK(verdict.reason == "on battery (62 %)");
    CHECK(policy.decide(on_battery(61), kNoon, at(1)).reason == "on battery (61 %)");
    CHECK(policy.decide({}, kNoon, at(2)).reason == "on battery (61 %) (over; going on soon)");
    CHECK(policy.decide({}, kNoon, at(3)).reason == "on battery (61 %) (over; going on soon)");
    // A plug that slips out begins the wait anew.
    CHECK(policy.decide(on_battery(61), kNoon, at(20)).reason == "on battery (61 %)");
    CHECK(!policy.decide({}, kNoon, at(21)).run);
    CHECK(!policy.decide({}, kNoon, at(50)).run);
    CHECK(policy.decide({}, kNoon, at(51)).run);
    GuestSettings allowed;
    allowed.on_battery = true;
    CHECK(GuestPolicy{allowed}.decide(on_battery(5), kNoon, at(0)).run);
  }

  TEST_CASE("each cause says its own reason") {
    GuestSettings settings;
    settings.idle_minutes = 5;
    settings.cpu_load = 50;
    settings.temperature = 85;
    settings.programs = {"blender"};
    settings.quiet_hours = {*QuietHours::parse("11:00-13:30")};
    auto const reason = [](GuestSettings const& s, Readings const& r, LocalTime local) {
      GuestPolicy policy{s};
      (void)policy.decide(r, local, at(0));
      return policy.decide(r, local, at(10)).reason;
    };
    Readings r;
    LocalTime const evening{2, 20 * 60};
    CHECK(reason(settings, r, kNoon) == "quiet hours until 13:30");
    CHECK(reason(settings, r, evening) == "");
    r.cpu_others = 0.714;
    CHECK(reason(settings, r, evening) == "other programs use 71 % of the processor");
    r.celsius = 92.6;
    CHECK(reason(settings, r, evening) == "the processor is hot (93 °C)");
    r.idle_seconds = 12;
    CHECK(reason(settings, r, evening) == "you are using this computer");
    r.idle_seconds = 130;
    CHECK(reason(settings, r, evening) == "this computer was used 2 minutes ago");
    r.idle_seconds = 7200;
    r.inhibitor = "mpv";
    CHECK(reason(settings, r, evening) == "mpv keeps the screen on");
    r.inhibitor.reset();
    r.idle_seconds = 130;
    r.program = "blender";
    CHECK(reason(settings, r, evening) == "blender is running");
    Readings network;
    network.metered = true;
    CHECK(reason({}, network, evening) == "this network is metered");
    Readings film;
    film.inhibitor = "mpv";
    CHECK(reason({}, film, evening) == "");  // without idle_minutes it does not matter
    GuestSettings daily;
    daily.daily_traffic = 2048;
    Readings spent;
    spent.traffic_today = (std::uint64_t{2048} << 20) - 1;
    CHECK(reason(daily, spent, evening) == "");
    CHECK(reason({}, spent, evening) == "");
    *spent.traffic_today += std::uint64_t{3} << 20;
    CHECK(reason(daily, spent, evening) ==
          "today's network traffic is spent: 2050 / 2048 MiB, until midnight");
    CHECK(reason({}, on_battery(3), evening) == "on battery (3 %)");
    Readings unknown = on_battery(0);
    unknown.power.percent.reset();
    CHECK(reason({}, unknown, evening) == "on battery");
  }

  TEST_CASE("goes on once the computer was left alone for the minutes that were set") {
    GuestSettings settings;
    settings.idle_minutes = 5;
    GuestPolicy policy{settings};
    Readings r;
    r.idle_seconds = 299;
    CHECK(!policy.decide(r, kNoon, at(0)).run);
    r.idle_seconds = 300;
    CHECK(policy.decide(r, kNoon, at(1)).run);
    r.idle_seconds = 0;
    CHECK(!policy.decide(r, kNoon, at(2)).run);
    r.idle_seconds.reset();  // the X server is gone: nobody can be in front of it
    CHECK(policy.decide(r, kNoon, at(3)).run);
  }

  TEST_CASE("work on a GPU waits three minutes unless told otherwise, or as long as any other") {
    Readings r;
    r.idle_seconds = 0;
    CHECK(GuestPolicy{{}}.decide(r, kNoon, at(0)).run);
    r.on_gpu = true;
    GuestPolicy policy{{}};
    CHECK(policy.decide(r, kNoon, at(0)).reason == "you are using this computer");
    r.idle_seconds = 179;
    CHECK(!policy.decide(r, kNoon, at(179)).run);
    r.idle_seconds = 180;
    CHECK(policy.decide(r, kNoon, at(180)).run);
    GuestSettings settings;
    settings.idle_minutes = 5;
    policy.set(settings);
    CHECK(!policy.decide(r, kNoon, at(181)).run);
    settings.idle_minutes = settings.gpu_idle_minutes = 0;
    policy.set(settings);
    CHECK(policy.decide(r, kNoon, at(182)).run);
    r.idle_seconds.reset();  // a server
    CHECK(GuestPolicy{{}}.decide(r, kNoon, at(0)).run);
  }

  TEST_CASE("a moment of load does not stop it, and between the thresholds nothing changes") {
    GuestSettings settings;
    settings.cpu_load = 40;
    GuestPolicy policy{settings};
    Readings busy;
    busy.cpu_others = 0.9;
    Readings between;
    between.cpu_others = 0.35;
    Readings quiet;
    quiet.cpu_others = 0.1;
    CHECK(policy.decide(busy, kNoon, at(0)).run);
    CHECK(policy.decide(between, kNoon, at(5)).run);
    CHECK(policy.decide(busy, kNoon, at(9)).run);
    CHECK(policy.decide(busy, kNoon, at(18)).run);
    CHECK(!policy.decide(busy, kNoon, at(19)).run);
    for (int s = 20; s < 500; s += 5) CHECK(!policy.decide(between, kNoon, at(s)).run);
    CHECK(!policy.decide(quiet, kNoon, at(500)).run);
    CHECK(policy.decide(quiet, kNoon, at(530)).run);
  }

  TEST_CASE("run anyway holds until its cause ends, and for no other cause") {
    GuestPolicy policy{GuestSettings{}};
    CHECK(!policy.decide(on_battery(60), kNoon, at(0)).run);
    policy.run_anyway();
    auto verdict = policy.decide(on_battery(59), kNoon, at(1));
    CHECK(verdict.run);
    CHECK(verdict.reason == "");
    CHECK(verdict.overridden);
    CHECK(verdict.causes == std::vector<std::string>{"on battery (59 %)"});
    auto metered = on_battery(58);
    metered.metered = true;
    verdict = policy.decide(metered, kNoon, at(2));
    CHECK(!verdict.run);
    CHECK(verdict.reason == "this network is metered");
    CHECK(verdict.causes.size() == 2);
    // Mains comes and stays: the override is spent.
    CHECK(policy.decide({}, kNoon, at(3)).causes.size() == 2);
    CHECK(policy.decide({}, kNoon, at(40)) == Verdict{});
    CHECK(!policy.decide(on_battery(58), kNoon, at(41)).run);
    // A person's pause takes it back too.
    policy.run_anyway();
    CHECK(policy.decide(on_battery(58), kNoon, at(42)).run);
    policy.forget_override();
    CHECK(!policy.decide(on_battery(58), kNoon, at(43)).run);
  }

  TEST_CASE("run anyway while nothing holds overrides nothing") {
    GuestPolicy policy{GuestSettings{}};
    CHECK(policy.decide({}, kNoon, at(0)).run);
    policy.run_anyway();
    CHECK(!policy.decide(on_battery(60), kNoon, at(1)).run);
  }

  TEST_CASE("a rule that was changed counts at once, the others keep their patience") {
    GuestPolicy policy{GuestSettings{}};
    CHECK(!policy.decide(on_battery(60), kNoon, at(0)).run);
    auto settings = policy.settings();
    settings.idle_minutes = 3;
    policy.set(settings);
    CHECK(!policy.decide({}, kNoon, at(1)).run);  // still waits after the battery
    settings.on_battery = true;
    policy.set(settings);
    CHECK(policy.decide(on_battery(60), kNoon, at(2)).run);
  }

  TEST_CASE("whatever the sensors say: a reason exactly when it rests, and no flapping") {
    std::mt19937 chance(5);
    auto const maybe = [&](double value) {
      return chance() % 3 == 0 ? std::nullopt : std::optional<double>(value);
    };
    for (int round = 0; round < 60; ++round) {
      GuestSettings settings;
      settings.cpu_load = 30;
      settings.temperature = 80;
      settings.programs = {"blender"};
      GuestPolicy policy{settings};
      bool running = true;
      double rested_since = 0;
      int pauses = 0;
      double now = 0;
      for (int i = 0; i < 3000; ++i) {
        now += 0.5 + static_cast<double>(chance() % 3);
        Readings r;
        r.power = {true, chance() % 8 == 0, static_cast<int>(chance() % 101)};
        r.cpu_others = maybe(static_cast<double>(chance() % 100) / 100);
        r.celsius = maybe(static_cast<double>(chance() % 120));
        r.metered = chance() % 16 == 0;
        if (chance() % 8 == 0) r.program = "blender";
        auto const verdict = policy.decide(r, kNoon, at(now));
        CHECK(verdict.run == verdict.reason.empty());
        CHECK((verdict.run || !verdict.causes.empty()));
        for (auto const& cause : verdict.causes) CHECK(!cause.empty());
        if (running && !verdict.run) {
          rested_since = now;
          ++pauses;
        }
        // Once it rests it does so for ten seconds at least, whatever comes and goes.
        if (!running && verdict.run) CHECK(now - rested_since >= 10);
        running = verdict.run;
      }
      CHECK(pauses <= now / 10);
    }
  }

  TEST_CASE("random overrides and settings never leave a pause without its reason") {
    std::mt19937 chance(6);
    GuestPolicy policy{GuestSettings{}};
    for (int i = 0; i < 20'000; ++i) {
      if (chance() % 10 == 0) policy.run_anyway();
      if (chance() % 10 == 0) policy.forget_override();
      if (chance() % 20 == 0) {
        GuestSettings settings;
        settings.on_battery = chance() % 2 == 0;
        settings.idle_minutes = static_cast<int>(chance() % 3);
        settings.quiet_hours = {{static_cast<unsigned>(chance() % 128), 100, 900}};
        policy.set(settings);
      }
      Readings r;
      r.power = {true, chance() % 2 == 0, {}};
      r.idle_seconds = chance() % 200;
      auto const verdict = policy.decide(
          r, {static_cast<int>(chance() % 7), static_cast<int>(chance() % 1440)}, at(i));
      CHECK(verdict.run == verdict.reason.empty());
      if (!verdict.causes.empty() && verdict.run) CHECK(verdict.overridden);
    }
  }
}
