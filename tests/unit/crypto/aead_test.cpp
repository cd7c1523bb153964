// SPDX-License-Identifier: MIT
#include "core/crypto/aead.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace waggle;

namespace {

std::array<std::byte, 32> counting_key() {
  std::array<std::byte, 32> key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return key;
}

Bytes sealed(crypto::Aead& aead, std::uint64_t nonce, ByteView associated, ByteView in) {
  Bytes out(in.size() + crypto::kAeadTagBytes);
  aead.seal(nonce, associated, in, out);
  return out;
}

}  // namespace

TEST_SUITE("Aead") {
  // RFC 8439 appendix A.5: its nonce begins with four zero bytes, so it is Noise's nonce
  // 0x0807060504030201.
  TEST_CASE("opens the RFC's message") {
    auto const key_bytes =
        *from_hex("1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0");
    std::array<std::byte, 32> key;
    std::copy(key_bytes.begin(), key_bytes.end(), key.begin());
    auto const in = *from_hex(
        "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09ee94e38"
        "2d26b0"
        "bdb7b73c321b0100d4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff"
        "37c855"
        "9797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4b9166c767b804d46a59b5216cd"
        "e7a4e9"
        "9040c5a40433225ee282a1b0a06c523eaf4534d7f83fa1155b0047718cbc546a0d072b04b3564eea1b422273f5"
        "48271a"
        "0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a1049e617d91d361094fa68f0ff77"
        "987130"
        "305beaba2eda04df997b714d6c6f2c29a6ad5cb4022b02709beead9d67890cbb22392336fea1851f38");
    auto const associated = *from_hex("f33388860000000000004e91");
    crypto::Aead aead(key);
    Bytes out(in.size() - crypto::kAeadTagBytes);
    REQUIRE(aead.open(0x0807060504030201, associated, in, out));
    CHECK(as_text(out).starts_with("Internet-Drafts are draft documents valid for a maximum"));
    CHECK(sealed(aead, 0x0807060504030201, associated, out) == in);
  }

  TEST_CASE("frames of every size go both ways, in place too, in any order of nonces") {
    auto const key = counting_key();
    crypto::Aead sender(key);
    crypto::Aead receiver(key);
    for (std::size_t const size :
         {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{65519}}) {
      Bytes plain(size);
      for (std::size_t i = 0; i < size; ++i) plain[i] = static_cast<std::byte>(i * 31);
      for (std::uint64_t const nonce :
           {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{5}}) {
        Bytes frame = plain;
        frame.resize(size + crypto::kAeadTagBytes);
        sender.seal(nonce, {}, ByteView(frame).first(size), frame);
        CHECK(frame == sealed(receiver, nonce, {}, plain));
        REQUIRE(receiver.open(nonce, {}, frame, MutableBytes(frame).first(size)));
        CHECK(equal(ByteView(frame).first(size), plain));
      }
    }
  }

  TEST_CASE(
      "any changed bit, another nonce or other associated data is refused and leaves no "
      "plaintext") {
    crypto::Aead aead(counting_key());
    auto const plain = as_bytes("the flowers are to the south-west");
    auto const frame = sealed(aead, 3, as_bytes("ad"), plain);
    Bytes out(plain.size());
    for (std::size_t i = 0; i < frame.size(); ++i) {
      auto broken = frame;
      broken[i] ^= std::byte{0x10};
      auto const opened = aead.open(3, as_bytes("ad"), broken, out);
      REQUIRE(!opened);
      CHECK(opened.error().code == Errc::bad_signature);
      CHECK(out == Bytes(plain.size()));
    }
    CHECK(!aead.open(4, as_bytes("ad"), frame, out));
    CHECK(!aead.open(3, as_bytes("da"), frame, out));
    CHECK(!aead.open(3, {}, frame, out));
    CHECK(aead.open(3, as_bytes("ad"), frame, out));
    CHECK(as_text(out) == as_text(plain));
  }

  TEST_CASE("a frame shorter than its tag is malformed") {
    crypto::Aead aead(counting_key());
    Bytes const frame(crypto::kAeadTagBytes - 1);
    CHECK(aead.open(0, {}, frame, {}).error().code == Errc::malformed);
  }
}
