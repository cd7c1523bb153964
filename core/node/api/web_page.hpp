// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace waggle::node {

/// A file of the web page (assets/web), inside the program.
struct WebFile {
  std::string_view path;
  std::string_view type;
  std::string_view content;
};

/// Null: the page has no such file.
[[nodiscard]] WebFile const* web_file(std::string_view path);

}  // namespace waggle::node
