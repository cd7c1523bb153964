// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/node/examples.hpp"
#include "core/node/snapshot.hpp"

#include "ui/text.hpp"

struct ImFont;

namespace waggle::ui {

enum class Font : std::uint8_t { small, body, strong, title, big };
inline constexpr std::size_t kFontCount = 5;

/// The typefaces, drawn into ImGui's atlas at a scale. Inter is part of the program; a Chinese face
/// is read from the system, and only its letters in use are drawn: in an English window those two
/// that name the language.
class Fonts {
 public:
  /// Makes sure that these can be shown; true if the atlas changed and must be uploaded anew.
  /// Thread: the window's, outside a frame. Cost: some ms when something changes, else O(text).
  bool prepare(float scale, Language language, node::Snapshot const* snapshot);
  /// Words that are in no snapshot, before prepare().
  void collect(std::string_view text);
  /// Likewise, of samples and of what the model says of them.
  void collect(node::Examples const& examples);
  /// What is drawn or measured: the next prepare() sees to it that Latin's extensions, Greek and
  /// Cyrillic are there if these words have them. Cost: O(bytes).
  void see(std::string_view words) const;

  [[nodiscard]] ImFont* get(Font font) const { return fonts_.at(static_cast<std::size_t>(font)); }

  /// Chinese letters can be shown; 中文 is loaded in every window.
  [[nodiscard]] bool has_chinese() const { return !letters_.empty() && !wanted_missing_; }

  /// More Chinese than that is wanted, and no font for it is installed.
  [[nodiscard]] bool chinese_missing() const;

 private:
  /// A font file in memory; glyphs are read from it whenever the atlas is built.
  struct Mapped {
    Mapped() = default;
    ~Mapped();
    Mapped(Mapped const&) = delete;
    Mapped& operator=(Mapped const&) = delete;
    bool open(std::string const& file);

    void* bytes = nullptr;
    std::size_t size = 0;
  };

  void build();

  std::array<ImFont*, kFontCount> fonts_{};
  float scale_ = 0;
  std::set<char16_t> letters_;  // beyond Inter's
  mutable unsigned seen_ = 0;   // blocks of Inter that few texts use, a bit each: wanted so far
  unsigned drawn_ = 0;          // and in the atlas
  bool letters_changed_ = false;
  bool catalogue_taken_ = false;
  bool wanted_missing_ = false;
  Mapped chinese_;
};

}  // namespace waggle::ui
