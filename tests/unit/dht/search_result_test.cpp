// SPDX-License-Identifier: MIT
#include "core/dht/search_result.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::dht;

namespace {

constexpr double kNow = 1000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Id node(int n) {
  Id id;
  id.bytes[0] = static_cast<std::byte>(n);
  return id;
}

StoredValue regular(std::string_view text, double end) {
  return {to_bytes(text), end};
}

std::string text(SearchResult const& result) {
  return to_string(*result.value()->regular());
}

FindResult answer(FindResult::Type type, Bytes value, double end) {
  FindResult out;
  out.type = type;
  out.value = std::move(value);
  out.expiration = end;
  return out;
}

}  // namespace

TEST_CASE("the higher version wins over the later end, in either order") {
  for (bool const certified_first : {true, false}) {
    SearchResult result(kInfinity);
    if (certified_first) result.offer(regular("v2", kNow + 5), node(1), kNow, 2);
    result.offer(regular("junk", kNow + 500), node(2), kNow);
    result.offer(regular("v1", kNow + 600), node(3), kNow, 1);
    if (!certified_first) result.offer(regular("v2", kNow + 5), node(1), kNow, 2);
    CHECK(text(result) == "v2");
    CHECK(*result.source() == node(1));
    result.offer(regular("same", kNow + 7), node(4), kNow, 2);
    CHECK(text(result) == "same");
  }
}

TEST_CASE("a dictionary does not displace a certified record") {
  SearchResult result(kInfinity);
  result.offer(regular("v2", kNow + 5), node(1), kNow, 2);
  DictionaryValue dictionary;
  (void)dictionary.store(Bytes{std::byte{1}}, {}, kNow + 900, kNow);
  result.offer({std::move(dictionary), kNow + 900}, node(2), kNow);
  CHECK(text(result) == "v2");
}

TEST_CASE("an answer that is nothing, over, endless or invalid is not read") {
  Validators const validators;
  Id const key = Id::of_text("k");
  Bytes const bytes = to_bytes("v");
  using Type = FindResult::Type;
  CHECK(read_found(key, answer(Type::regular, bytes, kNow), validators, kNow).has_value());
  CHECK_FALSE(read_found(key, answer(Type::not_found, bytes, kNow + 1), validators, kNow));
  CHECK_FALSE(read_found(key, answer(Type::regular, bytes, kNow - 1), validators, kNow));
  CHECK_FALSE(read_found(key, answer(Type::regular, bytes, kInfinity), validators, kNow));
  CHECK_FALSE(read_found(key,
                         answer(Type::regular, bytes, std::numeric_limits<double>::quiet_NaN()),
                         validators,
                         kNow));
  CHECK_FALSE(read_found(key, answer(Type::dictionary, bytes, kNow + 1), validators, kNow));
}

TEST_CASE("one bad entry does not hide the good ones") {
  Validators const validators;
  Id const key = Id::of_text("k");
  DictionaryValue dictionary;
  Bytes const good = wire::Msgpack("good").encode();
  (void)dictionary.store(good, to_bytes("v"), kNow + 5, kNow);
  (void)dictionary.store(
      wire::Msgpack("[owner:x]").encode(), to_bytes("unsigned"), kNow + 50, kNow);
  auto const found =
      read_found(key,
                 answer(FindResult::Type::dictionary, dictionary.encode(kNow), kNow + 50),
                 validators,
                 kNow);
  REQUIRE(found);
  REQUIRE(found->dictionary());
  CHECK(found->dictionary()->entries().size() == 1);
  CHECK(found->dictionary()->find(good) != nullptr);
}
