// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/fd.hpp"
#include "core/base/result.hpp"

namespace waggle::launcher {

/// Writes a tar (ustar: files, folders, symbolic links) below a folder as its bytes come. Nothing
/// lands outside: names are relative without "..", no folder on the way may be a symbolic link, a
/// link points inside, and what exists is never replaced.
///
///     feed(512 of a header) -> feed(content, padded to 512) -> … -> feed(two empty blocks)
///     finish(): an error unless the end was seen
class TarWriter {
 public:
  /// `root`: an empty folder; outlives this. `limit`: of all bytes fed.
  TarWriter(int root, std::uint64_t limit) noexcept : root_(root), limit_(limit) {}

  /// Errors: malformed (with the entry's name), too_large, io. After one, nothing more may be fed.
  [[nodiscard]] Status feed(std::span<char const> bytes);
  [[nodiscard]] Status finish() const;

 private:
  [[nodiscard]] Status begin_entry();
  [[nodiscard]] Status write_content(std::span<char const> bytes);

  int root_;
  std::uint64_t limit_;
  std::uint64_t fed_ = 0;
  std::uint64_t entries_ = 0;
  std::array<char, 512> block_{};  ///< the header being collected
  std::size_t collected_ = 0;
  std::uint64_t content_ = 0;  ///< bytes of content still to come
  std::uint64_t padding_ = 0;
  Fd file_;
  std::string name_;
  bool ended_ = false;
};

/// Whether `name` is a relative path of plain parts: no "..", ".", empty part, or leading slash.
[[nodiscard]] bool is_plain_path(std::string_view name) noexcept;

/// Whether a link at `name` to `target` stays below the folder that `name` counts from.
[[nodiscard]] bool link_stays_inside(std::string_view name, std::string_view target) noexcept;

}  // namespace waggle::launcher
