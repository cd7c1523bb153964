// SPDX-License-Identifier: MIT
#include "installer/launcher/tar.hpp"

#include <fstream>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/installer/sample.hpp"

using namespace waggle;
using launcher::is_plain_path;
using launcher::link_stays_inside;
using launcher::TarWriter;
using test::tar_block;
using test::tar_of;
using test::TarEntry;

namespace {

struct Target {
  test::TempFolder folder;
  Fd root{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY)};

  /// Feeds `bytes` in pieces of `step`.
  Status write(std::string const& bytes,
               std::size_t step = 100'000,
               std::uint64_t limit = 1 << 20) {
    TarWriter writer(root.get(), limit);
    for (std::size_t at = 0; at < bytes.size(); at += step)
      WAGGLE_TRY_STATUS(writer.feed({bytes.data() + at, std::min(step, bytes.size() - at)}));
    return writer.finish();
  }

  std::string read(std::string const& name) {
    std::ifstream in(folder / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

Errc code(Status const& status) {
  REQUIRE_FALSE(status);
  return status.error().code;
}

}  // namespace

TEST_SUITE("tar") {
  TEST_CASE("files, folders and links are written, however the bytes come") {
    std::string const content(1500, 'x');
    auto const bytes = tar_of({{"./", "", '5'},
                               {"./bin/", "", '5'},
                               {"./bin/program", content, '0', "", 0755},
                               {"./bin/empty", ""},
                               {"bin/link", "", '2', "../bin/program"}});
    for (std::size_t const step :
         {std::size_t{1}, std::size_t{511}, std::size_t{513}, bytes.size()}) {
      Target target;
      REQUIRE(target.write(bytes, step));
      CHECK(target.read("bin/program") == content);
      CHECK(target.read("bin/link") == content);
      CHECK(target.read("bin/empty").empty());

      struct stat facts {};

      REQUIRE(::stat((target.folder / "bin/program").c_str(), &facts) == 0);
      CHECK((facts.st_mode & 0777) == 0700);
      REQUIRE(::stat((target.folder / "bin/empty").c_str(), &facts) == 0);
      CHECK((facts.st_mode & 0777) == 0600);
    }
  }

  TEST_CASE("nothing is written outside") {
    for (auto const* name : {"../a", "/a", "a/../../b", "a//b", "a/./b", ""}) {
      Target target;
      CHECK(code(target.write(tar_of({{name, "x"}}))) == Errc::malformed);
    }
    Target target;
    CHECK(code(target.write(tar_of({{"link", "", '2', "/etc"}}))) == Errc::malformed);
    CHECK(code(target.write(tar_of({{"link", "", '2', ".."}}))) == Errc::malformed);
  }

  TEST_CASE("no link on the way is followed and nothing is replaced") {
    Target target;
    std::filesystem::create_directories(target.folder / "real");
    std::filesystem::create_symlink(target.folder / "real", target.folder / "link");
    CHECK(code(target.write(tar_of({{"link/file", "x"}}))) == Errc::io);
    CHECK(std::filesystem::is_empty(target.folder / "real"));
    CHECK(code(target.write(tar_of({{"twice", "1"}, {"twice", "2"}}))) == Errc::io);
    CHECK(target.read("twice") == "1");
  }

  TEST_CASE("what is no tar, of another kind, too long or cut short is refused") {
    Target target;
    CHECK(code(target.write(std::string(512, 'x'))) == Errc::malformed);
    auto broken = tar_of({{"a", "x"}});
    broken[0] = 'b';
    CHECK(code(target.write(broken)) == Errc::malformed);
    CHECK(code(target.write(tar_of({{"device", "", '3'}}))) == Errc::malformed);
    CHECK(code(target.write(tar_of({{"hard", "", '1', "a"}}))) == Errc::malformed);
    CHECK(code(target.write(tar_block({"c", std::string(600, 'x')}).substr(0, 700))) ==
          Errc::malformed);
    CHECK(code(target.write(tar_of({{"d", std::string(5000, 'x')}}), 512, 4096)) ==
          Errc::too_large);
  }

  TEST_CASE("a link is judged by where it ends") {
    CHECK(link_stays_inside("alone/own", "../own"));
    CHECK(link_stays_inside("a/b/c", "../../d"));
    CHECK_FALSE(link_stays_inside("a/b", "../../d"));
    CHECK_FALSE(link_stays_inside("a/b", "../c/../../d"));
    CHECK_FALSE(link_stays_inside("a", "/etc/passwd"));
    CHECK_FALSE(link_stays_inside("a", ""));
    CHECK(is_plain_path("a/b.so.6"));
    CHECK_FALSE(is_plain_path("a/"));
  }
}
