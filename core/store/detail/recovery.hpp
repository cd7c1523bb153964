// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/store/detail/database.hpp"

namespace waggle::store::detail {

/// Renames a torn database (with its log) to FILE.torn-1 … FILE.torn-9 and returns the new path.
/// Errors: io.
[[nodiscard]] Result<std::filesystem::path> move_aside(std::filesystem::path const& file);

/// Copies every row that can still be read out of `torn` and fits `fresh`'s schema. Returns a
/// sentence of what was saved: "saved 3 tasks, 1200 ledger rows". Never fails for damage in `torn`.
/// Errors: those of `fresh`.
[[nodiscard]] Result<std::string> salvage(std::filesystem::path const& torn, Database const& fresh);

}  // namespace waggle::store::detail
