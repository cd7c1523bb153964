// SPDX-License-Identifier: MIT
#include "installer/launcher/install.hpp"

#include <algorithm>
#include <fstream>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sodium/crypto_generichash.h>
#include <sodium/utils.h>
#include <sys/file.h>
#include <zstd.h>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/installer/sample.hpp"

#include "installer/launcher/folder.hpp"
#include "installer/launcher/payload.hpp"

using namespace waggle;
using launcher::Installed;
using launcher::kTrailerBytes;

namespace {

void quiet(std::string const&) {
}

/// A single file, whose program is `program`, as make-single-file makes it.
std::string single_file(std::string const& program) {
  auto const tar =
      test::tar_of({{"alone", "", '5'},
                    {"alone/waggle", test::program_with_room(512), '0', "", 0755},
                    {"trainer", "", '5'},
                    {"trainer/waggle-trainer", test::program_with_room(512), '0', "", 0755},
                    {"program", program}});
  std::string payload(ZSTD_compressBound(tar.size()), '\0');
  payload.resize(ZSTD_compress(payload.data(), payload.size(), tar.data(), tar.size(), 1));
  unsigned char hash[32];
  crypto_generichash(hash,
                     sizeof hash,
                     reinterpret_cast<unsigned char const*>(payload.data()),
                     payload.size(),
                     nullptr,
                     0);
  char hex[65];
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  auto trailer = "waggle-payload 1\nsize " + std::to_string(payload.size()) + "\nblake2b " + hex +
                 "\nunpacked " + std::to_string(tar.size()) + "\nversion 1\n";
  trailer.resize(kTrailerBytes, '\n');
  return "launcher" + payload + trailer;
}

struct Machine {
  test::TempFolder folder;
  std::string path = (folder / "programs").string();
  Fd programs;

  Machine() {
    std::filesystem::create_directory(path);
    programs = Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY));
  }

  Fd file(std::string const& bytes) {
    auto const name = folder / "single";
    std::ofstream(name, std::ios::binary) << bytes;
    return Fd(::open(name.c_str(), O_RDONLY));
  }

  Result<Installed> install(std::string const& bytes) {
    auto const single = file(bytes);
    WAGGLE_TRY(auto const trailer, launcher::read_trailer(single.get()));
    return launcher::install(programs.get(), path, single.get(), trailer, quiet);
  }

  std::vector<std::string> entries() {
    std::vector<std::string> out;
    for (auto const& entry : std::filesystem::directory_iterator(path))
      out.push_back(entry.path().filename().string());
    std::ranges::sort(out);
    return out;
  }
};

std::string content(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE("install") {
  TEST_CASE("the first start unpacks, the second finds it") {
    Machine machine;
    auto const first = machine.install(single_file("one"));
    REQUIRE(first);
    CHECK(first->fresh);
    CHECK(content(first->path + "/program") == "one");
    CHECK(content(first->path + "/alone/waggle").find(first->path + "/own/ld-linux-x86-64.so.2") !=
          std::string::npos);
    auto const second = machine.install(single_file("one"));
    REQUIRE(second);
    CHECK_FALSE(second->fresh);
    CHECK(second->path == first->path);
    CHECK(machine.entries().size() == 2);  // it and the lock
  }

  TEST_CASE("a file with one other bit anywhere in its payload is refused, and nothing stays") {
    auto const good = single_file("one");
    auto const payload = good.size() - kTrailerBytes;
    for (std::size_t const at : {std::size_t{8}, payload / 2, payload - 1}) {
      Machine machine;
      auto bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      auto const done = machine.install(bytes);
      REQUIRE_FALSE(done);
      CHECK(done.error().code == Errc::bad_signature);
      CHECK(machine.entries() == std::vector<std::string>{"lock"});
    }
  }

  TEST_CASE("a newer version removes the older, unless it runs") {
    Machine machine;
    auto first = machine.install(single_file("one"));
    REQUIRE(first);
    auto const second = machine.install(single_file("two"));
    REQUIRE(second);
    CHECK(std::filesystem::exists(first->path));  // first->use is its program, running
    first->use.reset();
    auto const third = machine.install(single_file("three"));
    REQUIRE(third);
    CHECK_FALSE(std::filesystem::exists(first->path));
    CHECK(std::filesystem::exists(second->path));
  }

  TEST_CASE("what a kill left half unpacked is begun anew, and a stranger's folder is let be") {
    Machine machine;
    auto const single = machine.file(single_file("one"));
    auto const trailer = launcher::read_trailer(single.get());
    REQUIRE(trailer);
    auto const half = machine.path + "/.new-" + launcher::folder_name(*trailer);
    std::filesystem::create_directories(half + "/alone");
    std::filesystem::create_directories(machine.path + "/mine");
    auto const done = machine.install(single_file("one"));
    REQUIRE(done);
    CHECK(content(done->path + "/program") == "one");
    CHECK_FALSE(std::filesystem::exists(half));
    CHECK(std::filesystem::exists(machine.path + "/mine"));
  }

  TEST_CASE("a link with the version's name is refused") {
    Machine machine;
    auto const single = machine.file(single_file("one"));
    auto const trailer = launcher::read_trailer(single.get());
    REQUIRE(trailer);
    std::filesystem::create_directory(machine.folder / "evil");
    std::filesystem::create_directory_symlink(machine.folder / "evil",
                                              machine.path + "/" + launcher::folder_name(*trailer));
    auto const done = machine.install(single_file("one"));
    REQUIRE_FALSE(done);
    CHECK(done.error().code == Errc::refused);
    CHECK(std::filesystem::is_empty(machine.folder / "evil"));
  }

  TEST_CASE("however many start at once, one unpacks") {
    Machine machine;
    auto const bytes = single_file("one");
    (void)machine.file(bytes);
    std::vector<int> fresh(8, -1);
    {
      std::vector<std::jthread> starters;
      for (auto& mine : fresh)
        starters.emplace_back([&machine, &mine] {
          Fd const single(::open((machine.folder / "single").c_str(), O_RDONLY));
          auto const trailer = launcher::read_trailer(single.get());
          auto const done = launcher::install(
              machine.programs.get(), machine.path, single.get(), *trailer, quiet);
          if (done) mine = done->fresh ? 1 : 0;
        });
    }
    CHECK(std::ranges::count(fresh, 1) == 1);
    CHECK(std::ranges::count(fresh, 0) == 7);
  }
}
