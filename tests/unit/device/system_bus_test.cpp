// SPDX-License-Identifier: MIT
#include "core/device/system_bus.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/aside.hpp"
#include "core/base/fd.hpp"

#include "tests/unit/device/tree.hpp"

using namespace waggle::device;

TEST_SUITE("system bus") {
  TEST_CASE("an idle hint counts from its time on") {
    CHECK(idle_seconds({false, false, 0}, 1000) == 0);
    CHECK(idle_seconds({true, false, 940'000'000}, 1000) == doctest::Approx(60));
    CHECK(!idle_seconds({true, false, 0}, 1000));
    // The clock was set back meanwhile.
    CHECK(idle_seconds({true, false, 2'000'000'000}, 1000) == 0);
  }

  TEST_CASE("X is believed on X, logind under Wayland and where there is no X") {
    SessionHint const used{false, false, 0};
    SessionHint const wayland{true, true, 940'000'000};
    CHECK(idle_seconds(300, used, false, 1000) == 300);
    CHECK(idle_seconds(300, wayland, false, 1000) == doctest::Approx(60));
    CHECK(idle_seconds(std::nullopt, used, false, 1000) == 0);
    CHECK(idle_seconds(300, std::nullopt, false, 1000) == 300);
    CHECK(!idle_seconds(300, std::nullopt, true, 1000));
    CHECK(!idle_seconds(std::nullopt, std::nullopt, false, 1000));
  }

  TEST_CASE("a remote shell is no desktop") {
    CHECK(is_desktop("x11"));
    CHECK(is_desktop("wayland"));
    CHECK(!is_desktop("tty"));
    CHECK(!is_desktop("unspecified"));
  }

  TEST_CASE("a guess about the network counts, not knowing does not") {
    CHECK(metered_of(1) == true);
    CHECK(metered_of(3) == true);
    CHECK(metered_of(2) == false);
    CHECK(metered_of(4) == false);
    CHECK(!metered_of(0));
    CHECK(!metered_of(77));
  }

  TEST_CASE("no bus is no error, and one that never answers holds nobody up") {
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
    auto const none = read_system_bus();
    CHECK(!none.session);
    CHECK(!none.metered);
    // Takes connections, says nothing.
    waggle::test::Folder const folder;
    auto const path = (folder.path / "bus").string();
    waggle::Fd const silent(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(silent.get(), 4) == 0);
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);
    // sd-bus itself waits a minute and a half for the login; nobody here does.
    waggle::TimePoint const start{std::chrono::hours(1)};
    auto const begin = std::chrono::steady_clock::now();
    {
      waggle::Aside<BusReadings> aside(
          "test", read_system_bus, std::chrono::seconds(1), std::chrono::seconds(5));
      CHECK(!aside.poll(start));
      CHECK(!aside.poll(start + std::chrono::seconds(6)));
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  }
}
