// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace waggle::node {

/// A key of a data directory, for people: "identity" or an operator's name.
struct KeyInfo {
  std::string name;
  std::string peer_id;
};

/// Keys that are there; none is made. Errors: io, malformed (names the file).
[[nodiscard]] Result<std::vector<KeyInfo>> list_keys(std::filesystem::path const& data_dir);

/// Copies a key out, to a new file with mode 0600, in libp2p's protobuf form. Errors: not_found,
/// refused (the file exists), io.
[[nodiscard]] Result<KeyInfo> export_key(std::filesystem::path const& data_dir,
                                         std::string const& name,
                                         std::filesystem::path const& to);

/// Takes a key in. An existing key of that name is never replaced. Errors: refused (it exists),
/// malformed, io, invalid (name).
[[nodiscard]] Result<KeyInfo> import_key(std::filesystem::path const& data_dir,
                                         std::string const& name,
                                         std::filesystem::path const& from);

}  // namespace waggle::node
