// SPDX-License-Identifier: MIT
#include "core/node/report/tar.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <doctest/doctest.h>

#include "tests/unit/node/folder.hpp"

using namespace waggle::node;

TEST_CASE("the system's tar reads what tar() and gzip() made") {
  waggle::test::Folder const folder;
  auto const packed = gzip(tar({{"a/one.txt", "one\n"},
                                {"a/empty", ""},
                                {"a/large", std::string(100'000, 'x')},
                                {std::string(100, 'n'), "longest name"}},
                               1'769'860'800));
  REQUIRE(packed);
  CHECK(packed->size() < 2000);
  auto const path = folder.path / "x.tar.gz";
  std::ofstream(path, std::ios::binary) << *packed;
  auto const command = "cd '" + folder.path.string() + "' && tar -xzf x.tar.gz";
  REQUIRE(std::system(command.c_str()) == 0);
  auto const size = [&](std::string const& name) {
    return std::filesystem::file_size(folder.path / name);
  };
  CHECK(size("a/one.txt") == 4);
  CHECK(size("a/empty") == 0);
  CHECK(size("a/large") == 100'000);
  CHECK(size(std::string(100, 'n')) == 12);
  auto const mode = std::filesystem::status(folder.path / "a/one.txt").permissions();
  CHECK((mode & std::filesystem::perms(077)) == std::filesystem::perms::none);
}
