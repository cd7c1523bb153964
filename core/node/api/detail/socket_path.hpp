// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "core/base/fd.hpp"
#include "core/base/result.hpp"

namespace waggle::node::detail {

/// A path of a Unix socket that fits into a sockaddr_un, which holds 107 bytes. Longer ones (homes
/// deep in a university's tree) are named through an open descriptor of their folder, so `text`
/// holds only while this does.
struct SocketPath {
  Fd folder;
  std::string text;

  /// Errors: io (no such folder, a name of over 80 bytes).
  [[nodiscard]] static Result<SocketPath> of(std::filesystem::path const& path);
};

}  // namespace waggle::node::detail
