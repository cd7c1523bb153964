// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::task {

/// waggle:PREFIX?op=<operator PeerID>&peer=<percent-encoded multiaddr>, 0 to 8 peers, at most 2
/// KiB, unknown keys ignored.
struct Link {
  static constexpr std::size_t kMaxBytes = 2048;
  static constexpr std::size_t kMaxPeers = 8;

  std::string prefix;
  PeerId operator_id;  ///< empty for a bare prefix
  std::vector<wire::Multiaddr> peers;

  /// Also reads a bare prefix. Errors: invalid (says what), too_large.
  [[nodiscard]] static Result<Link> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

}  // namespace waggle::task
