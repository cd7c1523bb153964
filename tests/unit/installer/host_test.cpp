// SPDX-License-Identifier: MIT
#include "installer/launcher/host.hpp"

#include <fstream>

#include <doctest/doctest.h>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/installer/sample.hpp"

using namespace waggle;
using launcher::host_suffices;

namespace {

/// A library that defines versions, as far as host_suffices looks.
void library(std::filesystem::path const& path, std::string const& versions, bool bits64 = true) {
  std::filesystem::create_directories(path.parent_path());
  auto bytes = test::program_with_room(16);
  if (!bits64) bytes[EI_CLASS] = ELFCLASS32;
  std::ofstream(path, std::ios::binary) << bytes << versions << '\0';
}

}  // namespace

TEST_SUITE("host") {
  TEST_CASE("each library must be there with the version that is asked for") {
    test::TempFolder const folder;
    library(folder / "lib/libc.so.6", std::string("\0GLIBC_2.35\0GLIBC_2.36\0", 23));
    library(folder / "lib/libX11.so.6", "");
    std::vector<std::string> const folders{(folder / "none").string(), (folder / "lib").string()};
    CHECK(host_suffices("", folders));
    CHECK(host_suffices("libc.so.6 GLIBC_2.36\nlibX11.so.6\n", folders));
    CHECK(host_suffices("libc.so.6 GLIBC_2.37\n", folders).error().detail ==
          "libc.so.6 lacks GLIBC_2.37");
    CHECK(host_suffices("libc.so.6 GLIBC_2.36\nlibstdc++.so.6 GLIBCXX_3.4.30\n", folders)
              .error()
              .detail == "no libstdc++.so.6");
    // Part of a longer version is no version.
    CHECK_FALSE(host_suffices("libc.so.6 GLIBC_2.3\n", folders));
  }

  TEST_CASE("a 32-bit library of that name is none; the first that fits is the one that counts") {
    test::TempFolder const folder;
    library(folder / "32/libc.so.6", std::string("\0GLIBC_2.40\0", 12), false);
    library(folder / "old/libc.so.6", std::string("\0GLIBC_2.31\0", 12));
    library(folder / "new/libc.so.6", std::string("\0GLIBC_2.40\0", 12));
    auto const in = [&folder](char const* name) { return (folder / name).string(); };
    CHECK(host_suffices("libc.so.6 GLIBC_2.40\n", {in("32"), in("new")}));
    CHECK_FALSE(host_suffices("libc.so.6 GLIBC_2.40\n", {in("32")}));
    CHECK_FALSE(host_suffices("libc.so.6 GLIBC_2.40\n", {in("old"), in("new")}));
  }

  TEST_CASE("this machine has the C library of the compiler that built this test") {
    CHECK(host_suffices("libc.so.6 GLIBC_2.2.5\n", launcher::library_folders()));
  }
}
