// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/task/record.hpp"

namespace waggle::task::detail {

/// How an envelope stands at place (a): a msgpack bin. And back; nothing if it is none or too
/// large.
[[nodiscard]] Bytes wrap(ByteView envelope);
[[nodiscard]] std::optional<Bytes> unwrap(ByteView value);

/// Key texts of the dictionaries: "<prefix>_task" (b), and the public directory.
[[nodiscard]] std::string claims_text(std::string_view prefix);
constexpr std::string_view kDirectoryText = "waggle/directory";
constexpr std::size_t kMaxListedPrefixes = 16;

/// The well-formed prefixes of an entry of the public directory, kMaxListedPrefixes at most.
[[nodiscard]] std::vector<std::string> prefixes_in(ByteView value);

/// An operator's PeerID as a subkey (msgpack bin), and back.
[[nodiscard]] Bytes subkey(PeerId const& operator_id);
[[nodiscard]] std::optional<PeerId> operator_of(ByteView subkey);

}  // namespace waggle::task::detail
