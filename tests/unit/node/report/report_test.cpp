// SPDX-License-Identifier: MIT
#include "core/node/report/report.hpp"

#include <cstdlib>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "core/base/file.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

std::string whole(std::vector<ArchiveFile> const& files) {
  std::string out;
  for (auto const& file : files) out += file.name + "\n" + file.content + "\n";
  return out;
}

}  // namespace

TEST_SUITE("report") {
  TEST_CASE("holds what helps and none of the secrets that lie around") {
    test::Folder const folder;
    auto const dir = folder.path / "zaphod-data";
    std::filesystem::create_directories(dir / "logs");
    std::filesystem::create_directories(dir / "operator");
    ::setenv("HOME", "/home/zaphod.b", 1);
    ::setenv("USER", "zaphod.b", 1);
    std::string const token(64, 'e');
    std::string const peer = "12D3KooWGRUwa4rTL9dtDdqRrGJYVjWrSbEXuJrJVmPvSLQgbYRz";
    REQUIRE(write_file(dir / "api.token", as_bytes(token + "\n"), FileMode::secret));
    REQUIRE(write_file(dir / "record.key", as_bytes("RECORD-KEY-BYTES"), FileMode::secret));
    REQUIRE(write_file(
        dir / "waggle.toml",
        as_bytes("port = 31337\npeer = [\"/ip4/203.0.113.77/tcp/1/p2p/" + peer + "\"]\n"),
        FileMode::shared));
    auto const line = [](std::string const& text) {
      return "2026-01-31T12:00:00.500Z warning net       " + text + "\n";
    };
    REQUIRE(write_file(dir / "logs/waggle.log",
                       as_bytes(line("dialled 198.51.100.9 as zaphod.b from " + dir.string()) +
                                line("token " + token + " of " + peer)),
                       FileMode::shared));
    Options options;
    options.data_dir = dir;
    options.version = "9.8.7";
    auto const files = collect_report(options);
    auto const text = whole(files);
    for (auto const& secret : {token,
                               peer,
                               std::string("203.0.113.77"),
                               std::string("198.51.100.9"),
                               std::string("zaphod"),
                               std::string("RECORD-KEY-BYTES"),
                               folder.path.string()}) {
      CAPTURE(secret);
      CHECK(text.find(secret) == std::string::npos);
    }
    for (char const* const there : {"waggle-report/README.txt",
                                    "waggle-report/versions.txt",
                                    "waggle 9.8.7",
                                    "waggle-report/doctor.txt",
                                    "port = 31337",
                                    "warning net       dialled <ip ",
                                    "as <user> from <data dir>",
                                    "token <token> of <peer ",
                                    "Look at every file before you send it"}) {
      CAPTURE(there);
      CHECK(text.find(there) != std::string::npos);
    }
  }

  TEST_CASE("is written for its owner alone and replaces nothing") {
    test::Folder const folder;
    auto const path = folder.path / "r.tar.gz";
    REQUIRE(write_report({{"a", "b"}}, path, 0));

    struct stat info {};

    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(write_report({{"a", "b"}}, path, 0).error().code == Errc::refused);
    CHECK(write_report({{"a", "b"}}, folder.path / "r.zip", 0).error().code == Errc::invalid);
    std::filesystem::create_symlink("nowhere", folder.path / "l.tar.gz");
    CHECK(write_report({{"a", "b"}}, folder.path / "l.tar.gz", 0).error().code == Errc::refused);
  }
}
