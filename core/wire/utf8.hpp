// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace waggle::wire {

/// Whether `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
/// Cost: one pass. Source: RFC 3629 section 4; Python's strict decoder draws the same line.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace waggle::wire
