// SPDX-License-Identifier: MIT
#include "ui/lines.hpp"

#include <doctest/doctest.h>

using namespace waggle::ui;

namespace {

// A Chinese letter is as wide as two others.
float two_or_one(std::string_view letter) {
  return letter.size() == 3 ? 2 : 1;
}

std::string in(float room, std::string_view words) {
  return lines(words, room, two_or_one);
}

}  // namespace

TEST_CASE("what fits stays on its line") {
  CHECK(in(10, "0123456789") == "0123456789");
  CHECK(in(10, "").empty());
  CHECK(in(10, "a\nb\n\nc") == "a\nb\n\nc");
}

TEST_CASE("a line ends at the last space that fits, and the space goes") {
  CHECK(in(10, "one two three") == "one two\nthree");
  CHECK(in(7, "one two three") == "one two\nthree");
  CHECK(in(3, "a b c d") == "a b\nc d");
}

TEST_CASE("a word that is too long by itself is cut, so that an address can be read whole") {
  CHECK(in(6, "/ip4/192.168.1.20") == "/ip4/1\n92.168\n.1.20");
  CHECK(in(0, "ab") == "a\nb");
}

TEST_CASE("Chinese lines end between letters, but not before a closing mark") {
  CHECK(in(8, "一二三四五六") == "一二三四\n五六");
  CHECK(in(8, "一二三四，五六") == "一二三\n四，五六");
  CHECK(in(8, "一二三（四五六") == "一二三\n（四五六");
  CHECK(in(9, "约 300 MiB。内存") == "约 300\nMiB。内存");
  CHECK(in(12, "约 300 MiB。内存不足") == "约 300 MiB。\n内存不足");
}

TEST_CASE("letters that are cut off end the text, and nothing is read behind them") {
  CHECK(in(4, "ab\xe8\xb5") == "ab\xe8\xb5");
  CHECK(in(1, "\xff\xff") == "\xff\xff");
}
