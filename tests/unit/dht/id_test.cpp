// SPDX-License-Identifier: MIT
#include "core/dht/id.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using dht::Id;

TEST_CASE("a text key and the same bytes are different keys") {
  CHECK(Id::of_text("abc") != Id::of_bytes(as_bytes("abc")));
  CHECK(to_hex(Id::of_bytes(as_bytes("abc")).bytes) == "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST_CASE("an id is exactly twenty bytes") {
  CHECK_FALSE(Id::from_bytes(Bytes(19)));
  CHECK_FALSE(Id::from_bytes(Bytes(21)));
  CHECK(Id::from_bytes(Bytes(20)) == Id{});
}

TEST_CASE("on the wire an id is a number: shorter is padded, longer only with leading zeros") {
  Id one;
  one.bytes.back() = std::byte{1};
  CHECK(Id::from_wire({}) == Id{});
  CHECK(Id::from_wire(Bytes{std::byte{1}}) == one);
  Bytes padded(25);
  padded.back() = std::byte{1};
  CHECK(Id::from_wire(padded) == one);
  Bytes too_large(21);
  too_large.front() = std::byte{1};
  CHECK_FALSE(Id::from_wire(too_large));
}

TEST_CASE("distance is symmetric, zero only to itself, and compared big-endian") {
  Id const a = Id::of_text("a");
  Id const b = Id::of_text("b");
  CHECK(distance(a, b) == distance(b, a));
  CHECK(distance(a, a) == Id{});
  Id high;
  high.bytes.front() = std::byte{1};
  Id low;
  low.bytes.back() = std::byte{0xff};
  CHECK(low < high);
}

TEST_CASE("bits are counted from the most significant one") {
  Id id;
  id.bytes[0] = std::byte{0x80};
  id.bytes[1] = std::byte{0x01};
  CHECK(id.bit(0));
  CHECK_FALSE(id.bit(1));
  CHECK(id.bit(15));
}
