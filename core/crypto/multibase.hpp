// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle::crypto {

/// Longest text that base58 and base36 decode: their cost grows with the square of the length.
constexpr std::size_t kMaxBase58Text = 512;

/// Bitcoin's alphabet, without a multibase letter. Cost: O(n²).
[[nodiscard]] std::string base58_encode(ByteView bytes);
/// Errors: malformed (a letter outside the alphabet), too_large (above kMaxBase58Text).
[[nodiscard]] Result<Bytes> base58_decode(std::string_view text);

/// RFC 4648 section 4: the standard alphabet with padding, as hivemind's signature marks hold it.
[[nodiscard]] std::string base64_encode(ByteView bytes);
/// Strict: whole groups of four, padding only at the end, unused bits zero. Errors: malformed.
[[nodiscard]] Result<Bytes> base64_decode(std::string_view text);

/// The URL-safe alphabet without padding behind multibase's letter u, as certificate hashes stand
/// in multiaddrs.
[[nodiscard]] std::string multibase_base64url(ByteView bytes);
/// CIDv1's usual form: lower case, no padding, behind the letter b.
[[nodiscard]] std::string multibase_base32(ByteView bytes);
/// Reads f F (base16), b B (base32), k K (base36), z (base58btc), m u (base64, base64url, no
/// padding). Errors: malformed, too_large. Source: multiformats' multibase table.
[[nodiscard]] Result<Bytes> multibase_decode(std::string_view text);

}  // namespace waggle::crypto
