// SPDX-License-Identifier: MIT
#include "core/base/file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_folder.hpp"

using namespace waggle;

namespace {

mode_t mode_of(std::filesystem::path const& path) {
  struct stat info {};

  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

std::size_t entries(std::filesystem::path const& folder) {
  std::size_t n = 0;
  for (auto const& entry : std::filesystem::directory_iterator(folder))
    n += entry.path().empty() ? 0 : 1;
  return n;
}

}  // namespace

TEST_SUITE("files") {
  TEST_CASE("what is written is read, and nothing is left beside it") {
    test::TempFolder const folder;
    Bytes content(100'000);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i * 13);
    auto const path = folder / "a";
    REQUIRE(write_file(path, content, FileMode::shared));
    CHECK(*read_file(path, content.size()) == content);
    CHECK(entries(folder.path()) == 1);
    REQUIRE(write_file(path, {}, FileMode::shared));
    CHECK(read_file(path, 0)->empty());
  }

  TEST_CASE("the mode is exact, whatever the umask and the old file's mode") {
    test::TempFolder const folder;
    mode_t const before = umask(0);
    REQUIRE(write_file(folder / "secret", as_bytes("x"), FileMode::secret));
    CHECK(mode_of(folder / "secret") == 0600);
    umask(0777);
    REQUIRE(write_file(folder / "shared", as_bytes("x"), FileMode::shared));
    CHECK(mode_of(folder / "shared") == 0644);
    umask(before);
    REQUIRE(write_file(folder / "shared", as_bytes("y"), FileMode::secret));
    CHECK(mode_of(folder / "shared") == 0600);
  }

  TEST_CASE("a file above the limit is not read, with both numbers in the error") {
    test::TempFolder const folder;
    REQUIRE(write_file(folder / "a", Bytes(101), FileMode::shared));
    auto const read = read_file(folder / "a", 100);
    REQUIRE(!read);
    CHECK(read.error().code == Errc::too_large);
    CHECK(read.error().detail.find("101") != std::string::npos);
    CHECK(read.error().detail.find("100") != std::string::npos);
    CHECK(read_file(folder / "a", 101));
  }

  TEST_CASE("missing files, folders and devices are errors that name the path") {
    test::TempFolder const folder;
    auto const missing = read_file(folder / "nothing", 10);
    REQUIRE(!missing);
    CHECK(missing.error().code == Errc::not_found);
    CHECK(missing.error().detail.find("nothing") != std::string::npos);
    CHECK(read_file(folder.path(), 10).error().code == Errc::io);
    CHECK(read_file("/dev/zero", 10).error().code == Errc::io);
    CHECK(!write_file(folder / "no" / "such", as_bytes("x"), FileMode::shared));
  }

  TEST_CASE("a write that fails leaves the old content and no temporary file") {
    test::TempFolder const folder;
    auto const path = folder / "taken";
    std::filesystem::create_directories(path / "inside");
    CHECK(!write_file(path, as_bytes("x"), FileMode::shared));
    CHECK(std::filesystem::is_directory(path / "inside"));
    CHECK(entries(folder.path()) == 1);
  }

  TEST_CASE("a planted link at the temporary name is not followed") {
    test::TempFolder const folder;
    auto const victim = folder / "victim";
    REQUIRE(write_file(victim, as_bytes("precious"), FileMode::shared));
    auto planted = folder / "a";
    planted += "." + std::to_string(getpid()) + ".tmp";
    std::filesystem::create_symlink(victim, planted);
    CHECK(!write_file(folder / "a", as_bytes("x"), FileMode::shared));
    CHECK(to_string(*read_file(victim, 100)) == "precious");
  }
}
