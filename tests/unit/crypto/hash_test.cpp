// SPDX-License-Identifier: MIT
#include "core/crypto/hash.hpp"

#include <doctest/doctest.h>

using namespace waggle;

TEST_SUITE("hash") {
  // The digests of "abc" in FIPS 180-4's examples.
  TEST_CASE("one-shot hashes give the standard's digests") {
    auto const abc = as_bytes("abc");
    CHECK(to_hex(crypto::sha1(abc)) == "a9993e364706816aba3e25717850c26c9cd0d89d");
    CHECK(to_hex(crypto::sha256(abc)) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(to_hex(crypto::sha512(abc)) ==
          "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
          "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
  }

  TEST_CASE("nothing has a hash too") {
    CHECK(to_hex(crypto::sha256({})) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  }

  // RFC 4231, test case 2.
  TEST_CASE("HMAC-SHA-256 gives the RFC's code") {
    CHECK(to_hex(crypto::hmac_sha256(as_bytes("Jefe"), as_bytes("what do ya want for nothing?"))) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  }

  TEST_CASE("HMAC with an empty key does not reuse the key before") {
    (void)crypto::hmac_sha256(as_bytes("Jefe"), as_bytes("x"));
    CHECK(to_hex(crypto::hmac_sha256({}, {})) ==
          "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
  }

  TEST_CASE("a stream fed in pieces of any size gives the one-shot digest") {
    Bytes data(10'000);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7);
    for (std::size_t const piece :
         {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{4096}}) {
      crypto::Sha256Stream stream;
      for (std::size_t at = 0; at < data.size(); at += piece)
        stream.update(ByteView(data).subspan(at, std::min(piece, data.size() - at)));
      CHECK(stream.finish() == crypto::sha256(data));
    }
  }
}
