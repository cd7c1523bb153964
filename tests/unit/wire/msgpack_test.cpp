// SPDX-License-Identifier: MIT
#include "core/wire/msgpack.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>

#include <doctest/doctest.h>
#include <msgpack.hpp>

using namespace waggle;
using wire::Msgpack;

namespace {

Result<Msgpack> decode(std::string_view hex) {
  return Msgpack::decode(*from_hex(hex));
}

// Values of every kind, small at the leaves; sizes straddle the heads' bounds.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Msgpack make(unsigned depth) {
    switch (below(depth > 0 ? 10 : 7)) {
      case 0:
        return {};
      case 1:
        return below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(random_() >> below(64));
      case 3:
        return -static_cast<std::int64_t>(random_() >> (1 + below(63)));
      case 4:
        return static_cast<double>(static_cast<std::int64_t>(random_())) / 8;
      case 5:
        return std::string(size(), 'x');
      case 6:
        return Bytes(size(), std::byte{1});
      case 7:
        return array(depth);
      case 8:
        return map(depth);
      default:
        return Msgpack::tuple(array(depth));
    }
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  std::size_t size() {
    constexpr std::size_t kSizes[] = {0, 1, 2, 3, 4, 8, 15, 16, 17, 31, 32, 255, 256};
    return kSizes[below(std::size(kSizes))];
  }

  Msgpack::Array array(unsigned depth) {
    Msgpack::Array items;
    for (auto n = below(18); n > 0; --n) items.push_back(make(depth - 1));
    return items;
  }

  Msgpack::Map map(unsigned depth) {
    Msgpack::Map entries;
    for (auto n = below(18); n > 0; --n)
      entries.emplace_back(std::string(below(40), 'k'), make(depth - 1));
    return entries;
  }

  std::mt19937_64 random_;
};

std::string nested(std::string_view head, std::size_t depth, std::string_view leaf) {
  std::string hex;
  for (std::size_t i = 0; i < depth; ++i) hex += head;
  return hex + std::string(leaf);
}

// msgpack-cxx writes a whole float as an integer (the reason why we do not write with it).
bool holds_whole_float(Msgpack const& value) {
  if (auto const* d = value.get<double>())
    return *d == static_cast<double>(static_cast<std::int64_t>(*d));
  if (auto const* items = value.get<Msgpack::Array>())
    return std::any_of(items->begin(), items->end(), holds_whole_float);
  if (auto const* entries = value.get<Msgpack::Map>())
    return std::any_of(entries->begin(), entries->end(), [](auto const& e) {
      return holds_whole_float(e.second);
    });
  return false;
}

}  // namespace

TEST_SUITE("Msgpack") {
  TEST_CASE(
      "random values read back equal, and another library reads them and writes the same bytes") {
    Maker maker(11);
    std::size_t compared = 0;
    for (int i = 0; i < 400; ++i) {
      auto const value = maker.make(3);
      auto const bytes = value.encode();
      auto const read = Msgpack::decode(bytes);
      REQUIRE_MESSAGE(read.has_value(), read.error().detail);
      CHECK(*read == value);
      if (holds_whole_float(value)) continue;
      ++compared;
      auto const theirs = msgpack::unpack(as_text(bytes).data(), bytes.size());
      msgpack::sbuffer packed;
      msgpack::pack(packed, theirs.get());
      CHECK(equal(as_bytes(std::string_view(packed.data(), packed.size())), bytes));
    }
    CHECK(compared > 100);
  }

  TEST_CASE("a float stays a float, even a whole one") {
    CHECK(to_hex(Msgpack(1.0).encode()) == "cb3ff0000000000000");
    CHECK(to_hex(Msgpack(-0.0).encode()) == "cb8000000000000000");
    CHECK(decode("cb3ff0000000000000")->get<double>() != nullptr);
    CHECK(decode("cb3ff0000000000000")->integer() == std::nullopt);
  }

  TEST_CASE("integers are int64 below 2^63 and uint64 from there, however they came") {
    CHECK(Msgpack(std::uint64_t{5}) == Msgpack(5));
    CHECK(decode("cf0000000000000005")->integer() == 5);
    CHECK(decode("d3ffffffffffffffff")->integer() == -1);
    CHECK(decode("d0ff")->integer() == -1);
    CHECK(decode("d17fff")->integer() == 32767);
    CHECK(decode("d280000000")->integer() == std::numeric_limits<std::int32_t>::min());
    auto const large = *decode("cf8000000000000000");
    CHECK(large.integer() == std::nullopt);
    CHECK(*large.get<std::uint64_t>() == std::uint64_t{1} << 63);
    CHECK(large.number() == 9223372036854775808.0);
    CHECK(to_hex(large.encode()) == "cf8000000000000000");
  }

  TEST_CASE("longer forms than needed are read and written short") {
    for (auto const& [hex, shortest] : {std::pair{"d90161", "a161"},
                                        {"da000161", "a161"},
                                        {"db0000000161", "a161"},
                                        {"c5000101", "c40101"},
                                        {"c60000000101", "c40101"},
                                        {"dc000107", "9107"},
                                        {"dd0000000107", "9107"},
                                        {"de0001a16107", "81a16107"},
                                        {"df00000001a16107", "81a16107"},
                                        {"c7010509", "d40509"},
                                        {"c800020509ff", "d50509ff"},
                                        {"ca3fc00000", "cb3ff8000000000000"}}) {
      CAPTURE(hex);
      auto const value = decode(hex);
      REQUIRE(value);
      CHECK(to_hex(value->encode()) == shortest);
    }
  }

  TEST_CASE("cut bytes, trailing bytes and the unused head are malformed") {
    for (auto const* hex :
         {"",       "c1",       "0000",     "a2",     "a261", "c402ff", "cb00",     "cc",
          "cd00",   "ce000000", "cf",       "d0",     "d1ff", "d2",     "d3",       "d4",
          "d405",   "d505ff",   "c701",     "c70105", "d9",   "da00",   "db000000", "c4",
          "9161ff", "a1ff",     "a3eda080", "81a161", "93ff"}) {
      CAPTURE(hex);
      auto const value = decode(hex);
      REQUIRE(!value);
      CHECK((value.error().code == Errc::malformed || value.error().code == Errc::too_large));
    }
    CHECK(decode("9161ff").error().code == Errc::malformed);
  }

  TEST_CASE("counts that the bytes cannot hold are too large, before anything is allocated") {
    for (auto const* hex :
         {"ddffffffff", "dcffff", "dfffffffff", "deffff", "9f", "8f", "dd0000000401", "82a161"})
      CHECK(decode(hex).error().code == Errc::too_large);
    // Nested headers that each claim all that is left.
    std::string bomb;
    for (int i = 0; i < 60; ++i) bomb += "dd000f4240";
    bomb += std::string(2'000'000, '0');
    CHECK(!decode(bomb));
  }

  TEST_CASE("64 levels are read, 65 are too large, whatever they are made of") {
    CHECK(decode(nested("91", 64, "00")));
    CHECK(decode(nested("91", 65, "00")).error().code == Errc::too_large);
    CHECK(decode(nested("81a161", 65, "00")).error().code == Errc::too_large);
    CHECK(decode(nested("91", 1'000'000, "00")).error().code == Errc::too_large);
    // A tuple is an array inside an extension: two levels.
    Msgpack value = 1;
    for (int i = 0; i < 32; ++i) value = Msgpack::tuple({value});
    CHECK(Msgpack::decode(value.encode()));
    value = Msgpack::tuple({value});
    CHECK(Msgpack::decode(value.encode()).error().code == Errc::too_large);
  }

  TEST_CASE("a map keeps its order and its equal keys; the last of them is found") {
    auto const value = *decode(
        "83a162"
        "01"
        "a161"
        "02"
        "a162"
        "03");
    auto const* map = value.get<Msgpack::Map>();
    REQUIRE(map != nullptr);
    REQUIRE(map->size() == 3);
    CHECK(*(*map)[0].first.get<std::string>() == "b");
    CHECK(value.find("b")->integer() == 3);
    CHECK(value.find("a")->integer() == 2);
    CHECK(value.find("c") == nullptr);
    CHECK(Msgpack(1).find("a") == nullptr);
    CHECK(to_hex(value.encode()) == "83a16201a16102a16203");
    CHECK(decode("81c4016107")->find("a") == nullptr);  // a bytes key is no text key
  }

  TEST_CASE("keys are text or bytes") {
    for (auto const* hex : {"81c001",
                            "810101",
                            "81c201",
                            "819001",
                            "8180"
                            "01",
                            "81cb000000000000000001",
                            "81d4409001"})
      CHECK(decode(hex).error().code == Errc::malformed);
  }

  TEST_CASE("tuples and arrays give their items, others do not") {
    auto const tuple = *decode("d5409107");
    REQUIRE(tuple.items());
    CHECK(tuple.items()->at(0).integer() == 7);
    CHECK(tuple == Msgpack::tuple({7}));
    CHECK(decode("9107")->items()->size() == 1);
    CHECK(decode("d5419107")->items().error().code == Errc::malformed);
    CHECK(decode("07")->items().error().code == Errc::malformed);
    CHECK(Msgpack(Msgpack::Ext{Msgpack::kTupleExt, {}}).items().error().code == Errc::malformed);
  }

  TEST_CASE("a tuple that does not unpack spoils the value, as it does in Python") {
    for (auto const* hex : {"d440c1", "d54091c1", "d5409000", "c70040", "d44007", "91d440c1"})
      CHECK(!decode(hex));
  }

  TEST_CASE("types are asked for exactly") {
    CHECK(Msgpack(true).integer() == std::nullopt);
    CHECK(Msgpack("1").number() == std::nullopt);
    CHECK(Msgpack(3).number() == 3.0);
    CHECK(Msgpack("x").get<Bytes>() == nullptr);
    CHECK(Msgpack().is_nil());
    CHECK(!Msgpack(0).is_nil());
  }
}
