// SPDX-License-Identifier: MIT
#include "core/device/x11_idle.hpp"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

using namespace waggle::device;

TEST_SUITE("X11 idle time") {
  TEST_CASE("without a display, or with one that is not there, it is unavailable") {
    char const* const before = std::getenv("DISPLAY");
    std::string const kept = before != nullptr ? before : "";
    ::unsetenv("DISPLAY");
    CHECK(!x11_idle_seconds());
    ::setenv("DISPLAY", "", 1);
    CHECK(!x11_idle_seconds());
    ::setenv("DISPLAY", ":6999", 1);
    CHECK(!x11_idle_seconds());
    ::setenv("DISPLAY", "nonsense", 1);
    CHECK(!x11_idle_seconds());
    if (kept.empty()) {
      ::unsetenv("DISPLAY");
      return;
    }
    ::setenv("DISPLAY", kept.c_str(), 1);
    // Where the tests run under a server (xvfb-run), it answers.
    for (int i = 0; i < 3; ++i)
      if (auto const idle = x11_idle_seconds()) CHECK(*idle >= 0);
  }
}
