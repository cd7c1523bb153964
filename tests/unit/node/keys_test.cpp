// SPDX-License-Identifier: MIT
#include "core/node/keys.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/crypto/keys.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

TEST_SUITE("keys") {
  TEST_CASE("an operator's key moves to another data directory and nowhere else") {
    test::Folder const folder;
    auto const first = folder.path / "first";
    auto const second = folder.path / "second";
    std::filesystem::create_directories(first / "operator");
    std::filesystem::create_directories(second);
    auto const made = crypto::Identity::load_or_create(first / "operator" / "lab.key");
    REQUIRE(made);
    auto const backup = folder.path / "backup.key";
    auto const out = export_key(first, "lab", backup);
    REQUIRE(out);

    struct stat info {};

    REQUIRE(::stat(backup.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(!export_key(first, "lab", backup));  // a key never overwrites a file

    auto const in = import_key(second, "lab", backup);
    REQUIRE(in);
    CHECK(in->peer_id == out->peer_id);
    CHECK(!import_key(second, "lab", backup));
    auto const keys = list_keys(second);
    REQUIRE(keys);
    REQUIRE(keys->size() == 1);
    CHECK(keys->front().name == "lab");
  }

  TEST_CASE("names that would leave the folder, and files that are no keys, are refused") {
    test::Folder const folder;
    REQUIRE(write_file(folder.path / "junk", as_bytes("not a key"), FileMode::secret));
    CHECK(!import_key(folder.path, "../evil", folder.path / "junk"));
    CHECK(!import_key(folder.path, "lab", folder.path / "junk"));
    CHECK(!export_key(folder.path, "absent", folder.path / "out"));
  }
}
