// SPDX-License-Identifier: MIT
#include "core/crypto/keys.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// The same bytes as a public and as a private key. A key that parses writes one that parses equal;
// an identity that parses signs what its public half verifies.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  if (auto const key = crypto::PublicKey::from_protobuf(in)) {
    auto const again = crypto::PublicKey::from_protobuf(key->to_protobuf());
    WAGGLE_ASSERT(again.has_value() && *again == *key && !key->peer_id().empty());
    WAGGLE_ASSERT(!key->verify(in, in.first(in.size() / 2)));
  }
  if (auto const identity = crypto::Identity::from_protobuf(in)) {
    auto const again = crypto::Identity::from_protobuf(identity->to_protobuf());
    WAGGLE_ASSERT(again.has_value() && again->peer_id() == identity->peer_id());
    WAGGLE_ASSERT(identity->public_key().verify(in, identity->sign(in)).has_value());
  }
  return 0;
}
