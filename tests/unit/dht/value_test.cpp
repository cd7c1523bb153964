// SPDX-License-Identifier: MIT
#include "core/dht/value.hpp"

#include <doctest/doctest.h>

#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::dht;
using wire::Msgpack;

namespace {

Bytes pack(Msgpack value) {
  return value.encode();
}

Bytes ext(std::int8_t type, Bytes payload) {
  return Msgpack(Msgpack::Ext{type, std::move(payload)}).encode();
}

Msgpack::Array item(Msgpack subkey, Msgpack value, Msgpack expiration) {
  Msgpack::Array out;
  out.push_back(std::move(subkey));
  out.push_back(std::move(value));
  out.push_back(std::move(expiration));
  return out;
}

Bytes dictionary(Msgpack::Array items) {
  Msgpack::Array parts;
  parts.emplace_back(1e300);
  parts.emplace_back(100.0);
  parts.emplace_back(std::move(items));
  return ext(0x50, Msgpack(std::move(parts)).encode());
}

}  // namespace

TEST_CASE("the length of a value is found without decoding it, whatever its form") {
  std::vector<Bytes> values{pack(Msgpack{}),
                            pack(true),
                            pack(7),
                            pack(-7),
                            pack(300),
                            pack(70000),
                            pack(std::uint64_t{1} << 63),
                            pack(2.5),
                            pack("text"),
                            pack(std::string(300, 'x')),
                            pack(std::string(70000, 'x')),
                            pack(Bytes(5)),
                            pack(Bytes(70000)),
                            ext(1, Bytes(1)),
                            ext(1, Bytes(16)),
                            ext(1, Bytes(17)),
                            ext(1, Bytes(70000)),
                            pack(Msgpack::Array(20, Msgpack(1))),
                            pack(Msgpack::Array(70000, Msgpack("a"))),
                            pack(Msgpack::Map{{Msgpack("k"), Msgpack::Array(3, Msgpack(1.5))}})};
  for (auto& value : values) {
    std::size_t const size = value.size();
    value.push_back(std::byte{0x01});  // another value behind it
    auto const length = msgpack_length(value);
    REQUIRE(length);
    CHECK(*length == size);
    value.resize(size - 1);
    CHECK_FALSE(msgpack_length(value));
  }
}

TEST_CASE("a count that the bytes cannot hold is refused at once, however deep it is nested") {
  CHECK_FALSE(msgpack_length(*from_hex("ddffffffff01")));
  CHECK_FALSE(msgpack_length(*from_hex("dfffffffff01")));
  CHECK_FALSE(msgpack_length(*from_hex("c6ffffffff01")));
  CHECK_FALSE(msgpack_length(Bytes(100'000, std::byte{0x91})));  // arrays of one, never ending
  CHECK_FALSE(msgpack_length({}));
  CHECK_FALSE(msgpack_length(*from_hex("c1")));
}

TEST_CASE("entries keep the order of their coming and the first of two equal ends") {
  DictionaryValue d;
  CHECK(d.store(pack("b"), pack(1), 10, 0));
  CHECK(d.store(pack("a"), pack(2), 20, 0));
  CHECK_FALSE(d.store(pack("b"), pack(3), 10, 0));
  CHECK(d.store(pack("b"), pack(4), 11, 0));
  CHECK_FALSE(d.store(pack("c"), pack(5), -1, 0));
  auto const listed = d.listed(0);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0]->first == pack("b"));
  CHECK(listed[0]->second.value == pack(4));
  CHECK(listed[1]->first == pack("a"));
  CHECK(d.latest() == 20);
}

TEST_CASE("the latest end grows even when an entry is rejected, and never shrinks") {
  DictionaryValue d;
  CHECK(d.store(pack("a"), pack(1), 10, 0));
  CHECK_FALSE(d.store(pack("b"), pack(1), 5, 6));
  CHECK(d.latest() == 10);
  d.prune(11);
  CHECK(d.entries().empty());
  CHECK(d.latest() == 10);
}

TEST_CASE("pruning tells of what it drops and keeps what still lives") {
  DictionaryValue d;
  (void)d.store(pack("a"), pack(1), 10, 0);
  (void)d.store(pack("b"), pack(2), 20, 0);
  std::vector<Bytes> gone;
  d.prune(10, [&](Bytes const& subkey, auto const&) { gone.push_back(subkey); });
  CHECK(gone.empty());  // equal is still alive
  d.prune(10.5, [&](Bytes const& subkey, auto const&) { gone.push_back(subkey); });
  CHECK(gone == std::vector<Bytes>{pack("a")});
  CHECK(d.find(pack("b")) != nullptr);
}

TEST_CASE("an entry that has expired gives way to any new one") {
  DictionaryValue d;
  (void)d.store(pack("a"), pack(1), 10, 0);
  CHECK(d.store(pack("a"), pack(2), 12, 11));
  CHECK(d.find(pack("a"))->value == pack(2));
}

TEST_CASE("subkeys are read in any msgpack form and compared in the shortest") {
  Bytes long_form = *from_hex("cd0007");  // 7 as uint16
  CHECK(*normal_subkey(long_form) == pack(7));
  CHECK_FALSE(normal_subkey(*from_hex("0707")));
  CHECK_FALSE(normal_subkey({}));
}

TEST_CASE("dictionaries that are none are refused with a reason") {
  CHECK(DictionaryValue::decode(dictionary({})).has_value());
  CHECK(DictionaryValue::decode(dictionary({item("k", Bytes(1), 5.0)})).has_value());
  for (auto const& bad : std::vector<Bytes>{
           {},
           pack(5),
           ext(0x40, {}),
           ext(0x50, {}),
           ext(0x50, pack(Msgpack::Array(2, Msgpack(1.0)))),
           ext(0x50, pack(Msgpack::Array(3, Msgpack(1.0)))),
           dictionary({Msgpack(1)}),
           dictionary({item("k", "text, not bin", 5.0)}),
           dictionary({item("k", Bytes(1), "no number")}),
           dictionary({item("k", Bytes(1), std::numeric_limits<double>::quiet_NaN())}),
       }) {
    auto const decoded = DictionaryValue::decode(bad);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == Errc::malformed);
    CHECK_FALSE(decoded.error().detail.empty());
  }
  Bytes cut = dictionary({item("k", Bytes(1), 5.0)});
  cut.pop_back();
  CHECK_FALSE(DictionaryValue::decode(cut));
  CHECK(DictionaryValue::decode(dictionary({item(std::string(100, 'k'), Bytes(1), 5.0)}), 50)
            .error()
            .code == Errc::too_large);
}

TEST_CASE("what is packed reads back the same") {
  DictionaryValue d;
  for (int i = 0; i < 300; ++i)
    CHECK(d.store(pack(i * 7 % 300), Bytes(static_cast<std::size_t>(i)), 50 + i, 0));
  auto const again = DictionaryValue::decode(d.encode(0));
  REQUIRE(again);
  CHECK(again->encode(0) == d.encode(0));
  CHECK(again->encode(200) == d.encode(200));
  CHECK(again->latest() == d.latest());
}
