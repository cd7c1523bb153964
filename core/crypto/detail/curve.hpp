// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/bytes.hpp"
#include "core/crypto/detail/evp.hpp"

namespace waggle::crypto::detail {

constexpr std::size_t kSecp256k1PointBytes = 33;
constexpr std::size_t kSecp256k1ScalarBytes = 32;

/// A verifying key from a compressed point; null if it is not one of the curve's.
[[nodiscard]] Pkey secp256k1_public(ByteView point);
/// A signing key from a scalar; null if it is zero or not below the group's order. `point` receives
/// the compressed point.
[[nodiscard]] Pkey secp256k1_private(ByteView scalar, Bytes& point);
/// The same DER signature with the smaller of the two equivalent s, which other implementations
/// insist on.
[[nodiscard]] Bytes with_low_s(Bytes signature);

}  // namespace waggle::crypto::detail
