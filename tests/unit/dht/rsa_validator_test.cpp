// SPDX-License-Identifier: MIT
#include "core/dht/rsa_validator.hpp"

#include <doctest/doctest.h>

#include "core/crypto/record_key.hpp"
#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::dht;

namespace {

std::shared_ptr<crypto::RecordKey const> fresh_key() {
  return std::make_shared<crypto::RecordKey const>(crypto::RecordKey::generate());
}

Bytes packed_bin(std::string_view text) {
  return wire::Msgpack(to_bytes(text)).encode();
}

}  // namespace

TEST_CASE("only the owner can write under an owner mark") {
  RsaValidator const owner(fresh_key());
  RsaValidator const stranger(fresh_key());
  RsaValidator const reader;
  Id const key = Id::of_text("run_progress");
  Bytes const subkey = packed_bin(owner.owner_mark());
  Bytes const value = wire::Msgpack(5).encode();

  Bytes const good = owner.sign({key, subkey, value, 100});
  CHECK(reader.validate({key, subkey, good, 100}));
  CHECK(reader.strip({key, subkey, good, 100}) == value);
  // The stranger does not sign under another's mark, and unsigned it is invalid.
  CHECK(stranger.sign({key, subkey, value, 100}) == value);
  auto const refused = reader.validate({key, subkey, value, 100});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::bad_signature);
  // Another key, another subkey, another end, another value: the signature covers them all.
  CHECK_FALSE(reader.validate({Id::of_text("other"), subkey, good, 100}));
  CHECK_FALSE(reader.validate({key, subkey, good, 101}));
  Bytes changed = good;
  changed[0] = std::byte{6};
  CHECK_FALSE(reader.validate({key, subkey, changed, 100}));
}

TEST_CASE("unprotected records pass unsigned and are not stripped") {
  RsaValidator const rsa(fresh_key());
  Id const key = Id::of_text("k");
  Bytes const value = to_bytes("a [signature:text] of no meaning");
  RecordView const record{key, as_bytes("\xc0"), value, 1};
  CHECK(rsa.sign(record) == value);
  CHECK(rsa.validate(record));
  CHECK(rsa.strip(record) == value);
}

TEST_CASE("garbage where the owner's key or the signature should be is refused, not fatal") {
  RsaValidator const reader;
  Id const key = Id::of_text("k");
  for (auto const* owner :
       {"[owner:x]", "[owner:ssh-rsa ]", "[owner:ssh-rsa AAAA]", "[owner:ssh-ed25519 AAAA]"})
    for (auto const* value : {"v[signature:AAAA]",
                              "v[signature:]",
                              "v[signature:!!]",
                              "v",
                              "[signature:AAAA][signature:AAAA]"})
      CHECK_FALSE(reader.validate({key, packed_bin(owner), as_bytes(value), 1}));
}
