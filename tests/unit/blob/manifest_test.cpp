// SPDX-License-Identifier: MIT
// The pure part of core/blob/blob.hpp.
#include <random>

#include <doctest/doctest.h>

#include "core/blob/blob.hpp"

using namespace waggle;
using namespace waggle::blob;

namespace {

Manifest of_size(std::uint64_t size) {
  Manifest manifest;
  manifest.size = size;
  manifest.chunks.resize((size + kChunkBytes - 1) / kChunkBytes);
  for (std::size_t i = 0; i < manifest.chunks.size(); ++i)
    manifest.chunks[i].fill(static_cast<std::byte>(i + 1));
  return manifest;
}

}  // namespace

TEST_SUITE("Manifest") {
  TEST_CASE("its bytes are those of the protobuf {1: size, 2: repeated hash}, and never change") {
    auto const manifest = of_size(300);
    CHECK(to_hex(manifest.encode()) ==
          "08ac021220"
          "0101010101010101010101010101010101010101010101010101010101010101");
    CHECK(of_size(0).encode().empty());
    CHECK(of_size(0).id().text() ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(manifest.id().hash == crypto::sha256(manifest.encode()));
  }

  TEST_CASE("reads back what it writes, at the edges of chunks") {
    for (std::uint64_t const size : {std::uint64_t{0},
                                     std::uint64_t{1},
                                     std::uint64_t{kChunkBytes - 1},
                                     std::uint64_t{kChunkBytes},
                                     std::uint64_t{kChunkBytes + 1},
                                     std::uint64_t{7 * kChunkBytes}}) {
      CAPTURE(size);
      auto const manifest = of_size(size);
      auto const again = Manifest::decode(manifest.encode());
      REQUIRE(again);
      CHECK(again->size == size);
      CHECK(again->chunks == manifest.chunks);
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < manifest.chunks.size(); ++i) sum += manifest.chunk_size(i);
      CHECK(sum == size);
      CHECK(manifest.chunk_size(manifest.chunks.size()) == 0);
    }
  }

  TEST_CASE("refuses what does not fit, whatever it claims") {
    auto const good = of_size(3 * kChunkBytes).encode();
    for (std::size_t n = 1; n < good.size(); ++n) CHECK(!Manifest::decode(ByteView(good).first(n)));
    auto longer = good;
    longer.push_back({});
    CHECK(!Manifest::decode(longer));
    for (std::size_t const at : {0u, 1u, 5u, 6u}) {
      auto changed = good;
      changed[at] ^= std::byte{0x40};
      CHECK(!Manifest::decode(changed));
    }
    // Huge sizes are refused before anything is made.
    for (auto const* hex : {"08ffffffffffffffff7f",
                            "08ffffffffffffffffff01",
                            "0880808080808004",
                            "0880",
                            "08",
                            "0800",
                            "08808000"}) {
      CAPTURE(hex);
      CHECK(!Manifest::decode(*from_hex(hex)));
    }
    auto const large = Manifest::decode(*from_hex("088080808080808001"));
    REQUIRE(!large);
    CHECK(large.error().code == Errc::too_large);
  }

  TEST_CASE("decode of random bytes never crashes, and what it takes encodes back to the same") {
    std::mt19937 random(1);
    auto const good = of_size(2 * kChunkBytes).encode();
    for (int round = 0; round < 5000; ++round) {
      auto bytes = good;
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      auto const decoded = Manifest::decode(bytes);
      if (decoded) CHECK(decoded->encode() == bytes);
    }
  }
}

TEST_SUITE("BlobId") {
  TEST_CASE("reads 64 hex digits and nothing else") {
    auto const id = of_size(5).id();
    auto const again = BlobId::parse(id.text());
    REQUIRE(again);
    CHECK(*again == id);
    for (auto const& text :
         std::vector<std::string>{"", "00", "zz", id.text() + "00", id.text().substr(1)})
      CHECK(!BlobId::parse(text));
  }
}
