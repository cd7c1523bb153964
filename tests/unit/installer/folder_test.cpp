// SPDX-License-Identifier: MIT
#include "installer/launcher/folder.hpp"

#include <fstream>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using launcher::open_place;
using launcher::open_private;
using launcher::remove_tree;

namespace {

unsigned mode_of(std::filesystem::path const& path) {
  struct stat facts {};

  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

}  // namespace

TEST_SUITE("folder") {
  TEST_CASE("a place is made for its user alone") {
    test::TempFolder const folder;
    auto const cache = (folder / ".cache").string();
    REQUIRE(open_place({cache, "waggle", true}));
    CHECK(mode_of(folder / ".cache/waggle") == 0700);
    // One that lets others in is closed.
    REQUIRE(::chmod((folder / ".cache/waggle").c_str(), 0755) == 0);
    REQUIRE(open_place({cache, "waggle"}));
    CHECK(mode_of(folder / ".cache/waggle") == 0700);
    CHECK_FALSE(open_place({(folder / "missing").string(), "waggle"}));
  }

  TEST_CASE("a symbolic link in its stead is refused, and what it points to untouched") {
    test::TempFolder const folder;
    std::filesystem::create_directory(folder / "victim");
    REQUIRE(::chmod((folder / "victim").c_str(), 0755) == 0);
    std::filesystem::create_directory_symlink(folder / "victim", folder / "waggle");
    auto const opened = open_place({folder.path().string(), "waggle"});
    REQUIRE_FALSE(opened);
    CHECK(opened.error().detail.find("symbolic link") != std::string::npos);
    CHECK(mode_of(folder / "victim") == 0755);
    std::ofstream(folder / "file") << "";
    CHECK_FALSE(open_place({folder.path().string(), "file"}));
  }

  TEST_CASE("a parent that others may write to is refused, unless it is sticky") {
    test::TempFolder const folder;
    REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
    auto const opened = open_place({folder.path().string(), "waggle"});
    REQUIRE_FALSE(opened);
    CHECK(opened.error().detail.find("others may write") != std::string::npos);
    REQUIRE(::chmod(folder.path().c_str(), 01777) == 0);
    CHECK(open_place({folder.path().string(), "waggle"}));
  }

  TEST_CASE("somebody else's folder is refused") {
    if (::geteuid() != 0) return;  // only root can give one away
    test::TempFolder const folder;
    auto const theirs = folder / "waggle-0";
    std::filesystem::create_directory(theirs);
    REQUIRE(::chown(theirs.c_str(), 4242, 4242) == 0);
    auto const opened = open_place({folder.path().string(), "waggle-0"});
    REQUIRE_FALSE(opened);
    CHECK(opened.error().detail == "it belongs to user 4242");
    REQUIRE(::chown(folder.path().c_str(), 4242, 4242) == 0);
    CHECK(open_place({folder.path().string(), "waggle"}).error().detail ==
          "its parent folder belongs to user 4242");
  }

  TEST_CASE("a place where no program may run says so") {
    // Most machines mount /proc or /sys so; not every container does.
    for (char const* const place : {"/proc", "/sys"}) {
      struct statvfs facts {};

      REQUIRE(::statvfs(place, &facts) == 0);
      if ((facts.f_flag & ST_NOEXEC) == 0) continue;
      auto const opened = open_place({place, "waggle"});
      REQUIRE_FALSE(opened);
      CHECK(opened.error().detail.find("noexec") != std::string::npos);
    }
  }

  TEST_CASE("a tree is deleted, what its links point to is not") {
    test::TempFolder const folder;
    std::filesystem::create_directories(folder / "tree/a/b");
    std::filesystem::create_directory(folder / "victim");
    std::ofstream(folder / "victim/file") << "1";
    std::filesystem::create_directory_symlink(folder / "victim", folder / "tree/a/link");
    Fd const root(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    CHECK(remove_tree(root.get(), "tree"));
    CHECK_FALSE(std::filesystem::exists(folder / "tree"));
    CHECK(std::filesystem::exists(folder / "victim/file"));
    CHECK(remove_tree(root.get(), "never there"));
  }

  TEST_CASE("space is asked for in numbers") {
    test::TempFolder const folder;
    Fd const root(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    CHECK(launcher::check_space(root.get(), 1));
    auto const none = launcher::check_space(root.get(), 1ull << 60);
    REQUIRE_FALSE(none);
    CHECK(none.error().detail.find("MiB are needed") != std::string::npos);
  }
}
