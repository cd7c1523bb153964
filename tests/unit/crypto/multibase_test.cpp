// SPDX-License-Identifier: MIT
#include "core/crypto/multibase.hpp"

#include <random>

#include <doctest/doctest.h>

using namespace waggle;

namespace {

Bytes random_bytes(std::mt19937& random, std::size_t size) {
  Bytes out(size);
  for (auto& b : out) b = static_cast<std::byte>(random());
  return out;
}

std::string text_of(Result<Bytes> const& bytes) {
  return bytes ? to_string(*bytes) : "error: " + bytes.error().detail;
}

}  // namespace

TEST_SUITE("multibase") {
  // The base58 draft's examples.
  TEST_CASE("base58 gives the draft's texts, leading zeros included") {
    CHECK(crypto::base58_encode(as_bytes("Hello World!")) == "2NEpo7TZRRrLZSi2U");
    Bytes const zeros{std::byte{0},
                      std::byte{0},
                      std::byte{0x28},
                      std::byte{0x7f},
                      std::byte{0xb4},
                      std::byte{0xcd}};
    CHECK(crypto::base58_encode(zeros) == "11233QC4");
    CHECK(*crypto::base58_decode("11233QC4") == zeros);
    CHECK(crypto::base58_encode({}).empty());
    CHECK(crypto::base58_decode("")->empty());
  }

  TEST_CASE("base58 refuses the letters that look alike, and long texts before working on them") {
    for (auto const* text : {"0", "O", "I", "l", "2NEp o7T"})
      CHECK(crypto::base58_decode(text).error().code == Errc::malformed);
    CHECK(crypto::base58_decode(std::string(crypto::kMaxBase58Text, '2')).has_value());
    CHECK(crypto::base58_decode(std::string(1'000'000, '2')).error().code == Errc::too_large);
  }

  // RFC 4648 section 10.
  TEST_CASE("base64 gives the RFC's texts") {
    constexpr std::pair<char const*, char const*> kCases[] = {{"", ""},
                                                              {"f", "Zg=="},
                                                              {"fo", "Zm8="},
                                                              {"foo", "Zm9v"},
                                                              {"foob", "Zm9vYg=="},
                                                              {"foobar", "Zm9vYmFy"}};
    for (auto const& [plain, encoded] : kCases) {
      CHECK(crypto::base64_encode(as_bytes(plain)) == encoded);
      CHECK(text_of(crypto::base64_decode(encoded)) == plain);
    }
  }

  TEST_CASE("base64 has one text for every value") {
    for (auto const* text :
         {"Zg", "Zg=", "Zh==", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9_", "=Zm9"})
      CHECK(crypto::base64_decode(text).error().code == Errc::malformed);
  }

  TEST_CASE("every letter of multibase reads the same word") {
    for (auto const* text : {"f796573", "F796573", "bpfsxg", "BPFSXG", "meWVz", "ueWVz"})
      CHECK(text_of(crypto::multibase_decode(text)) == "yes");
    // multiformats' own examples, test1.csv.
    CHECK(text_of(crypto::multibase_decode("z7paNL19xttacUY")) == "yes mani !");
    CHECK(text_of(crypto::multibase_decode("k2lcpzo5yikidynfl")) == "yes mani !");
    CHECK(text_of(crypto::multibase_decode("K2LCPZO5YIKIDYNFL")) == "yes mani !");
    CHECK(text_of(crypto::multibase_decode("bpfsxgidnmfxgsibb")) == "yes mani !");
    CHECK(text_of(crypto::multibase_decode("ueWVzIG1hbmkgIQ")) == "yes mani !");
    CHECK(crypto::multibase_base32(as_bytes("yes mani !")) == "bpfsxgidnmfxgsibb");
    CHECK(crypto::multibase_base64url(as_bytes("yes mani !")) == "ueWVzIG1hbmkgIQ");
  }

  TEST_CASE("unknown letters, wrong digits and cut texts are malformed") {
    for (auto const* text : {"", "x00", "bpfs1", "f7", "f7g", "ba", "b7"})
      CHECK(crypto::multibase_decode(text).error().code == Errc::malformed);
  }

  TEST_CASE("random bytes go both ways in every base") {
    std::mt19937 random(7);
    for (std::size_t size = 0; size < 80; ++size) {
      auto const bytes = random_bytes(random, size);
      CHECK(*crypto::base58_decode(crypto::base58_encode(bytes)) == bytes);
      CHECK(*crypto::base64_decode(crypto::base64_encode(bytes)) == bytes);
      CHECK(*crypto::multibase_decode(crypto::multibase_base32(bytes)) == bytes);
      CHECK(*crypto::multibase_decode(crypto::multibase_base64url(bytes)) == bytes);
      CHECK(*crypto::multibase_decode("z" + crypto::base58_encode(bytes)) == bytes);
    }
  }
}
