// SPDX-License-Identifier: MIT
#include "core/crypto/keys.hpp"
#include "core/crypto/multibase.hpp"
#include "core/crypto/peer_id.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;

// Read as text and as bytes; an id prints to a text that reads back as itself, and decoded base58
// and base64 encode to what was decoded.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const in = fuzz::input(data, size);
  for (auto const& id : {crypto::parse_peer_id(as_text(in)), crypto::peer_id_from_bytes(in)}) {
    if (!id) continue;
    auto const again = crypto::parse_peer_id(crypto::to_text(*id));
    WAGGLE_ASSERT(again.has_value() && *again == *id);
    if (auto const key = crypto::PublicKey::from_peer_id(*id)) WAGGLE_ASSERT(key->peer_id() == *id);
  }
  if (auto const bytes = crypto::base58_decode(as_text(in)))
    WAGGLE_ASSERT(crypto::base58_encode(*bytes) == as_text(in));
  if (auto const bytes = crypto::base64_decode(as_text(in)))
    WAGGLE_ASSERT(crypto::base64_encode(*bytes) == as_text(in));
  (void)crypto::multibase_decode(as_text(in));
  return 0;
}
