// SPDX-License-Identifier: MIT
#include "ui/fonts.hpp"

#include <cmath>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <imgui.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/base/fd.hpp"

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

// How Chinese calls itself, beside "English" in every window.
constexpr std::string_view kOwnName = "中文";
constexpr std::size_t kOwnNameLetters = 2;

constexpr float kBoldness = 1.7F;  // larger: strokes run together

constexpr off_t kMostBytes = 256 << 20;  // of a font file; those known have 5 MB

struct Face {
  float size;
  bool semibold;
};

constexpr std::array<Face, kFontCount> kFaces{
    Face{13, false}, Face{15, false}, Face{15, true}, Face{21, true}, Face{30, true}};

struct Block {
  ImWchar first;
  ImWchar last;
};

// Parts of Inter that few texts use: Latin's extensions, Greek, Cyrillic. At five sizes they are
// three quarters of the atlas, so each is drawn only once a text has a letter of it.
constexpr std::array<Block, 3> kSeldom{Block{0x0100, 0x024F}, {0x0370, 0x03FF}, {0x0400, 0x04FF}};

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

// Inter's ranges but for the seldom blocks that are not among `drawn`.
std::vector<ImWchar> inter_ranges(unsigned drawn) {
  std::vector<ImWchar> out;
  for (std::size_t i = 0; kInterRanges[i] != 0; i += 2) {
    auto first = kInterRanges[i];
    auto last = kInterRanges[i + 1];
    for (std::size_t k = 0; k < kSeldom.size(); ++k) {
      if (((drawn >> k) & 1U) != 0) continue;
      if (kSeldom[k].first == first) first = static_cast<ImWchar>(last + 1);
      if (kSeldom[k].last == last && kSeldom[k].first > first)
        last = static_cast<ImWchar>(kSeldom[k].first - 1);
    }
    if (first <= last) out.insert(out.end(), {first, last});
  }
  out.push_back(0);
  return out;
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

// A font that outlives the atlas, which else would copy it, megabytes for each size: it takes what
// it is given, and is then told not to free it.
void lend(ImFontAtlas& atlas,
          void* bytes,
          std::size_t size,
          float pixels,
          ImFontConfig config,
          ImWchar const* ranges) {
  config.FontDataOwnedByAtlas = true;
  atlas.AddFontFromMemoryTTF(bytes, static_cast<int>(size), pixels, &config, ranges);
  atlas.ConfigData.back().FontDataOwnedByAtlas = false;
}

void add_inter(
    ImFontAtlas& atlas, Face const& face, float pixels, float scale, ImWchar const* ranges) {
  ImFontConfig config;
  config.OversampleH = scale < 1.5F ? 3 : 2;
  config.OversampleV = 1;
  config.PixelSnapH = false;
  auto const* const begin = face.semibold ? waggle_inter_semibold : waggle_inter_regular;
  auto const* const end = face.semibold ? waggle_inter_semibold_end : waggle_inter_regular_end;
  // The atlas only reads it, but its interface is older than const.
  lend(atlas,
       const_cast<unsigned char*>(begin),
       static_cast<std::size_t>(end - begin),
       pixels,
       config,
       ranges);
}

}  // namespace

void Fonts::see(std::string_view words) const {
  // Their letters are two bytes long, and no other letter's bytes begin like theirs.
  constexpr unsigned char kFirstLead = 0xC4;
  constexpr unsigned char kLastLead = 0xD3;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    auto const lead = static_cast<unsigned char>(words[i]);
    if (lead < kFirstLead || lead > kLastLead) continue;
    auto const code = static_cast<unsigned>((lead & 0x1F) << 6) |
                      (static_cast<unsigned char>(words[i + 1]) & 0x3FU);
    for (std::size_t k = 0; k < kSeldom.size(); ++k)
      if (code >= kSeldom[k].first && code <= kSeldom[k].last) seen_ |= 1U << k;
  }
}

void Fonts::collect(std::string_view text) {
  see(text);
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

Fonts::Mapped::~Mapped() {
  if (bytes != nullptr) ::munmap(bytes, size);
}

// A font of megabytes, of which a few glyphs are read: only the pages that are touched are.
bool Fonts::Mapped::open(std::string const& file) {
  Fd const fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));

  struct stat info {};

  if (!fd || ::fstat(fd.get(), &info) != 0 || info.st_size <= 0 || info.st_size > kMostBytes)
    return false;
  auto const wanted = static_cast<std::size_t>(info.st_size);
  void* const at = ::mmap(nullptr, wanted, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (at == MAP_FAILED) return false;
  bytes = at;
  size = wanted;
  return true;
}

bool Fonts::prepare(float scale, Language language, node::Snapshot const* snapshot) {
  collect(kOwnName);
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
  if (scale == scale_ && !letters_changed_ && seen_ == drawn_) return false;
  scale_ = scale;
  letters_changed_ = false;
  drawn_ = seen_;
  build();
  return true;
}

void Fonts::build() {
  auto& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  atlas.TexGlyphPadding = 1;
  std::vector<ImWchar> ranges;
  if (!letters_.empty()) {
    if (chinese_.bytes == nullptr)
      if (auto const file = chinese_file(); !file.empty()) chinese_.open(file);
    wanted_missing_ = chinese_.bytes == nullptr;
    for (auto const letter : letters_) {
      if (!ranges.empty() && ranges.back() + 1 == letter)
        ranges.back() = letter;
      else
        ranges.insert(ranges.end(), {letter, letter});
    }
    ranges.push_back(0);
  }
  auto const inter = inter_ranges(drawn_);
  for (std::size_t i = 0; i < kFontCount; ++i) {
    auto const& face = kFaces[i];
    float const pixels = std::round(face.size * scale_ * 1.18F);  // Inter's em to its line
    add_inter(atlas, face, pixels, scale_, inter.data());
    fonts_[i] = atlas.Fonts.back();
    if (ranges.empty() || wanted_missing_) continue;
    ImFontConfig config;
    config.MergeMode = true;
    config.OversampleH = 1;
    config.OversampleV = 1;
    config.PixelSnapH = true;
    // There is no bold one of this face: its edges are darkened instead.
    if (face.semibold) config.RasterizerMultiply = kBoldness;
    lend(atlas, chinese_.bytes, chinese_.size, std::round(pixels * 0.98F), config, ranges.data());
  }
  // Ranges are read here and not kept.
  atlas.Build();
}

bool Fonts::chinese_missing() const {
  return wanted_missing_ && letters_.size() > kOwnNameLetters;
}

}  // namespace waggle::ui
