// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "core/node/options.hpp"
#include "core/node/release/notice.hpp"

namespace waggle::node {

/// Reads a release key: a file of libp2p's PrivateKey protobuf, as those of this program all are.
/// Errors: not_found, io, malformed, refused (no Ed25519 key).
[[nodiscard]] Result<crypto::Identity> read_release_key(std::filesystem::path const& file);

/// Signs a notice and stores it in the DHT that `options.peers` are of; it stays there for
/// kReleaseRecordTime, and for as long as a node that agreed to notices keeps it. Takes the data
/// directory. Errors: invalid and too_large (the notice), refused (a node runs there; a notice of
/// this version or a higher one is there), not_found (no peer took it), timeout, io.
[[nodiscard]] Status publish_notice(Options options,
                                    crypto::Identity const& key,
                                    ReleaseNotice const& notice);

}  // namespace waggle::node
