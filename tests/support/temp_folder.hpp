// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

namespace waggle::test {

/// A fresh folder under the system's place for temporary files, removed with all in it.
class TempFolder {
 public:
  TempFolder() {
    auto name = (std::filesystem::temp_directory_path() / "waggle-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }

  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  TempFolder(TempFolder const&) = delete;
  TempFolder& operator=(TempFolder const&) = delete;

  [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

  [[nodiscard]] std::filesystem::path operator/(std::string const& name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace waggle::test
