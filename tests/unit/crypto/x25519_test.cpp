// SPDX-License-Identifier: MIT
#include "core/crypto/x25519.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace waggle;

namespace {

crypto::X25519Key key(std::string_view hex) {
  auto const bytes = *from_hex(hex);
  crypto::X25519Key out{};
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

}  // namespace

TEST_SUITE("X25519") {
  // RFC 7748 section 6.1, Bob's side.
  TEST_CASE("the RFC's exchange gives the RFC's secret") {
    auto const bob = key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    auto const alice_public =
        key("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    CHECK(to_hex(crypto::x25519_public(bob)) ==
          "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    auto const shared = crypto::x25519(bob, alice_public);
    REQUIRE(shared);
    CHECK(to_hex(*shared) == "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
  }

  // RFC 7748 section 5.2, first vector.
  TEST_CASE("the RFC's scalar and point give the RFC's result") {
    auto const scalar = key("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
    auto const point = key("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
    auto const result = crypto::x25519(scalar, point);
    REQUIRE(result);
    CHECK(to_hex(*result) == "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
  }

  TEST_CASE("low-order points give nothing") {
    auto const secret = key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    crypto::X25519Key const zero{};
    crypto::X25519Key one{};
    one[0] = std::byte{1};
    auto const order_eight =
        key("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800");
    for (auto const& point : {zero, one, order_eight}) CHECK(!crypto::x25519(secret, point));
  }
}
