// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "core/store/detail/database.hpp"

namespace waggle::store::detail {

struct Opened {
  Database database;
  std::string notice;  ///< a torn file moved aside, a migration; empty: nothing to tell
};

/// A database that is whole, of the newest schema and for its owner only. A damaged file is moved
/// aside, and a new one begun with what could be read of it. Errors: io, refused (a newer waggle
/// wrote it).
[[nodiscard]] Result<Opened> open_whole(std::filesystem::path const& file);

}  // namespace waggle::store::detail
