// SPDX-License-Identifier: MIT
#include "core/device/installation.hpp"

#include <fstream>

#include <doctest/doctest.h>

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using device::Installation;
using device::installation_of;

namespace {

constexpr char kVersion[] = "0123456789abcdef0123456789abcdef";

}  // namespace

TEST_SUITE("installation") {
  TEST_CASE("a single file is named by what the person started") {
    auto const here = installation_of(
        std::string("/home/a/.cache/waggle/program/") + kVersion + "/desktop/waggle",
        "/home/a/Waggle-x86_64");
    CHECK(here.kind == Installation::Kind::single_file);
    CHECK(here.program == "/home/a/Waggle-x86_64");
    CHECK(here.unpacked == "/home/a/.cache/waggle/program");
  }

  TEST_CASE("the environment alone makes no single file of a built or packaged program") {
    CHECK(installation_of("/src/build/release/waggle", "/home/a/Waggle").kind ==
          Installation::Kind::built);
    auto const packaged = installation_of("/usr/lib/waggle/desktop/waggle", "/usr/bin/waggle");
    CHECK(packaged.kind == Installation::Kind::package);
    CHECK(packaged.program == "/usr/bin/waggle");
    CHECK(installation_of(std::string("/a/program/") + kVersion + "/desktop/waggle", "").kind ==
          Installation::Kind::built);
  }

  TEST_CASE("only what the launcher made is removed") {
    test::TempFolder const folder;
    auto const programs = folder / "waggle" / "program";
    std::filesystem::create_directories(programs / kVersion / "lib");
    std::ofstream(programs / kVersion / "lib" / "a.so") << "12345";
    std::filesystem::create_directories(programs / ".new-1");
    std::ofstream(programs / "lock") << "";
    std::ofstream(folder.path() / "waggle" / "mine") << "";
    std::filesystem::create_symlink(folder / "elsewhere", programs / kVersion / "link");
    std::filesystem::create_directories(folder / "elsewhere");
    std::ofstream(folder / "elsewhere" / "precious") << "1";

    auto const here = installation_of(programs / kVersion / "desktop" / "waggle", "/home/a/Waggle");
    auto const freed = device::remove_unpacked(here);
    REQUIRE(freed);
    CHECK(*freed == 5);
    CHECK_FALSE(std::filesystem::exists(programs));
    CHECK(std::filesystem::exists(folder.path() / "waggle" / "mine"));
    CHECK(std::filesystem::exists(folder.path() / "elsewhere" / "precious"));
  }

  TEST_CASE("what is no single file is not removed") {
    Installation const built;
    CHECK(device::remove_unpacked(built).error().code == Errc::invalid);
  }
}
