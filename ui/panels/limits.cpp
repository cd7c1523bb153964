// SPDX-License-Identifier: MIT
#include "ui/panels/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/widgets/button.hpp"
#include "ui/widgets/field.hpp"
#include "ui/widgets/slider.hpp"
#include "ui/widgets/toggle.hpp"

namespace waggle::ui {
namespace {

constexpr std::array<char const*, 3> kLevels{"light", "medium", "full"};
constexpr std::array kShares{5,  10, 15, 20, 25, 30, 35, 40, 45, 50,
                             55, 60, 65, 70, 75, 80, 85, 90, 95, 100};
// Where nought is no limit at all, it stands at the end of the larger ones.
constexpr std::array kOthers{5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 0};
constexpr std::array kCelsius{50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 0};
constexpr std::array kDisk{1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000};
constexpr std::array kMib{512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 0};
constexpr std::array kDailyMib{
    512, 1024, 2048, 5120, 10240, 20480, 51200, 102400, 204800, 512000, 1024000, 0};
constexpr std::array kRates{50'000,
                            100'000,
                            200'000,
                            500'000,
                            1'000'000,
                            2'000'000,
                            5'000'000,
                            10'000'000,
                            20'000'000,
                            50'000'000,
                            100'000'000,
                            0};
constexpr std::array kWatts{
    50, 75, 100, 125, 150, 175, 200, 225, 250, 275, 300, 350, 400, 450, 500, 600, 700, 1000, 0};
constexpr std::array kIdle{0, 1, 2, 3, 5, 10, 15, 30, 60, 120};

// The words above a limit; whether it may be changed. A flag that holds it is named.
bool label(Frame const& frame, char const* setting, Text words) {
  auto const* const known = frame.setting(setting);
  if (known == nullptr) return false;
  auto const& c = frame.colours();
  wrapped(frame, Font::body, c.text, frame.tr(words));
  gap(frame, space::xs);
  if (known->from != "flag") return true;
  text(frame, Font::body, c.muted, fill(Text::set_by_flag, frame.language, {known->value}));
  gap(frame, space::m);
  return false;
}

// Whether a slider is drawn, which has the words above itself.
bool movable(Frame const& frame, char const* setting) {
  auto const* const known = frame.setting(setting);
  return known != nullptr && known->from != "flag" && frame.may_steer();
}

// Of a machine that may only be watched: what holds, and nothing to change it. True: it was shown.
bool only_shown(Frame const& frame, std::string_view value) {
  if (frame.may_steer()) return false;
  text(frame, Font::body, frame.colours().muted, value);
  gap(frame, space::m);
  return true;
}

void below(Frame const& frame, std::string_view hint) {
  if (!hint.empty()) {
    gap(frame, space::xs);
    wrapped(frame, Font::small, frame.colours().muted, hint);
  }
  gap(frame, space::m);
}

// A number of a few steps; 0 has words of its own.
template <std::size_t N>
void steps(Frame& frame,
           char const* setting,
           Text words,
           std::array<int, N> const& all,
           std::function<std::string(int)> const& say,
           std::string_view hint = {}) {
  int step = nearest(all, number_of(frame.value(setting)));
  auto const at = [&all](int i) { return all.at(static_cast<std::size_t>(i)); };
  if (!movable(frame, setting)) {
    if (label(frame, setting, words)) only_shown(frame, say(at(step)));
    return;
  }
  auto const step_words = [&](int i) { return say(at(i)); };
  if (slider(frame, setting, frame.tr(words), step, static_cast<int>(N), step_words))
    frame.set(setting, literal(at(step)));
  below(frame, hint);
}

void yes_or_no(Frame& frame, char const* setting, Text words) {
  auto const* const known = frame.setting(setting);
  if (known == nullptr) return;
  bool on = flag_of(frame.value(setting));
  if (!frame.may_steer()) {
    wrapped(frame, Font::body, frame.colours().text, frame.tr(words));
    gap(frame, space::xs);
    only_shown(frame, frame.tr(on ? Text::yes : Text::no));
    return;
  }
  if (toggle(frame, setting, frame.tr(words), on)) frame.set(setting, literal(on));
  gap(frame, space::s);
}

std::string trimmed(std::string_view text) {
  auto const begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

// A list of texts in one field, `between` them.
void list(
    Frame& frame, char const* setting, Text words, Text hint, char between, std::string& typed) {
  if (!label(frame, setting, words)) return;
  std::string now;
  for (auto const& one : texts_of(frame.value(setting)))
    now += cat(now.empty() ? "" : cat(between, " "), one);
  if (only_shown(frame, now.empty() ? "–" : now)) return;
  if (field(frame, setting, typed, now)) {
    std::vector<std::string> all;
    std::string_view rest = typed;
    while (!rest.empty()) {
      auto const end = rest.find(between);
      if (auto one = trimmed(rest.substr(0, end)); !one.empty()) all.push_back(std::move(one));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    frame.set(setting, literal(all));
  }
  below(frame, frame.tr(hint));
}

std::string mib_or_none(Frame const& frame, int mib) {
  return mib == 0 ? std::string(frame.tr(Text::no_limit)) : mebibytes(mib);
}

}  // namespace

std::string mebibytes(double mib) {
  constexpr double kMib = 1024.0 * 1024;
  return binary_bytes(kMib * std::round(mib));
}

void limit_power(Frame& frame) {
  auto const* const known = frame.setting("power");
  if (known == nullptr) return;
  auto const now = text_of(frame.value("power"));
  if (known->from == "flag") {
    text(frame, Font::body, frame.colours().muted, fill(Text::set_by_flag, frame.language, {now}));
    return;
  }
  int level = 1;
  for (int i = 0; i < 3; ++i)
    if (now == kLevels.at(static_cast<std::size_t>(i))) level = i;
  std::array<char const*, 3> const words{
      frame.tr(Text::power_light), frame.tr(Text::power_medium), frame.tr(Text::power_full)};
  if (!frame.may_steer())
    text(frame, Font::strong, frame.colours().text, words.at(static_cast<std::size_t>(level)));
  else if (segmented(frame, "power", words, level))
    frame.set("power", literal(std::string_view(kLevels.at(static_cast<std::size_t>(level)))));
  constexpr std::array kHints{
      Text::power_light_hint, Text::power_medium_hint, Text::power_full_hint};
  gap(frame, space::xs);
  wrapped(frame,
          Font::small,
          frame.colours().muted,
          frame.tr(kHints.at(static_cast<std::size_t>(level))));
}

void limit_threads(Frame& frame) {
  auto const* const s = frame.snapshot;
  auto const cores = s == nullptr ? std::size_t{0} : s->machine.cores;
  if (cores == 0) return;
  int threads = static_cast<int>(number_of(frame.value("threads")));
  int const most = std::max(static_cast<int>(cores), threads);
  auto const say = [&](int i) {
    return i == 0 ? std::string(frame.tr(Text::limit_threads_auto))
                  : fill(Text::threads_of, frame.language, {cat(i), cat(cores)});
  };
  if (!movable(frame, "threads")) {
    if (label(frame, "threads", Text::limit_threads)) only_shown(frame, say(threads));
    return;
  }
  if (slider(frame, "threads", frame.tr(Text::limit_threads), threads, most + 1, say))
    frame.set("threads", literal(threads));
  below(frame, {});
}

void limit_share(Frame& frame) {
  steps(frame, "cpu_share", Text::limit_share, kShares, [](int share) { return cat(share, " %"); });
}

void limit_others(Frame& frame) {
  steps(frame, "guest.cpu_load", Text::limit_others, kOthers, [&](int load) {
    return load == 0 ? std::string(frame.tr(Text::never)) : cat(load, " %");
  });
}

void limit_heat(Frame& frame) {
  steps(frame, "guest.temperature", Text::limit_heat, kCelsius, [&](int celsius) {
    return celsius == 0 ? std::string(frame.tr(Text::never)) : cat(celsius, " °C");
  });
}

void limit_disk(Frame& frame) {
  steps(
      frame,
      "disk_gib",
      Text::limit_disk,
      kDisk,
      [](int gib) { return cat(gib, " GiB"); },
      frame.tr(Text::limit_disk_hint));
}

void limit_memory(Frame& frame) {
  steps(
      frame,
      "max_memory",
      Text::limit_memory,
      kMib,
      [&](int mib) { return mib_or_none(frame, mib); },
      frame.tr(Text::limit_memory_hint));
}

void limit_rates(Frame& frame) {
  auto const say = [&](int rate) {
    if (rate == 0) return std::string(frame.tr(Text::no_limit));
    // Round figures, without the decimals of what is measured.
    return rate < 1'000'000 ? cat(rate / 1000, " kB/s") : cat(rate / 1'000'000, " MB/s");
  };
  steps(frame, "max_download", Text::limit_download, kRates, say);
  steps(frame, "max_upload", Text::limit_upload, kRates, say, frame.tr(Text::limit_rate_hint));
}

void limit_daily(Frame& frame) {
  steps(
      frame,
      "daily_traffic",
      Text::limit_daily,
      kDailyMib,
      [&](int mib) { return mib_or_none(frame, mib); },
      frame.tr(Text::limit_daily_hint));
}

void limit_sleep(Frame& frame) {
  yes_or_no(frame, "keep_awake", Text::keep_awake);
}

void limit_battery(Frame& frame) {
  yes_or_no(frame, "guest.on_battery", Text::limit_battery);
}

void limit_update_notice(Frame& frame) {
  if (frame.setting("update_notice") == nullptr) return;
  yes_or_no(frame, "update_notice", Text::update_notice);
  wrapped(frame, Font::small, frame.colours().muted, frame.tr(Text::update_notice_note));
}

void limit_metered(Frame& frame) {
  yes_or_no(frame, "guest.on_metered", Text::limit_metered);
}

namespace {

void idle_steps(Frame& frame, char const* setting, Text words) {
  steps(frame, setting, words, kIdle, [&](int minutes) {
    return minutes == 0 ? std::string(frame.tr(Text::limit_idle_off))
                        : fill(Text::limit_idle_after,
                               frame.language,
                               {duration(60 * minutes, frame.language)});
  });
}

}  // namespace

void limit_idle(Frame& frame) {
  idle_steps(frame, "guest.idle_minutes", Text::limit_idle);
}

void limit_gpu_idle(Frame& frame) {
  idle_steps(frame, "guest.gpu_idle_minutes", Text::limit_gpu_idle);
}

void limit_gpu_share(Frame& frame) {
  steps(frame, "gpu_duty", Text::limit_gpu_share, kShares, [](int share) {
    return cat(share, " %");
  });
}

void limit_gpu_memory(Frame& frame) {
  steps(
      frame,
      "max_gpu_memory",
      Text::limit_gpu_memory,
      kMib,
      [&](int mib) { return mib_or_none(frame, mib); },
      frame.tr(Text::limit_gpu_memory_hint));
}

void limit_gpu_power(Frame& frame) {
  steps(
      frame,
      "gpu_power_cap",
      Text::limit_gpu_power,
      kWatts,
      [&](int watts) {
        return watts == 0 ? std::string(frame.tr(Text::no_limit)) : cat(watts, " W");
      },
      frame.tr(Text::limit_gpu_power_hint));
}

void own_trainer(Frame& frame, LimitsState& state) {
  if (!label(frame, "trainer", Text::own_trainer)) return;
  auto const now = text_of(frame.value("trainer"));
  if (only_shown(frame, now.empty() ? frame.tr(Text::own_trainer_none) : now)) return;
  if (field(frame, "trainer", state.trainer, now, frame.tr(Text::own_trainer_none)))
    frame.set("trainer", literal(std::string_view(state.trainer)));
  below(frame, frame.tr(Text::own_trainer_note));
}

void limit_hours(Frame& frame, LimitsState& state) {
  list(frame,
       "guest.quiet_hours",
       Text::limit_hours,
       Text::limit_hours_hint,
       ';',
       state.quiet_hours);
}

void limit_programs(Frame& frame, LimitsState& state) {
  list(frame,
       "guest.programs",
       Text::limit_programs,
       Text::limit_programs_hint,
       ',',
       state.programs);
}

}  // namespace waggle::ui
