// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace waggle::node {

/// Something in a data directory.
struct DataEntry {
  std::string name;
  std::uint64_t bytes = 0;
  bool ours = false;  ///< Waggle gives things this name
};

/// What lies in a data directory, by name. Errors: not_found, io.
[[nodiscard]] Result<std::vector<DataEntry>> list_data(std::filesystem::path const& data_dir);

/// Deletes what Waggle made there, keys and all, and the directory if nothing else is in it.
/// Returns what stayed. Errors: not_found, refused (a node runs there, or this is no data
/// directory), io.
[[nodiscard]] Result<std::vector<DataEntry>> delete_data(std::filesystem::path const& data_dir);

}  // namespace waggle::node
