// SPDX-License-Identifier: MIT
#include "installer/launcher/elf.hpp"

#include <fstream>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "core/base/fd.hpp"

#include "tests/support/temp_folder.hpp"
#include "tests/unit/installer/sample.hpp"

using namespace waggle;
using launcher::set_interpreter;

namespace {

struct Program {
  explicit Program(std::string const& bytes) {
    std::ofstream(folder / "p", std::ios::binary) << bytes;
    file = Fd(::open((folder / "p").c_str(), O_RDWR));
  }

  std::string content() {
    std::ifstream in(folder / "p", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  test::TempFolder folder;
  Fd file;
};

}  // namespace

TEST_SUITE("elf") {
  TEST_CASE("the loader's path is written into its room, the rest of it emptied") {
    auto const before = test::program_with_room(32);
    Program program(before);
    REQUIRE(set_interpreter(program.file.get(), "/a/longer/loader"));
    REQUIRE(set_interpreter(program.file.get(), "/b/loader"));
    auto after = program.content();
    REQUIRE(after.size() == before.size());
    CHECK(after.substr(after.size() - 32) == "/b/loader" + std::string(23, '\0'));
    CHECK(after.substr(0, after.size() - 32) == before.substr(0, before.size() - 32));
  }

  TEST_CASE("a path that fills the room and leaves none for its end is refused") {
    Program program(test::program_with_room(8));
    CHECK(set_interpreter(program.file.get(), "/1234567").error().code == Errc::too_large);
    CHECK(set_interpreter(program.file.get(), "/123456"));
  }

  TEST_CASE("what is no program is left alone") {
    for (auto const& bytes : {std::string(),
                              std::string("#!/bin/sh\n"),
                              std::string(500, '\x7f'),
                              test::program_with_room(8).substr(0, 70)}) {
      Program program(bytes);
      CHECK(set_interpreter(program.file.get(), "/x").error().code == Errc::malformed);
      CHECK(program.content() == bytes);
    }
  }
}
