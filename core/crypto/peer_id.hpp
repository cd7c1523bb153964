// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/base/ids.hpp"

namespace waggle::crypto {

/// base58btc of the multihash, as logs, links and hivemind write it: 12D3KooW…, Qm…
[[nodiscard]] std::string to_text(PeerId const& id);

/// Reads base58btc and the CIDv1 text form (multibase base32 "b", base36 "k", base58 "z"; bytes 01
/// 72 + multihash). Errors: malformed.
[[nodiscard]] Result<PeerId> parse_peer_id(std::string_view text);

/// Checks that `multihash` is an identity or sha2-256 multihash with a fitting length. Errors:
/// malformed.
[[nodiscard]] Result<PeerId> peer_id_from_bytes(ByteView multihash);

/// "…" and the last six letters, for people.
[[nodiscard]] std::string short_text(PeerId const& id);

}  // namespace waggle::crypto
