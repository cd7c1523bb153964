// SPDX-License-Identifier: MIT
#include "core/base/protobuf.hpp"

#include <bit>

#include <doctest/doctest.h>

using namespace waggle;
namespace pb = waggle::protobuf;

TEST_CASE("fields are read as they were written, whatever their size") {
  for (std::size_t const size : {0u, 1u, 127u, 128u, 16'383u, 16'384u}) {
    Bytes out;
    Bytes const content(size, std::byte{5});
    pb::append_field(out, 15, content);
    CHECK(out.size() == size + pb::field_header_size(15, size));
    pb::append_field(out, 16, std::uint64_t{1} << 63);
    pb::FieldReader reader(out);
    auto const first = reader.next();
    REQUIRE((first && *first));
    CHECK((*first)->number == 15);
    CHECK((*first)->wire == pb::Field::Wire::bytes);
    CHECK(equal((*first)->bytes, content));
    auto const second = reader.next();
    REQUIRE((second && *second));
    CHECK((*second)->number == 16);
    CHECK((*second)->value == std::uint64_t{1} << 63);
    auto const end = reader.next();
    REQUIRE(end);
    CHECK(!*end);
  }
}

TEST_CASE("numbers of fixed width are read") {
  Bytes out;
  pb::append_double(out, 5, 0.25);
  append(out, *from_hex("3501000080"));
  pb::FieldReader reader(out);
  auto const first = reader.next();
  REQUIRE((first && *first));
  CHECK((*first)->is(5, pb::Field::Wire::fixed64));
  CHECK(std::bit_cast<double>((*first)->value) == 0.25);
  auto const second = reader.next();
  REQUIRE((second && *second));
  CHECK((*second)->is(6, pb::Field::Wire::fixed32));
  CHECK((*second)->value == 0x80000001u);
}

TEST_CASE("what protobuf's parsers refuse is refused") {
  // Field 0, groups, wire types 6 and 7, cut numbers and contents, an eleven-byte number, a field
  // number above 2^29.
  for (auto const* hex : {"00",
                          "0b",
                          "0c",
                          "0e",
                          "0f",
                          "08",
                          "0880",
                          "0a02ff",
                          "0900",
                          "0d00",
                          "08ffffffffffffffffffff01",
                          "808080808001",
                          "0affffffffffffffffff01"}) {
    auto const bytes = *from_hex(hex);
    pb::FieldReader reader(bytes);
    auto const field = reader.next();
    REQUIRE_MESSAGE(!field, hex);
    CHECK(field.error().code == Errc::malformed);
  }
}
