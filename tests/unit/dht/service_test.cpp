// SPDX-License-Identifier: MIT
#include "core/dht/service.hpp"

#include <doctest/doctest.h>

#include "core/base/text.hpp"
#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::dht;

namespace {

constexpr double kNow = 1.7e9;

PeerId sender(int n) {
  return *PeerId::from_bytes(as_bytes(cat("sender ", n)));
}

StoreItem item(Id const& key, Bytes tag, Bytes value, double end = kNow + 60) {
  return {key, std::move(tag), std::move(value), end, false};
}

Bytes regular() {
  return to_bytes(regular_tag());
}

std::vector<bool> store(Records& records, std::vector<StoreItem> items) {
  StoreRequest request;
  request.items = std::move(items);
  auto const answer = answer_store(request, sender(1), nullptr, records, Validators{}, kNow);
  REQUIRE(answer);
  return answer->store_ok;
}

}  // namespace

TEST_CASE("each item gets its own verdict") {
  Records records;
  Id const key = Id::of_text("k");
  Bytes const owned = wire::Msgpack("[owner:x]").encode();
  auto const verdict = store(records,
                             {item(key, regular(), to_bytes("v")),
                              item(key, regular(), to_bytes("again")),
                              item(Id::of_text("far"), regular(), {}, kNow + 90'000),
                              item(Id::of_text("large"), regular(), Bytes(70'000)),
                              item(Id::of_text("unsigned"), owned, to_bytes("v")),
                              item(Id::of_text("bad tag"), Bytes{std::byte{0xc1}}, to_bytes("v")),
                              item(Id::of_text("good"), wire::Msgpack(1).encode(), to_bytes("v"))});
  CHECK(verdict == std::vector<bool>{true, false, false, false, false, false, true});
}

TEST_CASE("a dictionary with an invalid entry is refused whole") {
  Records records;
  DictionaryValue dictionary;
  (void)dictionary.store(wire::Msgpack("fine").encode(), to_bytes("v"), kNow + 5, kNow);
  (void)dictionary.store(wire::Msgpack("[owner:x]").encode(), to_bytes("v"), kNow + 5, kNow);
  CHECK(store(records, {item(Id::of_text("k"), {}, dictionary.encode(kNow))}) ==
        std::vector<bool>{false});
  CHECK(records.storage.size() == 0);
}

TEST_CASE("what was stored before a malformed item stays") {
  Records records;
  StoreRequest request;
  request.items = {item(Id::of_text("a"), regular(), to_bytes("v")),
                   item(Id::of_text("b"), {}, to_bytes("v"))};
  CHECK_FALSE(answer_store(request, sender(1), nullptr, records, Validators{}, kNow));
  CHECK(records.storage.size() == 1);
}

TEST_CASE("the later of storage and cache is found, storage on a tie, certified first") {
  Records records;
  Id const key = Id::of_text("k");
  (void)records.storage.store(key, to_bytes("stored"), kNow + 10, kNow);
  (void)records.cache.store(key, to_bytes("cached"), kNow + 10, kNow);
  CHECK(*records.best(key, kNow)->regular() == to_bytes("stored"));
  (void)records.cache.store(key, to_bytes("cached"), kNow + 11, kNow);
  CHECK(*records.best(key, kNow)->regular() == to_bytes("cached"));
  records.storage.set_certify(
      [](Id const&, ByteView value) { return std::optional<std::uint64_t>(value.size()); });
  CHECK(*records.best(key, kNow)->regular() == to_bytes("stored"));
  CHECK(records.best(Id::of_text("other"), kNow) == nullptr);
}

TEST_CASE("an answer stays below what hivemind reads, whatever is asked for") {
  Records records;
  Id const own;
  RoutingTable table(own, 20, 5);
  for (int i = 0; i < 200; ++i)
    (void)table.seen(
        {Id::of_text(cat("node ", i)), *PeerId::from_bytes(Bytes(38, static_cast<std::byte>(i)))},
        {});
  FindRequest request;
  for (int i = 0; i < 1000; ++i) {
    Id const key = Id::of_text(cat("key ", i));
    (void)records.storage.store(key, Bytes(20'000), kNow + 60, kNow);
    request.keys.push_back(key);
  }
  auto const answer = answer_find(request, table, 20, records, kNow);
  Bytes const bytes = answer.encode();
  CHECK(bytes.size() <= 4u << 20);
  CHECK(bytes.size() > 3u << 20);
  CHECK(answer.results.size() == 1000);
  CHECK(answer.results.back().type == FindResult::Type::not_found);
  CHECK(answer.results.back().nearest.size() == 20);
}

TEST_CASE("the caller is not among its own neighbours") {
  Records records;
  RoutingTable table(Id{}, 20, 5);
  Contact const caller{Id::of_text("caller"), sender(1)};
  Contact const other{Id::of_text("other"), sender(2)};
  (void)table.seen(caller, {});
  (void)table.seen(other, {});
  FindRequest request;
  request.node = caller.id;
  request.keys = {caller.id};
  CHECK(answer_find(request, table, 20, records, kNow).results[0].nearest ==
        std::vector<Contact>{other});
  request.node.reset();
  CHECK(answer_find(request, table, 20, records, kNow).results[0].nearest.front() == caller);
}
