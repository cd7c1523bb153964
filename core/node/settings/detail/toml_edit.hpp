// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace waggle::node::detail {

/// A line editor for TOML: changes the text around one value and leaves every other byte as it was.
/// `name` is "key" or "table.key". The text must be well-formed; whoever calls compares what the
/// result says with what was wanted.

/// Puts `literal` in place of the value that stands there, wherever it stands (a table of its own,
/// dotted keys, an inline table); else adds a line, after the last of its table.
[[nodiscard]] std::string with_key(std::string_view toml,
                                   std::string_view name,
                                   std::string_view literal);

/// Takes the line away, or, where something else stands on it, writes `standard` as the value.
[[nodiscard]] std::string without_key(std::string_view toml,
                                      std::string_view name,
                                      std::string_view standard);

}  // namespace waggle::node::detail
