// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace waggle::device::detail {

/// The first `limit` bytes of a small file of /sys or /proc, without the white space at its end.
/// Empty: it is empty, or cannot be read, which is the same to every sensor.
[[nodiscard]] std::string read_small(std::filesystem::path const& file, std::size_t limit = 4096);

/// The names in a folder, sorted, at most `most`. Empty if it cannot be read.
[[nodiscard]] std::vector<std::string> names_in(std::filesystem::path const& folder,
                                                std::size_t most);

/// A whole decimal number with nothing after it.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace waggle::device::detail
