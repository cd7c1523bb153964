// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/node/examples.hpp"

namespace waggle::node {

/// One JSON object, "schema": 1; pixels as hex, bytes that are not UTF-8 replaced.
[[nodiscard]] std::string to_json(Examples const& examples);

/// The other way. What is missing or of another kind keeps its default; what is longer than a
/// limit is cut, and a picture whose pixels do not fit its size is left out. Errors: malformed.
[[nodiscard]] Result<Examples> examples_from_json(std::string_view text);

/// A task's preview as its operator publishes it, one JSON object, and back. What is longer than a
/// limit is cut, a picture whose pixels do not fit its size is left out. Errors: too_large
/// (kMaxPreviewBytes), malformed.
inline constexpr std::size_t kMaxPreviewBytes = 256u << 10;
[[nodiscard]] std::string to_json(Preview const& preview);
[[nodiscard]] Result<Preview> preview_from_json(std::string_view text);

}  // namespace waggle::node
