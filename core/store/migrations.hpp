// SPDX-License-Identifier: MIT
#pragma once

#include <span>

namespace waggle::store {

/// One step of the schema. Disk-stable: a step that was released is never edited, only followed.
struct Migration {
  int version;      ///< PRAGMA user_version after it; 1, 2, 3, …
  char const* sql;  ///< runs in one transaction together with the new user_version
};

/// All steps in order. A database at version n needs those above n; one above the last is a newer
/// program's.
[[nodiscard]] std::span<Migration const> migrations() noexcept;

/// "WGGL": tells `file` and us that a database is ours.
constexpr int kApplicationId = 0x5747474c;

}  // namespace waggle::store
