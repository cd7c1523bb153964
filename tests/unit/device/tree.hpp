// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/node/folder.hpp"

namespace waggle::test {

/// A fake /sys or /proc.
struct Tree : Folder {
  void put(std::string const& name, std::string const& text) const {
    auto const file = path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
};

}  // namespace waggle::test
