// SPDX-License-Identifier: MIT
#include "core/dht/messages.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"

using namespace waggle;
using namespace waggle::dht;

namespace {

/// Protobuf by hand: fields that our own encoder would never write so.
Bytes field(unsigned number, ByteView content) {
  Bytes out{static_cast<std::byte>(number << 3 | 2), static_cast<std::byte>(content.size())};
  append(out, content);
  return out;
}

Bytes join(std::vector<Bytes> const& parts) {
  Bytes out;
  for (auto const& part : parts) append(out, part);
  return out;
}

}  // namespace

TEST_CASE("an absent peer is an anonymous caller, and so is an empty one") {
  CHECK_FALSE(PingRequest::decode({})->node);
  CHECK_FALSE(PingRequest::decode(field(2, {}))->node);
  CHECK_FALSE(FindRequest::decode({})->node);
}

TEST_CASE("a short id is padded on the left, a long one is refused") {
  auto const ping = PingRequest::decode(field(2, field(1, Bytes{std::byte{7}})));
  REQUIRE(ping);
  REQUIRE(ping->node);
  CHECK(ping->node->bytes.back() == std::byte{7});
  CHECK_FALSE(PingRequest::decode(field(2, field(1, Bytes(21, std::byte{1})))));
  CHECK_FALSE(FindRequest::decode(field(2, Bytes(21, std::byte{1}))));
}

TEST_CASE("authorization is skipped") {
  auto const ping =
      PingRequest::decode(join({field(1, Bytes(40)), field(2, field(1, Bytes(20, std::byte{9})))}));
  REQUIRE(ping);
  CHECK(ping->node.has_value());
}

TEST_CASE("lists of a store that do not match fail the call and say so") {
  Bytes const key = field(2, Bytes(20));
  Bytes const tag = field(3, Bytes{std::byte{0xc0}});
  Bytes const value = field(4, Bytes(3));
  Bytes const end = field(5, Bytes(8));
  Bytes const cache = field(6, Bytes(1));
  CHECK(StoreRequest::decode(join({key, tag, value, end, cache}))->items.size() == 1);
  // Missing subkeys cut the list; anything else missing is malformed.
  CHECK(StoreRequest::decode(join({key, value, end, cache}))->items.empty());
  for (auto const& bad : {join({key, tag, value, end}),
                          join({key, tag, value, cache}),
                          join({key, tag, end, cache}),
                          join({tag, value, end, cache}),
                          join({key, key, tag, value, end, cache})}) {
    auto const decoded = StoreRequest::decode(bad);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == Errc::malformed);
  }
}

TEST_CASE("more keys, items or neighbours than allowed are refused or cut") {
  FindRequest find;
  find.keys.assign(kMaxFindKeys, Id{});
  CHECK(FindRequest::decode(find.encode()));
  find.keys.emplace_back();
  CHECK(FindRequest::decode(find.encode()).error().code == Errc::too_large);
  StoreRequest store;
  store.items.assign(kMaxStoreItems + 1, StoreItem{{}, Bytes{std::byte{0xc0}}, {}, 1, false});
  CHECK(StoreRequest::decode(store.encode()).error().code == Errc::too_large);
  FindResponse response;
  FindResult result;
  result.nearest.assign(kMaxNeighbours + 50, Contact{Id{}, *PeerId::from_bytes(Bytes(38))});
  response.results.push_back(result);
  CHECK(FindResponse::decode(response.encode())->results[0].nearest.size() == kMaxNeighbours);
}

TEST_CASE(
    "neighbour lists of different lengths are cut to the shorter, senseless neighbours left out") {
  Bytes const id = field(4, Bytes(20, std::byte{1}));
  Bytes const peer = field(5, Bytes(38, std::byte{2}));
  auto const decode = [](Bytes const& result) { return FindResponse::decode(field(2, result)); };
  CHECK(decode(join({id, id, peer}))->results[0].nearest.size() == 1);
  CHECK(decode(join({id, field(5, {})}))->results[0].nearest.empty());
  CHECK(decode(join({id, field(5, Bytes(60))}))->results[0].nearest.empty());
  CHECK(decode(join({field(4, Bytes(30, std::byte{1})), peer}))->results[0].nearest.empty());
}

TEST_CASE("a result of an unknown type is nothing found") {
  Bytes const strange{std::byte{0x08}, std::byte{0x09}};
  CHECK(FindResponse::decode(field(2, strange))->results[0].type == FindResult::Type::not_found);
}

TEST_CASE("bytes that are no protobuf are malformed") {
  Bytes const garbage(50, std::byte{0xff});
  CHECK_FALSE(PingRequest::decode(garbage));
  CHECK_FALSE(PingResponse::decode(garbage));
  CHECK_FALSE(StoreRequest::decode(garbage));
  CHECK_FALSE(StoreResponse::decode(garbage));
  CHECK_FALSE(FindRequest::decode(garbage));
  CHECK_FALSE(FindResponse::decode(garbage));
}
