// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "core/averaging/state_sharing.hpp"
#include "core/node/services.hpp"
#include "core/task/record.hpp"

namespace waggle::node {

/// A whole training state as a file: "WGLS", format version, then msgpack {epoch, shapes, metadata,
/// test_loss}, then raw float32. Disk-stable. Ours alone; what leaves the program is safetensors
/// (waggle export).
[[nodiscard]] Bytes encode_checkpoint(averaging::StateSnapshot const& state);
/// Errors: malformed, too_large.
[[nodiscard]] Result<averaging::StateSnapshot> decode_checkpoint(ByteView file);

/// Saves on the disk thread; keeps two. Errors: too_large (disk full: need, have, path), io.
[[nodiscard]] Co<Status> save_checkpoint(Services& services,
                                         task::TaskRecord const& record,
                                         std::shared_ptr<averaging::StateSnapshot const> state);
/// The newest that verifies; nothing if there is none. Damaged ones are told as a notice.
[[nodiscard]] Co<Result<std::optional<averaging::StateSnapshot>>> load_checkpoint(
    Services& services, PeerId operator_id, std::string prefix);

}  // namespace waggle::node
