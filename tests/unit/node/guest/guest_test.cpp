// SPDX-License-Identifier: MIT
#include "core/node/guest/guest.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/run.hpp"
#include "tests/unit/device/fake_card.hpp"
#include "tests/unit/device/tree.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

void put_supply(test::Tree const& tree, bool online) {
  tree.put("sys/class/power_supply/BAT0/type", "Battery\n");
  tree.put("sys/class/power_supply/BAT0/capacity", "62\n");
  tree.put("sys/class/power_supply/AC/type", "Mains\n");
  tree.put("sys/class/power_supply/AC/online", online ? "1\n" : "0\n");
}

// Waits until the verdict is as expected, 20 s at most.
Co<bool> until_resting(Services& services, Guest& guest, bool resting) {
  auto const end = services.runtime().now() + std::chrono::seconds(20);
  while (services.runtime().now() < end) {
    if (guest.view().resting == resting) co_return true;
    (void)co_await services.runtime().sleep_for(std::chrono::milliseconds(50));
  }
  co_return false;
}

// Has it look now: a calm one looks again ten seconds later.
Co<void> look_now(Services& services, Guest& guest) {
  bool looked = false;
  guest.look_at_file([&looked] { looked = true; });
  while (!looked) (void)co_await services.runtime().sleep_for(std::chrono::milliseconds(10));
}

// Whether a share that is written into the file counts within so many seconds. It is read every
// three, if there is a look.
Co<bool> follows(Services& services,
                 test::Tree const& tree,
                 Guest& guest,
                 int share,
                 int within,
                 bool watched = false) {
  auto& runtime = services.runtime();
  // After a look that comes at once.
  (void)co_await runtime.sleep_for(std::chrono::milliseconds(300));
  tree.put("data/waggle.toml", "cpu_share = " + std::to_string(share) + "\n");
  auto const end = runtime.now() + std::chrono::seconds(within);
  while (guest.effort().duty != share / 100.0 && runtime.now() < end) {
    if (watched) guest.looked_at();
    (void)co_await runtime.sleep_for(std::chrono::milliseconds(50));
  }
  co_return guest.effort().duty == share / 100.0;
}

Options options_in(test::Tree const& tree) {
  Options options;
  options.data_dir = tree.path / "data";
  options.sensors = {tree.path / "sys", tree.path / "proc"};
  options.threads = 4;
  options.threads_wanted = 4;
  options.flags["threads"] = "4";
  return options;
}

}  // namespace

TEST_SUITE("Guest") {
  TEST_CASE("rests on battery with the reason, runs anyway when told, follows the settings file") {
    test::Tree const tree;
    put_supply(tree, false);
    SystemRuntime runtime;
    auto services = Services::open(runtime, options_in(tree));
    REQUIRE(services);
    auto body = [](Services& s, test::Tree const& t) -> Co<void> {
      int told = 0;
      Guest guest(s, [&told] { ++told; });
      bool const rests = co_await until_resting(s, guest, true);
      CHECK(rests);
      CHECK(guest.verdict().reason == "on battery (62 %)");
      CHECK(guest.machine().on_battery);
      CHECK(guest.machine().battery_percent == 62);
      CHECK(told == 1);
      guest.person_runs();
      CHECK(!guest.view().resting);
      CHECK(guest.view().overridden);
      CHECK(told == 2);
      guest.person_rests();
      CHECK(guest.view().resting);
      CHECK(guest.effort() == device::Effort{4, 1});
      t.put("data/waggle.toml", "power = \"light\"\n[guest]\non_battery = true\n");
      guest.look_at_file();
      bool const allowed = co_await until_resting(s, guest, false);
      CHECK(allowed);
      CHECK(guest.view().power == "light");
      CHECK(guest.effort() == device::Effort{2, 0.5, 0.5});
      auto const power = std::ranges::find(guest.settings(), "power", &SettingView::name);
      REQUIRE(power != guest.settings().end());
      CHECK(power->value == "\"light\"");
      CHECK(power->from == "file");
      // A file with a mistake is named, and the rules stay.
      t.put("data/waggle.toml", "power = \"lihgt\"\n");
      std::filesystem::last_write_time(
          t.path / "data/waggle.toml",
          std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
      auto const end = s.runtime().now() + std::chrono::seconds(20);
      while (s.notices().empty() && s.runtime().now() < end)
        (void)co_await s.runtime().sleep_for(std::chrono::milliseconds(50));
      REQUIRE(s.notices().size() == 1);
      CHECK(s.notices()[0].find("waggle.toml:1:9:") != std::string::npos);
      CHECK(guest.view().power == "light");
      CHECK(!guest.view().resting);
      co_await guest.close();
    };
    test::run(runtime, body(**services, tree));
  }

  TEST_CASE("what a flag holds the file does not change; a share and fewer threads count at once") {
    test::Tree const tree;
    put_supply(tree, true);
    SystemRuntime runtime;
    auto options = options_in(tree);
    options.guest.power = device::PowerLevel::full;
    options.flags.clear();
    options.flags["power"] = "\"full\"";
    auto services = Services::open(runtime, options);
    REQUIRE(services);
    auto body = [](Services& s, test::Tree const& t) -> Co<void> {
      Guest guest(s, [] {});
      CHECK(guest.effort() == device::Effort{4, 1});
      t.put("data/waggle.toml", "power = \"light\"\nthreads = 2\ncpu_share = 50\n");
      guest.look_at_file();
      auto const end = s.runtime().now() + std::chrono::seconds(20);
      while (guest.effort().duty == 1 && s.runtime().now() < end)
        (void)co_await s.runtime().sleep_for(std::chrono::milliseconds(50));
      CHECK(guest.view().power == "full");
      CHECK(guest.effort() == device::Effort{2, 0.5});
      auto const power = std::ranges::find(guest.settings(), "power", &SettingView::name);
      CHECK(power->from == "flag");
      CHECK(power->value == "\"full\"");
      co_await guest.close();
    };
    test::run(runtime, body(**services, tree));
  }

  TEST_CASE("a day's traffic counts over restarts, and once it is spent the guest rests") {
    test::Tree const tree;
    put_supply(tree, true);
    SystemRuntime runtime;
    auto options = options_in(tree);
    options.guest.daily_traffic = 100;
    auto services = Services::open(runtime, options);
    REQUIRE(services);
    DailyTraffic before;
    before.look(std::uint64_t{101} << 20, runtime.unix_time());
    REQUIRE((*services)->store().put_setting("traffic_today", *before.text()));
    auto body = [](Services& s, test::Tree const& t) -> Co<void> {
      Guest guest(s, [] {});
      bool const rests = co_await until_resting(s, guest, true);
      CHECK(rests);
      CHECK(guest.verdict().reason ==
            "today's network traffic is spent: 101 / 100 MiB, until midnight");
      CHECK(guest.machine().traffic_today == std::uint64_t{101} << 20);
      t.put("data/waggle.toml", "daily_traffic = 200\nmax_memory = 512\n");
      guest.look_at_file();
      bool const goes_on = co_await until_resting(s, guest, false);
      CHECK(goes_on);
      CHECK(guest.memory_limit() == std::uint64_t{512} << 20);
      co_await guest.close();
    };
    test::run(runtime, body(**services, tree));
  }

  TEST_CASE("a GPU at work: its share, its memory, its power while it works, its watts") {
    test::Tree const tree;
    test::Card const card;
    tree.put("dev/nvidiactl", "");
    put_supply(tree, true);
    SystemRuntime runtime;
    auto options = options_in(tree);
    options.sensors.nvml = WAGGLE_FAKE_NVML;
    options.limits.gpu_duty = 40;
    options.limits.max_gpu_memory = 2048;
    options.limits.gpu_power_cap = 150;
    auto services = Services::open(runtime, options);
    REQUIRE(services);
    auto body = [](Services& s, test::Tree const& t, test::Card const& c) -> Co<void> {
      int told = 0;
      Guest guest(s, [&told] { ++told; });
      CHECK(guest.effort() == device::Effort{4, 1, 0.4});
      CHECK(guest.gpu_memory_limit() == std::uint64_t{2} << 30);
      guest.computes(true, true, "0000:65:00.0");
      auto const end = s.runtime().now() + std::chrono::seconds(20);
      while (guest.gpu_joules() < 100 && s.runtime().now() < end)
        (void)co_await s.runtime().sleep_for(std::chrono::milliseconds(50));
      CHECK(c.limit() == 150'000);
      auto const seconds_at_least = guest.gpu_joules() / 125.5;
      CHECK(seconds_at_least > 0.5);
      CHECK(seconds_at_least < 20);
      // A card that does not work for us counts for nothing.
      guest.computes(false, true, "0000:65:00.0");
      (void)co_await s.runtime().sleep_for(std::chrono::milliseconds(1500));
      auto const joules = guest.gpu_joules();
      (void)co_await s.runtime().sleep_for(std::chrono::milliseconds(1500));
      CHECK(guest.gpu_joules() == joules);
      t.put("data/waggle.toml", "power = \"light\"\ngpu_duty = 60\nmax_gpu_memory = 512\n");
      guest.look_at_file();
      while (guest.effort().threads == 4 && s.runtime().now() < end)
        (void)co_await s.runtime().sleep_for(std::chrono::milliseconds(50));
      CHECK(guest.effort() == device::Effort{2, 0.5, 0.3});
      CHECK(guest.gpu_memory_limit() == std::uint64_t{512} << 20);
      CHECK(told > 0);
      co_await guest.close();
    };
    test::run(runtime, body(**services, tree, card));
    CHECK(card.limit() == 300'000);
  }

  TEST_CASE("a calm one looks each second again while a task computes, or somebody watches") {
    test::Tree const tree;
    put_supply(tree, true);
    SystemRuntime runtime;
    auto services = Services::open(runtime, options_in(tree));
    REQUIRE(services);
    auto body = [](Services& s, test::Tree const& t) -> Co<void> {
      Guest guest(s, [] {});
      // The first seconds count as watched.
      (void)co_await s.runtime().sleep_for(std::chrono::milliseconds(2500));
      co_await look_now(s, guest);
      bool const calm = !co_await follows(s, t, guest, 90, 5);
      CHECK(calm);
      co_await look_now(s, guest);
      guest.computes(true, false, "");
      bool const at_work = co_await follows(s, t, guest, 80, 6);
      CHECK(at_work);
      guest.computes(false, false, "");
      co_await look_now(s, guest);
      guest.looked_at();
      guest.looked_at();
      bool const watched = co_await follows(s, t, guest, 70, 6, true);
      CHECK(watched);
      co_await guest.close();
    };
    test::run(runtime, body(**services, tree));
  }

  TEST_CASE("started with --always it looks, but never rests") {
    test::Tree const tree;
    put_supply(tree, false);
    SystemRuntime runtime;
    auto options = options_in(tree);
    options.always = true;
    auto services = Services::open(runtime, options);
    REQUIRE(services);
    auto body = [](Services& s) -> Co<void> {
      Guest guest(s, [] { FAIL("nothing changes"); });
      auto const end = s.runtime().now() + std::chrono::seconds(20);
      while (!guest.machine().on_battery && s.runtime().now() < end)
        (void)co_await s.runtime().sleep_for(std::chrono::milliseconds(50));
      CHECK(guest.machine().on_battery);
      CHECK(!guest.view().resting);
      CHECK(!guest.view().followed);
      co_await guest.close();
    };
    test::run(runtime, body(**services));
  }
}
