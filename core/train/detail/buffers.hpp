// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/text.hpp"

namespace waggle::train::detail {

/// Whether a buffer of the caller's, of what `name` says, holds just so many values. Errors:
/// invalid (with both numbers).
[[nodiscard]] inline Status fits(std::string_view name,
                                 std::span<float const> buffer,
                                 std::size_t values) {
  if (buffer.size() == values) return ok();
  return Error{Errc::invalid,
               cat("a buffer of ", buffer.size(), " ", name, ", ", values, " are needed")};
}

}  // namespace waggle::train::detail
