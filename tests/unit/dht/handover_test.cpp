// SPDX-License-Identifier: MIT
#include "core/dht/handover.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::dht;

namespace {

constexpr double kNow = 1.7e9;

Id at(int first_byte) {
  Id id;
  id.bytes[0] = static_cast<std::byte>(first_byte);
  return id;
}

}  // namespace

TEST_CASE("with nobody else known everything is handed over") {
  Storage storage;
  (void)storage.store(at(1), {}, kNow + 9, kNow);
  (void)storage.store(at(200), {}, kNow + 9, kNow);
  RoutingTable const table(at(0), 20, 5);
  CHECK(handover_keys(storage, table, at(7), 5, kNow).size() == 2);
  CHECK(handover_keys(storage, table, at(7), 5, kNow + 10).empty());
}

TEST_CASE("only the nearest holder hands over, and only to who is near enough") {
  Storage storage;
  Id const key = at(0x10);
  (void)storage.store(key, {}, kNow + 9, kNow);
  RoutingTable table(at(0x11), 20, 5);
  PeerId const peer = *PeerId::from_bytes(Bytes(38, std::byte{1}));
  (void)table.seen({at(0x20), peer}, {});
  CHECK(handover_keys(storage, table, at(0x12), 1, kNow) == std::vector<Id>{key});
  CHECK(handover_keys(storage, table, at(0x80), 1, kNow).empty());
  PeerId const nearer = *PeerId::from_bytes(Bytes(38, std::byte{2}));
  (void)table.seen({at(0x10), nearer}, {});
  CHECK(handover_keys(storage, table, at(0x12), 5, kNow).empty());
}

TEST_CASE("a value travels regular or as a whole dictionary") {
  StoredValue const regular{to_bytes("v"), kNow + 5};
  auto const one = whole_item(at(1), regular, true, kNow);
  CHECK(is_regular_tag(one.tag));
  CHECK(one.in_cache);
  DictionaryValue dictionary;
  (void)dictionary.store(Bytes{std::byte{1}}, {}, kNow + 5, kNow);
  Bytes const packed = dictionary.encode(kNow);
  StoredValue const many{std::move(dictionary), kNow + 5};
  auto const whole = whole_item(at(1), many, false, kNow);
  CHECK(whole.tag.empty());
  CHECK(whole.value == packed);
}
