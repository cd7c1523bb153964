// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace waggle::node {

/// A file of an archive: `name` has at most 100 bytes and no "..".
struct ArchiveFile {
  std::string name;
  std::string content;
};

/// A POSIX tar archive (ustar): plain files, mode 0600, nobody's. `time` is in Unix seconds.
[[nodiscard]] std::string tar(std::vector<ArchiveFile> const& files, std::uint64_t time);

/// One gzip member without name or time. Errors: too_large (memory).
[[nodiscard]] Result<std::string> gzip(std::string_view content);

}  // namespace waggle::node
