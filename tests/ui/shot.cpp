// SPDX-License-Identifier: MIT
// Draws every panel from recorded snapshots into PNG files:
//   ui_shot OUTDIR FILE [--panel P] [--theme dark|light] [--language en|zh] [--scale S] [--size
//   WxH] [--first-run SCREEN] [--name N]
// FILE holds one snapshot a line, as `waggle status --json` prints them; the last one is shown and
// all make the curves. "-" stands for no node at all. Without a choice, all of them are drawn.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include "core/base/text.hpp"
#include "core/node/api/examples_json.hpp"
#include "core/node/api/snapshot_json.hpp"

#include "ui/window.hpp"

#include "tests/ui/machine_list.hpp"

namespace {

using namespace waggle;
using namespace waggle::ui;

// Of a picture's pixels. Larger: a word more is not seen. Smaller: another rasterizer's edges are.
constexpr double kTolerance = 0.0001;

struct Wanted {
  std::string folder;
  std::string file;
  std::string references;  // a folder of pictures kept from before
  std::string name;        // put before the panel's
  std::string machines;    // which list of tests/ui/machine_list.hpp; empty: only for its panel
  std::vector<Panel> panels{Panel::home,
                            Panel::swarm,
                            Panel::learning,
                            Panel::hardware,
                            Panel::projects,
                            Panel::machines,
                            Panel::log,
                            Panel::settings};
  std::vector<Mode> modes{Mode::dark, Mode::light};
  std::vector<Language> languages{Language::english, Language::chinese};
  std::vector<float> scales{1, 2};
  int first_run = 0;  // its screen, from 1; 0: a panel
  int width = 1120;
  int height = 760;
};

bool parse(int argc, char** argv, Wanted& wanted) {
  if (argc < 3) return false;
  wanted.folder = argv[1];
  wanted.file = argv[2];
  for (int i = 3; i + 1 < argc; i += 2) {
    std::string const option = argv[i];
    std::string const value = argv[i + 1];
    if (option == "--panel") {
      std::erase_if(wanted.panels, [&](Panel p) { return value != name(p); });
    } else if (option == "--theme") {
      wanted.modes = {value == "light" ? Mode::light : Mode::dark};
    } else if (option == "--language") {
      wanted.languages = {value == "zh" ? Language::chinese : Language::english};
    } else if (option == "--scale") {
      wanted.scales = {std::strtof(value.c_str(), nullptr)};
    } else if (option == "--size") {
      if (std::sscanf(value.c_str(), "%dx%d", &wanted.width, &wanted.height) != 2) return false;
    } else if (option == "--first-run") {
      wanted.first_run = std::atoi(value.c_str());
      wanted.panels = {Panel::home};
    } else if (option == "--references") {
      wanted.references = value;
    } else if (option == "--machines") {
      wanted.machines = value;
    } else if (option == "--name") {
      wanted.name = value;
    } else {
      return false;
    }
  }
  return !wanted.panels.empty() && wanted.width > 0 && wanted.height > 0;
}

// The share of pixels that differ visibly from the kept picture; negative: there is none.
double difference(Picture const& picture, std::string const& kept) {
  constexpr int kVisible = 24;  // of 255, in any channel
  int width = 0;
  int height = 0;
  int channels = 0;
  auto* const pixels = stbi_load(kept.c_str(), &width, &height, &channels, 3);
  if (pixels == nullptr) return -1;
  if (width != picture.width || height != picture.height) {
    stbi_image_free(pixels);
    return 1;
  }
  std::size_t differ = 0;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
    bool off = false;
    for (std::size_t c = i; c < i + 3; ++c) off |= std::abs(picture.rgb[c] - pixels[c]) > kVisible;
    differ += off ? 1 : 0;
  }
  stbi_image_free(pixels);
  return static_cast<double>(differ) * 3 / static_cast<double>(picture.rgb.size());
}

int fail(std::string const& why) {
  std::fprintf(stderr, "ui_shot: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  if (!parse(argc, argv, wanted)) {
    fail(
        "usage: ui_shot OUTDIR FILE [--panel P] [--theme T] [--language L] [--scale S] [--size "
        "WxH]");
    return 2;
  }
  History history;
  std::vector<node::Snapshot> snapshots;
  if (wanted.file != "-") {
    std::ifstream in(wanted.file);
    for (std::string line; std::getline(in, line);) {
      auto snapshot = node::snapshot_from_json(line);
      if (!snapshot) return fail(cat(wanted.file, ": ", snapshot.error().detail));
      history.add(*snapshot);
      snapshots.push_back(*std::move(snapshot));
    }
    if (snapshots.empty()) return fail(cat(wanted.file, ": no snapshot"));
  }
  auto const* const shown = snapshots.empty() ? nullptr : &snapshots.back();
  // "x.jsonl" may have example predictions beside it, as GET /v1/examples gives them.
  std::optional<node::Examples> examples;
  if (std::ifstream in(cat(wanted.file.substr(0, wanted.file.rfind('.')), ".examples.json")); in) {
    std::string text;
    std::getline(in, text);
    auto read = node::examples_from_json(text);
    if (!read) return fail(read.error().detail);
    examples = *std::move(read);
  }
  stbi_write_force_png_filter = 0;  // flat colours compress best as they are
  auto screen = Offscreen::open();
  if (!screen) return fail(screen.error().detail);
  int drawn = 0;
  int compared = 0;
  for (auto const scale : wanted.scales)
    for (auto const language : wanted.languages)
      for (auto const mode : wanted.modes)
        for (auto const panel : wanted.panels) {
          ShellState state;
          state.panel = panel;
          auto const list = test::machine_list(wanted.machines);
          bool const several = panel == Panel::machines || !wanted.machines.empty();
          (*screen)->show_machines(several ? &list : nullptr);
          state.choices.mode = mode;
          state.first_run.open = wanted.first_run > 0;
          state.first_run.screen = std::clamp(wanted.first_run, 1, 3) - 1;
          state.choices.language = language;
          auto const picture = (*screen)->draw(shown,
                                               examples ? &*examples : nullptr,
                                               history,
                                               state,
                                               wanted.width,
                                               wanted.height,
                                               scale);
          if (!picture) return fail(picture.error().detail);
          char scale_words[16];
          std::snprintf(scale_words, sizeof scale_words, "%g", static_cast<double>(scale));
          auto const base = cat(wanted.name,
                                wanted.name.empty() ? "" : "_",
                                wanted.first_run > 0 ? "" : name(panel),
                                mode == Mode::dark ? "-dark-" : "-light-",
                                language == Language::english ? "en-" : "zh-",
                                scale_words,
                                ".png");
          auto const file = cat(wanted.folder, "/", base);
          if (stbi_write_png(file.c_str(),
                             picture->width,
                             picture->height,
                             3,
                             picture->rgb.data(),
                             picture->width * 3) == 0)
            return fail(cat("cannot write ", file));
          ++drawn;
          if (wanted.references.empty()) continue;
          double const off = difference(*picture, cat(wanted.references, "/", base));
          if (off < 0) continue;
          ++compared;
          if (off > kTolerance)
            return fail(cat(file,
                            ": ",
                            100 * off,
                            " % of its pixels differ from the kept picture, at most ",
                            100 * kTolerance,
                            " % may; if that is meant: tests/ui/run.py --renew-references"));
        }
  std::printf("%d pictures in %s, %d compared\n", drawn, wanted.folder.c_str(), compared);
  return 0;
}
