// SPDX-License-Identifier: MIT
#include "core/crypto/cpace.hpp"

#include <algorithm>
#include <string_view>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::crypto;

namespace {

template <std::size_t N>
std::array<std::byte, N> bytes(std::string_view hex) {
  auto const read = from_hex(hex);
  REQUIRE(read);
  REQUIRE(read->size() == N);
  std::array<std::byte, N> out{};
  std::copy(read->begin(), read->end(), out.begin());
  return out;
}

// draft-irtf-cfrg-cpace, appendix "Test vector for CPace using group ristretto255 and hash
// SHA-512".
constexpr std::string_view kSession = "7e4b4791d6a8ef019b936c79fb7f2c57";
constexpr std::string_view kChannel = "\nAinitiator\nBresponder";
constexpr std::string_view kGenerator =
    "5e25411ca1ad7c9debfd0b33ad987a95cefef2d3f15dcc8bd26415a5dfe2e15a";
constexpr std::string_view kSecretA =
    "da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08";
constexpr std::string_view kPointA =
    "383a85dd236978f17f8c8545b50dabc52a39fcdab2cf8bc531ce040ff77ca82d";
constexpr std::string_view kSecretB =
    "d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d";
constexpr std::string_view kPointB =
    "a6206309c0e8e5f579295e35997ac4300ab3fecec3c17f7b604f3e698fa1383c";
constexpr std::string_view kShared =
    "fa1d0318864e2cacb26875f1b791c9ae83204fe8359addb53e95a2e98893853f";
constexpr std::string_view kKey =
    "e91ccb2c0f5e0d0993a33956e3be59754f3f2b07db57631f5394452ea2e7b4354674eb1f5686c078462bf83bec72e8"
    "743df440108e638f3526d9b90e85be096f";

std::array<std::byte, 64> filled(std::uint8_t with) {
  std::array<std::byte, 64> out{};
  out.fill(static_cast<std::byte>(with));
  return out;
}

/// One run with codes, channels and sessions of each side's own.
bool agree(std::string_view code_a,
           std::string_view code_b,
           std::string_view channel_a,
           std::string_view channel_b) {
  auto const session = to_bytes("a session");
  auto const a = cpace_scalar(filled(1));
  auto const b = cpace_scalar(filled(2));
  auto const point_a =
      cpace_multiply(a, cpace_generator(as_bytes(code_a), as_bytes(channel_a), session));
  auto const point_b =
      cpace_multiply(b, cpace_generator(as_bytes(code_b), as_bytes(channel_b), session));
  REQUIRE(point_a);
  REQUIRE(point_b);
  auto const shared_a = cpace_multiply(a, *point_b);
  auto const shared_b = cpace_multiply(b, *point_a);
  REQUIRE(shared_a);
  REQUIRE(shared_b);
  auto const key_a = cpace_key(session, *shared_a, *point_a, {}, *point_b, {});
  auto const key_b = cpace_key(session, *shared_b, *point_a, {}, *point_b, {});
  return key_a == key_b;
}

}  // namespace

TEST_SUITE("Cpace") {
  TEST_CASE("the draft's vectors come out") {
    auto const session = bytes<16>(kSession);
    auto const generator = cpace_generator(as_bytes("Password"), as_bytes(kChannel), session);
    CHECK(to_hex(generator) == kGenerator);
    auto const a = cpace_multiply(bytes<32>(kSecretA), generator);
    auto const b = cpace_multiply(bytes<32>(kSecretB), generator);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(to_hex(*a) == kPointA);
    CHECK(to_hex(*b) == kPointB);
    auto const shared = cpace_multiply(bytes<32>(kSecretA), *b);
    REQUIRE(shared);
    CHECK(to_hex(*shared) == kShared);
    CHECK(cpace_multiply(bytes<32>(kSecretB), *a) == shared);
    auto const key = cpace_key(session, *shared, *a, as_bytes("ADa"), *b, as_bytes("ADb"));
    CHECK(to_hex(key) == kKey);
    auto const product = cpace_multiply(
        bytes<32>("7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05"),
        bytes<32>("2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c"));
    REQUIRE(product);
    CHECK(to_hex(*product) == "7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e");
  }

  TEST_CASE("points that are none, and the neutral one, end the run") {
    auto const secret =
        bytes<32>("7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05");
    CHECK_FALSE(cpace_multiply(
        secret, bytes<32>("2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c")));
    CHECK_FALSE(cpace_multiply(secret, CpacePoint{}));
    CpacePoint high{};
    high.fill(std::byte{0xff});
    CHECK_FALSE(cpace_multiply(secret, high));
    // A secret of zero gives the neutral element.
    auto const generator = cpace_generator(as_bytes("x"), {}, {});
    CHECK_FALSE(cpace_multiply(CpaceScalar{}, generator));
  }

  TEST_CASE("one key for one code and channel, others for all else") {
    CHECK(agree("k7m29xq4", "k7m29xq4", "a b", "a b"));
    CHECK_FALSE(agree("k7m29xq4", "k7m29xq5", "a b", "a b"));
    CHECK_FALSE(agree("k7m29xq4", "k7m29xq4", "a b", "a c"));
    CHECK_FALSE(agree("", "k", "a b", "a b"));
  }

  TEST_CASE("long codes and channels are lengths of their own, not a concatenation") {
    std::string const long_code(300, 'x');
    CHECK(agree(long_code, long_code, "c", "c"));
    CHECK(cpace_generator(as_bytes("ab"), as_bytes("c"), {}) !=
          cpace_generator(as_bytes("a"), as_bytes("bc"), {}));
    CHECK(cpace_generator(as_bytes("a"), as_bytes("bc"), {}) !=
          cpace_generator(as_bytes("a"), as_bytes("b"), as_bytes("c")));
  }

  TEST_CASE("secrets are compared whole") {
    CHECK(same_secret(as_bytes("same"), as_bytes("same")));
    CHECK_FALSE(same_secret(as_bytes("same"), as_bytes("sane")));
    CHECK_FALSE(same_secret(as_bytes("same"), as_bytes("sam")));
  }
}
