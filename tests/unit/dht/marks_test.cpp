// SPDX-License-Identifier: MIT
#include "core/dht/marks.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::dht;

namespace {

std::vector<std::string> owners(std::string_view text) {
  std::vector<std::string> out;
  for (auto const& mark : find_marks(as_bytes(text), kOwnerOpening)) out.emplace_back(mark.content);
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a mark is the shortest text between its opening and a bracket") {
  CHECK(owners("x[owner:a b]y") == Texts{"a b"});
  CHECK(owners("[owner:a][owner:b]") == Texts{"a", "b"});
  CHECK(owners("[owner:a]]") == Texts{"a"});
  CHECK(owners("[owner:[owner:a]]") == Texts{"[owner:a"});
}

TEST_CASE("a mark holds at least one character, which may be a bracket, and no newline") {
  CHECK(owners("[owner:]") == Texts{});
  CHECK(owners("[owner:]]") == Texts{"]"});
  CHECK(owners("[owner:a\nb]") == Texts{});
  CHECK(owners("[owner:\n]") == Texts{});
  CHECK(owners("[owner:a\n[owner:b]") == Texts{"b"});
}

TEST_CASE("cut marks are none") {
  CHECK(owners("[owner:") == Texts{});
  CHECK(owners("[owner:a") == Texts{});
  CHECK(owners("[owner") == Texts{});
  CHECK(owners("") == Texts{});
}

TEST_CASE("a mark knows its place") {
  auto const marks = find_marks(as_bytes("12[signature:x]34"), kSignatureOpening);
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].begin == 2);
  CHECK(marks[0].end == 15);
}
