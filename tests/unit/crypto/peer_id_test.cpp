// SPDX-License-Identifier: MIT
#include "core/crypto/peer_id.hpp"

#include <doctest/doctest.h>

#include "core/crypto/multibase.hpp"

using namespace waggle;

namespace {

Bytes multihash(unsigned code, unsigned length, std::size_t size) {
  Bytes out{static_cast<std::byte>(code), static_cast<std::byte>(length)};
  out.resize(2 + size, std::byte{7});
  return out;
}

}  // namespace

TEST_SUITE("peer id") {
  TEST_CASE("only identity and sha2-256 multihashes of fitting length are ids") {
    CHECK(crypto::peer_id_from_bytes(multihash(0x12, 32, 32)));
    CHECK(crypto::peer_id_from_bytes(multihash(0x00, 36, 36)));
    CHECK(crypto::peer_id_from_bytes(multihash(0x00, 40, 40)));
    Bytes const bad[] = {{},
                         multihash(0x12, 32, 31),
                         multihash(0x12, 32, 33),
                         multihash(0x12, 31, 31),
                         multihash(0x13, 32, 32),
                         multihash(0x00, 0, 0),
                         multihash(0x00, 36, 37),
                         multihash(0x00, 41, 41),
                         multihash(0x00, 200, 200)};
    for (auto const& bytes : bad) {
      CAPTURE(to_hex(bytes));
      CHECK(crypto::peer_id_from_bytes(bytes).error().code == Errc::malformed);
    }
  }

  TEST_CASE("every CID base reads as the id, another codec does not") {
    auto const id = *crypto::peer_id_from_bytes(multihash(0x12, 32, 32));
    Bytes cid{std::byte{0x01}, std::byte{0x72}};
    append(cid, id.bytes());
    CHECK(*crypto::parse_peer_id(crypto::to_text(id)) == id);
    CHECK(*crypto::parse_peer_id(crypto::multibase_base32(cid)) == id);
    CHECK(*crypto::parse_peer_id("z" + crypto::base58_encode(cid)) == id);
    cid[1] = std::byte{0x70};  // dag-pb
    CHECK(crypto::parse_peer_id(crypto::multibase_base32(cid)).error().code == Errc::malformed);
  }

  TEST_CASE("other texts are malformed") {
    for (auto const* text : {"",
                             "Q",
                             "Qm",
                             "1",
                             "12D3KooW",
                             "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx50",
                             "b",
                             "hello"})
      CHECK(crypto::parse_peer_id(text).error().code == Errc::malformed);
    CHECK(crypto::parse_peer_id(std::string(100'000, '1')).error().code == Errc::malformed);
  }

  TEST_CASE("the short text is the end of the long one") {
    auto const id = *crypto::peer_id_from_bytes(multihash(0x12, 32, 32));
    auto const text = crypto::to_text(id);
    CHECK(crypto::short_text(id) == "…" + text.substr(text.size() - 6));
    CHECK(crypto::short_text(PeerId{}) == "…");
  }
}
