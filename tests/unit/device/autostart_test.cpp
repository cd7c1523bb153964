// SPDX-License-Identifier: MIT
#include "core/device/autostart.hpp"

#include <fstream>

#include <doctest/doctest.h>

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using device::Autostart;
using device::autostart_enabled;
using device::autostart_entry;
using device::set_autostart;

namespace {

std::string exec_of(std::string const& path) {
  auto const entry = autostart_entry(path);
  REQUIRE(entry);
  auto const at = entry->find("Exec=") + 5;
  return entry->substr(at, entry->find('\n', at) - at);
}

std::string content(std::filesystem::path const& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE("autostart") {
  TEST_CASE("is off until it is set, on then, and off again") {
    test::TempFolder const folder;
    Autostart const place{folder / "new" / "autostart" / "waggle.desktop", "/opt/Waggle-x86_64"};
    CHECK_FALSE(autostart_enabled(place));
    REQUIRE(set_autostart(true, place));
    CHECK(autostart_enabled(place));
    CHECK(content(place.entry).find("Exec=\"/opt/Waggle-x86_64\" window\n") != std::string::npos);
    REQUIRE(set_autostart(false, place));
    CHECK_FALSE(autostart_enabled(place));
    CHECK_FALSE(std::filesystem::exists(place.entry));
    CHECK(set_autostart(false, place));
  }

  TEST_CASE("what a desktop's settings turned off is off, and setting it turns it on") {
    test::TempFolder const folder;
    Autostart const place{folder / "waggle.desktop", "/opt/waggle"};
    for (auto const* line : {"Hidden=true", "X-GNOME-Autostart-enabled=false"}) {
      std::ofstream(place.entry) << "[Desktop Entry]\nX-Waggle=true\n" << line << '\n';
      CHECK_FALSE(autostart_enabled(place));
      REQUIRE(set_autostart(true, place));
      CHECK(autostart_enabled(place));
    }
  }

  TEST_CASE("somebody else's entry of that name is neither believed nor touched") {
    test::TempFolder const folder;
    Autostart const place{folder / "waggle.desktop", "/opt/waggle"};
    std::ofstream(place.entry) << "[Desktop Entry]\nExec=other\n";
    CHECK_FALSE(autostart_enabled(place));
    for (bool const on : {true, false}) {
      auto const done = set_autostart(on, place);
      REQUIRE_FALSE(done);
      CHECK(done.error().code == Errc::refused);
    }
    CHECK(content(place.entry) == "[Desktop Entry]\nExec=other\n");
  }

  TEST_CASE("a path is quoted as the Exec key wants it") {
    CHECK(exec_of("/home/a b/Waggle") == "\"/home/a b/Waggle\" window");
    CHECK(exec_of("/100%") == "\"/100%%\" window");
    CHECK(exec_of("/a\"b") == "\"/a\\\\\"b\" window");
    CHECK(exec_of("/a$b`") == "\"/a\\\\$b\\\\`\" window");
    CHECK(exec_of("/a\\b") == "\"/a\\\\\\\\b\" window");
  }

  TEST_CASE("a path that no entry can hold is refused") {
    CHECK(autostart_entry("/a\nExec=evil").error().code == Errc::invalid);
    CHECK(autostart_entry("relative").error().code == Errc::invalid);
  }
}
