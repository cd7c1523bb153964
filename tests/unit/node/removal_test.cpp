// SPDX-License-Identifier: MIT
#include "core/node/removal.hpp"

#include <algorithm>
#include <fstream>

#include <doctest/doctest.h>

#include "core/store/store.hpp"

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using node::delete_data;
using node::list_data;

namespace {

void write(std::filesystem::path const& path, std::string const& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("what Waggle made is deleted, the directory too") {
  test::TempFolder const folder;
  auto const data = folder / "data";
  write(data / "identity.key", "k");
  write(data / "waggle.sqlite3-wal", "12345");
  write(data / "blobs" / "ab" / "cd", "123");
  auto const listed = list_data(data);
  REQUIRE(listed);
  CHECK(std::ranges::all_of(*listed, &node::DataEntry::ours));
  CHECK(std::ranges::find(*listed, "blobs", &node::DataEntry::name)->bytes == 3);
  auto const left = delete_data(data);
  REQUIRE(left);
  CHECK(left->empty());
  CHECK_FALSE(std::filesystem::exists(data));
}

TEST_CASE("what somebody else put there stays and is named") {
  test::TempFolder const folder;
  write(folder / "identity.key", "k");
  write(folder / "photos" / "cat.jpg", "meow");
  auto const left = delete_data(folder.path());
  REQUIRE(left);
  REQUIRE(left->size() == 1);
  CHECK(left->front().name == "photos");
  CHECK(left->front().bytes == 4);
  CHECK(std::filesystem::exists(folder.path() / "photos" / "cat.jpg"));
}

TEST_CASE("a link in the data directory is deleted, what it points to is not") {
  test::TempFolder const folder;
  write(folder / "elsewhere" / "precious", "1");
  auto const data = folder / "data";
  write(data / "identity.key", "k");
  std::filesystem::create_symlink(folder / "elsewhere", data / "blobs");
  REQUIRE(delete_data(data));
  CHECK(std::filesystem::exists(folder.path() / "elsewhere" / "precious"));
}

TEST_CASE(
    "a mistyped directory is refused, a missing one is not found, a running node keeps its own") {
  test::TempFolder const folder;
  write(folder / "thesis.tex", "…");
  auto const wrong = delete_data(folder.path());
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == Errc::refused);
  CHECK(std::filesystem::exists(folder.path() / "thesis.tex"));
  CHECK(delete_data(folder / "nothing").error().code == Errc::not_found);

  auto const data = folder / "data";
  write(data / "identity.key", "k");
  auto const held = store::DirectoryLock::take(data);
  REQUIRE(held);
  auto const busy = delete_data(data);
  REQUIRE_FALSE(busy);
  CHECK(busy.error().code == Errc::refused);
  CHECK(std::filesystem::exists(data / "identity.key"));
}
