// SPDX-License-Identifier: MIT
#include "core/device/processes.hpp"

#include <random>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/unit/device/tree.hpp"

using namespace waggle::device;

namespace {

std::string stat(std::string const& pid, std::string const& name) {
  return pid + " (" + name +
         ") S 1 10 10 0 -1 4194560 9 0 0 0 120 30 5 6 20 0 1 0 777 1000 2 18446744073709551615";
}

}  // namespace

TEST_SUITE("processes") {
  TEST_CASE("a line of /proc/PID/stat is read, whatever the name holds") {
    CHECK(parse_process(stat("42", "blender")) == Process{42, "blender", 150, 777});
    CHECK(parse_process(stat("42", "a) S (b"))->name == "a) S (b");
    CHECK(parse_process(stat("42", "two\nlines"))->name == "two\nlines");
    CHECK(parse_process(stat("42", ""))->name == "");
  }

  TEST_CASE("what is cut off or no number is none") {
    auto const whole = stat("42", "x");
    std::size_t const needed = whole.find("777");
    for (std::size_t n = 0; n < needed; ++n) CHECK(!parse_process(whole.substr(0, n)));
    CHECK(!parse_process(stat("0", "x")));
    CHECK(!parse_process(stat("-3", "x")));
    CHECK(!parse_process(stat("x", "x")));
    CHECK(!parse_process("42 (x) S 1 10 10 0 -1 4194560 9 0 0 0 -5 30 5 6 20 0 1 0 777 1"));
    std::mt19937 chance(2);
    for (int i = 0; i < 20'000; ++i) {
      auto text = whole;
      for (int k = 0; k < 3; ++k) text[chance() % text.size()] = static_cast<char>(chance());
      if (auto const one = parse_process(text)) CHECK(one->pid > 0);
    }
  }

  TEST_CASE("programs are found by their whole name, as far as the kernel keeps it") {
    std::vector<Process> const processes{{1, "init", 0, 0}, {2, "a-very-long-nam", 0, 0}};
    CHECK(running(std::vector<std::string>{"blender", "init"}, processes) == "init");
    CHECK(running(std::vector<std::string>{"a-very-long-name-indeed"}, processes) ==
          "a-very-long-name-indeed");
    CHECK(!running(std::vector<std::string>{"ini", "initd"}, processes));
    CHECK(!running({}, processes));
  }

  TEST_CASE("a tree is read, and the real one holds this test") {
    waggle::test::Tree const proc;
    proc.put("7/stat", stat("7", "blender"));
    proc.put("8/stat", "gone");
    proc.put("self/stat", stat("9", "x"));
    std::filesystem::create_directory(proc.path / "11");
    auto const found = read_processes(proc.path);
    REQUIRE(found.size() == 1);
    CHECK(found[0].pid == 7);
    bool here = false;
    for (auto const& one : read_processes("/proc")) here |= one.pid == ::getpid();
    CHECK(here);
  }
}
