// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>

#include "core/base/bytes.hpp"

namespace waggle::crypto {

using X25519Key = std::array<std::byte, 32>;

[[nodiscard]] X25519Key x25519_public(X25519Key const& secret);
/// Nothing if the result is all zero (a low-order point): the handshake must end.
[[nodiscard]] std::optional<X25519Key> x25519(X25519Key const& secret,
                                              X25519Key const& their_public);

}  // namespace waggle::crypto
