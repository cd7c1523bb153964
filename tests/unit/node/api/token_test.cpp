// SPDX-License-Identifier: MIT
#include "core/node/api/token.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/base/system_runtime.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

TEST_SUITE("api_token") {
  TEST_CASE("is made once, of 32 random bytes, for its owner alone") {
    test::Folder const folder;
    SystemRuntime runtime;
    auto const token = api_token(folder.path, runtime);
    REQUIRE(token);
    CHECK(token->size() == 64);
    CHECK(from_hex(*token));

    struct stat info {};

    REQUIRE(::stat((folder.path / "api.token").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(api_token(folder.path, runtime).value_or("") == *token);
    test::Folder const other;
    CHECK(api_token(other.path, runtime).value_or("") != *token);
  }

  TEST_CASE("one that others could read, that is cut or a link elsewhere, is replaced") {
    test::Folder const folder;
    SystemRuntime runtime;
    auto const path = folder.path / "api.token";
    auto const first = api_token(folder.path, runtime).value_or("");
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
    auto const second = api_token(folder.path, runtime).value_or("");
    CHECK(second != first);

    struct stat info {};

    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    REQUIRE(write_file(path, as_bytes(second.substr(1)), FileMode::secret));
    auto const third = api_token(folder.path, runtime).value_or("");
    CHECK(third.size() == 64);
    CHECK(third.substr(0, 63) != second.substr(1));
    REQUIRE(write_file(path, as_bytes("no hex"), FileMode::secret));
    CHECK(api_token(folder.path, runtime).value_or("").size() == 64);
    auto const target = folder.path / "elsewhere";
    REQUIRE(write_file(target, as_bytes(first), FileMode::secret));
    std::filesystem::remove(path);
    std::filesystem::create_symlink(target, path);
    CHECK(api_token(folder.path, runtime).value_or(first) != first);
    CHECK(!std::filesystem::is_symlink(path));
  }
}
