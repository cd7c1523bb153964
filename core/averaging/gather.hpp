// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "core/wire/msgpack.hpp"

namespace waggle::averaging {

/// Wire-stable. AUX peers reduce and send like nodes, with weight 0.
enum class PeerMode : std::uint8_t { node = 0, client = 1, aux = 2 };

constexpr std::size_t kMaxGatherBytes =
    64u << 10;  ///< of one member; a leader repeats it to every follower

/// What a member tells its group in the request to join: [bandwidth, mode, user].
/// Source: spec/hivemind-averaging.md section 2.4.
struct Gather {
  std::optional<double> bandwidth;
  PeerMode mode = PeerMode::node;
  wire::Msgpack user;

  [[nodiscard]] Bytes encode() const;
  /// Errors: malformed (not that list, a bandwidth that is negative or not finite), too_large.
  [[nodiscard]] static Result<Gather> parse(ByteView bytes);
  friend bool operator==(Gather const&, Gather const&) = default;
};

}  // namespace waggle::averaging
