// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include <stdlib.h>

namespace waggle::test {

/// A fresh folder, removed with everything in it.
struct Folder {
  std::filesystem::path path;

  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "waggle-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path = pattern;
  }

  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace waggle::test
