// SPDX-License-Identifier: MIT
#include "core/base/ids.hpp"

#include <map>
#include <unordered_set>

#include <doctest/doctest.h>

using namespace waggle;

TEST_SUITE("PeerId") {
  TEST_CASE("takes 1 to 42 bytes") {
    CHECK(!PeerId::from_bytes({}));
    CHECK(!PeerId::from_bytes(Bytes(PeerId::kMaxSize + 1)));
    Bytes const longest(PeerId::kMaxSize, std::byte{9});
    auto const id = PeerId::from_bytes(longest);
    REQUIRE(id);
    CHECK(equal(id->bytes(), longest));
    CHECK(!id->empty());
    CHECK(PeerId{}.empty());
  }

  TEST_CASE("is ordered by its bytes, length included") {
    auto const id = [](std::string_view hex) { return *PeerId::from_bytes(*from_hex(hex)); };
    CHECK(id("01") < id("0100"));
    CHECK(id("0100") < id("02"));
    CHECK(id("7f") < id("80"));
    CHECK(id("01") != id("0100"));  // trailing zeros are not padding
    CHECK((id("01") <=> id("01")) == std::strong_ordering::equal);
    CHECK(PeerId{} < id("00"));
    std::map<PeerId, int> order{{id("03"), 3}, {id("01"), 1}, {id("02"), 2}};
    CHECK(order.begin()->second == 1);
  }

  TEST_CASE("equal ids hash equal") {
    std::unordered_set<PeerId> seen;
    for (int i = 0; i < 256; ++i) {
      Bytes const bytes{std::byte{1}, static_cast<std::byte>(i)};
      seen.insert(*PeerId::from_bytes(bytes));
      seen.insert(*PeerId::from_bytes(bytes));
    }
    CHECK(seen.size() == 256);
  }
}
