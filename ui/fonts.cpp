// SPDX-License-Identifier: MIT
#include "ui/fonts.hpp"

#include <cmath>
#include <filesystem>
#include <vector>

#include <imgui.h>

extern "C" {
extern unsigned char const waggle_inter_regular[];
extern unsigned char const waggle_inter_regular_end[];
extern unsigned char const waggle_inter_semibold[];
extern unsigned char const waggle_inter_semibold_end[];
}

namespace waggle::ui {
namespace {

// Latin with its extensions, general punctuation, arrows and the minus sign: what Inter draws.
constexpr ImWchar kInterRanges[] = {0x0020,
                                    0x024F,
                                    0x0370,
                                    0x03FF,
                                    0x0400,
                                    0x04FF,
                                    0x2010,
                                    0x2027,
                                    0x2030,
                                    0x203A,
                                    0x2070,
                                    0x209F,
                                    0x2190,
                                    0x2193,
                                    0x2212,
                                    0x2212,
                                    0x2264,
                                    0x2265,
                                    0};

// A stranger's title may hold any letter; each costs atlas space at five sizes.
constexpr std::size_t kMaxLetters = 3000;

struct Face {
  float size;
  bool semibold;
};

constexpr std::array<Face, kFontCount> kFaces{
    Face{13, false}, Face{15, false}, Face{15, true}, Face{21, true}, Face{30, true}};

constexpr char const* kChineseFiles[] = {
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/wqy-microhei/wqy-microhei.ttc",
    "/usr/share/fonts/wenquanyi/wqy-microhei/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
};

bool inter_has(unsigned code) {
  for (std::size_t i = 0; kInterRanges[i] != 0; i += 2)
    if (code >= kInterRanges[i] && code <= kInterRanges[i + 1]) return true;
  return code < 0x20;
}

std::string chinese_file() {
  std::error_code ec;
  for (auto const* const file : kChineseFiles)
    if (std::filesystem::is_regular_file(file, ec)) return file;
  // The single file and the package bring it along.
  auto const own = std::filesystem::read_symlink("/proc/self/exe", ec).parent_path().parent_path() /
                   "share/wqy-microhei.ttc";
  if (std::filesystem::is_regular_file(own, ec)) return own.string();
  return {};
}

void add_inter(ImFontAtlas& atlas, Face const& face, float pixels, float scale) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.OversampleH = scale < 1.5F ? 3 : 2;
  config.OversampleV = 1;
  config.PixelSnapH = false;
  auto const* const begin = face.semibold ? waggle_inter_semibold : waggle_inter_regular;
  auto const* const end = face.semibold ? waggle_inter_semibold_end : waggle_inter_regular_end;
  // The atlas only reads it, but its interface is older than const.
  atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(begin),
                             static_cast<int>(end - begin),
                             pixels,
                             &config,
                             kInterRanges);
}

}  // namespace

void Fonts::collect(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto const lead = static_cast<unsigned char>(text[i]);
    std::size_t const length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    // ImGui's letters are 16 bits wide: what lies beyond is shown as its replacement.
    if (length == 3 && i + 2 < text.size()) {
      auto const code = static_cast<char16_t>(
          ((lead & 0x0F) << 12) | ((static_cast<unsigned char>(text[i + 1]) & 0x3F) << 6) |
          (static_cast<unsigned char>(text[i + 2]) & 0x3F));
      if (!inter_has(code) && letters_.size() < kMaxLetters && letters_.insert(code).second)
        letters_changed_ = true;
    }
    i += length;
  }
}

void Fonts::collect(node::Examples const& examples) {
  auto const items = [&](std::vector<node::Example> const& all) {
    for (auto const& item : all) {
      collect(item.prompt);
      collect(item.text);
    }
  };
  for (auto const& label : examples.labels) collect(label);
  items(examples.items);
  for (auto const& preview : examples.previews) {
    for (auto const& label : preview.labels) collect(label);
    items(preview.items);
  }
}

bool Fonts::prepare(float scale, Language language, node::Snapshot const* snapshot) {
  if (language == Language::chinese && !catalogue_taken_) {
    for (auto const& entry : catalogue()) collect(entry.chinese);
    collect("中文万亿秒分小时天，。（）：；");
    catalogue_taken_ = true;
  }
  if (snapshot != nullptr) {
    for (auto const& task : snapshot->tasks) {
      collect(task.title);
      collect(task.reason);
    }
    for (auto const& known : snapshot->known_tasks) {
      collect(known.title);
      collect(known.description);
      collect(known.licence);
      collect(known.reason);
    }
    for (auto const& setting : snapshot->settings) collect(setting.value);
    for (auto const& watcher : snapshot->control.paired) collect(watcher.name);
    for (auto const& notice : snapshot->notices) collect(notice);
  }
  if (scale == scale_ && !letters_changed_) return false;
  scale_ = scale;
  letters_changed_ = false;
  build();
  return true;
}

void Fonts::build() {
  auto& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  atlas.TexGlyphPadding = 1;
  std::vector<ImWchar> ranges;
  if (!letters_.empty()) {
    if (chinese_file_.empty()) chinese_file_ = chinese_file();
    wanted_missing_ = chinese_file_.empty();
    for (auto const letter : letters_) {
      if (!ranges.empty() && ranges.back() + 1 == letter)
        ranges.back() = letter;
      else
        ranges.insert(ranges.end(), {letter, letter});
    }
    ranges.push_back(0);
  }
  for (std::size_t i = 0; i < kFontCount; ++i) {
    auto const& face = kFaces[i];
    float const pixels = std::round(face.size * scale_ * 1.18F);  // Inter's em to its line
    add_inter(atlas, face, pixels, scale_);
    fonts_[i] = atlas.Fonts.back();
    if (ranges.empty() || wanted_missing_) continue;
    ImFontConfig config;
    config.MergeMode = true;
    config.OversampleH = 1;
    config.OversampleV = 1;
    config.PixelSnapH = true;
    atlas.AddFontFromFileTTF(
        chinese_file_.c_str(), std::round(pixels * 0.98F), &config, ranges.data());
  }
  // Ranges are read here and not kept.
  atlas.Build();
}

}  // namespace waggle::ui
