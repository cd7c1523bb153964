// SPDX-License-Identifier: MIT
#include "ui/panels/home.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/panels/empty.hpp"
#include "ui/panels/limits.hpp"
#include "ui/task_words.hpp"
#include "ui/widgets/bars.hpp"
#include "ui/widgets/button.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/chart.hpp"
#include "ui/widgets/figure.hpp"
#include "ui/widgets/progress.hpp"

namespace waggle::ui {
namespace {

using node::Command;

constexpr float kRing = 132;
constexpr float kThreeFigures = 340;  // units; below it two stand side by side
constexpr float kNarrow = 560;        // units; below it the buttons stand under the words

double share_of_epoch(node::TaskView const& t) {
  if (t.target_batch_size == 0) return 0;
  return std::min(1.0,
                  static_cast<double>(t.swarm_samples) / static_cast<double>(t.target_batch_size));
}

bool over(node::TaskView const& t) {
  return t.state == "done" || t.state == "failed";
}

int count_of(Offers const& offers) {
  return (offers.run ? 1 : 0) + (offers.pause ? 1 : 0) + (offers.finish ? 1 : 0);
}

bool steerable(Frame const& frame, node::TaskView const& t) {
  return count_of(offers_of(t)) > 0 && frame.may_steer();
}

// Pause and Resume are one button to the keyboard: its focus stays when it was pressed. (Not where
// a rule rests it and both Run anyway and Pause are there.)
void buttons(Frame& frame, node::TaskView const& t, float width) {
  auto const offers = offers_of(t);
  bool first = true;
  auto const one =
      [&](char const* id, Text text, Icon icon, std::optional<Text> hint, Command::Kind kind) {
        bool const primary = std::exchange(first, false);
        if (!primary && width == 0) ImGui::SameLine(0, frame.px(space::s));
        bool const full =
            ImGui::GetContentRegionAvail().x < button_width(frame, frame.tr(text), icon);
        if (!primary && width == 0 && full) ImGui::NewLine();
        if (!primary && (width > 0 || full)) gap(frame, space::s);
        if (button(frame,
                   id,
                   frame.tr(text),
                   primary ? ButtonKind::primary : ButtonKind::quiet,
                   icon,
                   hint ? frame.tr(*hint) : nullptr,
                   width))
          frame.commands.push_back({.kind = kind, .prefix = t.prefix});
      };
  bool const held = offers.run == Text::run_anyway;
  if (offers.run)
    one("run",
        *offers.run,
        Icon::play,
        held ? std::optional(Text::run_anyway_hint) : std::nullopt,
        Command::Kind::resume);
  if (offers.pause)
    one(offers.run ? "pause" : "run",
        Text::pause,
        Icon::pause,
        t.state == "paused" ? std::optional(Text::pause_hint) : std::nullopt,
        Command::Kind::pause);
  if (offers.finish)
    one("finish", Text::finish, Icon::flag, Text::finish_hint, Command::Kind::finish);
}

float buttons_width(Frame const& frame) {
  return std::max({button_width(frame, frame.tr(Text::pause), Icon::pause),
                   button_width(frame, frame.tr(Text::resume), Icon::play),
                   button_width(frame, frame.tr(Text::run_anyway), Icon::play),
                   button_width(frame, frame.tr(Text::finish), Icon::flag)});
}

std::string doing(Frame const& frame, node::TaskView const& t) {
  if (t.state != "training" || t.phase.empty()) return state_words(condition_of(t), frame.language);
  if (frame.away() && phase_text(t.phase) == Text::phase_training)
    return fill(Text::phase_training_there, frame.language, {frame.machines->shown()->name});
  return translated(t.phase, frame.language);
}

// Of another machine nobody knows who pressed its button.
std::string why(Frame const& frame, node::TaskView const& t) {
  if (frame.away() && phase_text(t.reason) == Text::paused_by_you)
    return frame.tr(Text::paused_by_hand);
  return reason_of(t, frame.language);
}

void why_and_until_when(Frame const& frame, node::TaskView const& t) {
  auto const& c = frame.colours();
  if (!t.reason.empty()) {
    auto const colour = condition_of(t) == "failed" ? c.bad : c.warn;
    wrapped(frame, Font::strong, colour, why(frame, t));
  }
  // What is to be pressed is said where it can be.
  if (auto const outlook = outlook_of(t); outlook && (steerable(frame, t) || !waits_for_person(t)))
    wrapped(frame, Font::body, c.muted, frame.tr(*outlook));
}

// What runs: words beside the ring.
void words(Frame const& frame, node::TaskView const& t) {
  auto const& c = frame.colours();
  text(frame, Font::title, c.text, t.title.empty() ? t.prefix : t.title);
  if (t.state == "fetching") {
    text(frame, Font::body, c.muted, frame.tr(Text::fetching_data));
    gap(frame, space::s);
    double const share =
        t.fetch_total == 0 ? 0
                           : static_cast<double>(t.fetch_done) / static_cast<double>(t.fetch_total);
    bar(frame, share, share, frame.px(8));
    gap(frame, space::xs);
    text(frame,
         Font::small,
         c.muted,
         fill(Text::fetched_of,
              frame.language,
              {bytes(static_cast<double>(t.fetch_done)),
               bytes(static_cast<double>(t.fetch_total))}));
    if (!t.reason.empty()) gap(frame, space::xs);
    why_and_until_when(frame, t);
    return;
  }
  // Why it is paused says that it is.
  if (t.state != "paused" || t.reason.empty()) text(frame, Font::body, c.text, doing(frame, t));
  why_and_until_when(frame, t);
  if (over(t) || t.target_batch_size == 0) return;
  gap(frame, space::s);
  text(frame,
       Font::body,
       c.muted,
       cat(fill(Text::epoch_of, frame.language, {cat(t.epoch)}),
           " · ",
           fill(Text::epoch_samples,
                frame.language,
                {count(static_cast<double>(std::min(t.swarm_samples, t.target_batch_size)),
                       frame.language),
                 count(static_cast<double>(t.target_batch_size), frame.language)})));
  for (auto const& other : frame.snapshot->tasks)
    if (values_in(other.reason, tr(Text::said_next, Language::english)))
      text(frame,
           Font::small,
           c.muted,
           fill(Text::trains_next,
                frame.language,
                {other.title.empty() ? other.prefix : other.title}));
  if (t.swarm_epoch > t.epoch)
    text(frame,
         Font::small,
         c.muted,
         sentence(fill(Text::behind_swarm, frame.language, {cat(t.swarm_epoch)})));
}

std::string time_left(Frame const& frame, node::TaskView const& t) {
  if (over(t) || t.state == "fetching" || t.target_batch_size == 0) return {};
  if (t.state == "paused" && t.swarm_samples_per_second <= 0) return {};
  // Nought is also what a node says that does not know.
  constexpr double kNearlyFull = 0.9;
  if (t.eta > 86'400) return {};
  if (t.eta < 1)
    return share_of_epoch(t) >= kNearlyFull ? frame.tr(Text::any_moment) : std::string();
  return fill(Text::time_left_short, frame.language, {duration(t.eta, frame.language)});
}

void hero(Frame& frame, node::TaskView const& t) {
  Card const card(frame, "hero");
  auto const& c = frame.colours();
  float const room = ImGui::GetContentRegionAvail().x;
  bool const narrow = room < frame.px(kNarrow);
  float const diameter = frame.px(narrow ? 104 : kRing);
  auto const begin = ImGui::GetCursorScreenPos();
  double const share = t.state == "fetching" && t.fetch_total > 0
                           ? static_cast<double>(t.fetch_done) / static_cast<double>(t.fetch_total)
                           : share_of_epoch(t);
  double const shown = t.state == "done" ? 1 : share;
  ring(frame,
       shown,
       t.state == "paused" || t.state == "failed" ? c.muted : c.fill,
       diameter,
       cat(std::lround(100 * shown), " %"),
       time_left(frame, t));
  float const left = diameter + frame.px(space::xl);
  bool const steer = steerable(frame, t);
  float const side = steer ? buttons_width(frame) : 0;
  // The words stand in the middle of the ring's height, between it and the buttons.
  float const words_width = room - left - (narrow || side == 0 ? 0 : side + frame.px(space::xl));
  float const words_height = ImGui::GetStateStorage()->GetFloat(ImGui::GetID("words"), 0);
  ImGui::SetCursorScreenPos(
      {begin.x + left, begin.y + std::max(0.0F, std::floor((diameter - words_height) / 2))});
  ImGui::BeginChild(
      "said", {words_width, std::max(1.0F, words_height)}, false, ImGuiWindowFlags_NoScrollbar);
  words(frame, t);
  float const wanted = ImGui::GetCursorPosY();
  ImGui::EndChild();
  ImGui::GetStateStorage()->SetFloat(ImGui::GetID("words"), wanted);
  float const bottom = begin.y + std::max(diameter, words_height);
  if (!steer) {
    ImGui::SetCursorScreenPos({begin.x, bottom});
    ImGui::Dummy({0, 0});
    return;
  }
  if (narrow) {
    ImGui::SetCursorScreenPos({begin.x, bottom + frame.px(space::m)});
    buttons(frame, t, 0);
    return;
  }
  auto const count = static_cast<float>(count_of(offers_of(t)));
  float const stack = frame.px(38 * count + space::s * (count - 1));
  ImGui::SetCursorScreenPos({begin.x + room - side, begin.y + std::floor((diameter - stack) / 2)});
  ImGui::BeginGroup();
  buttons(frame, t, side);
  ImGui::EndGroup();
  ImGui::SetCursorScreenPos({begin.x, bottom});
  ImGui::Dummy({0, 0});
}

void figures(Frame const& frame, node::TaskView const& t) {
  auto const& l = frame.language;
  auto const* const unit = frame.tr(Text::samples_per_second);
  bool const computes = t.state == "training" || t.state == "finishing";
  double const own = computes ? t.samples_per_second : 0;
  Columns row(frame, "figures", 180, 4);
  row.card("own", [&] {
    figure(frame,
           frame.tr(Text::you_compute, Text::it_computes),
           speed(own, l),
           unit,
           fill(Text::samples_given, l, {count(static_cast<double>(t.samples_given), l)}));
  });
  row.card("all", [&] {
    figure(frame,
           frame.tr(Text::swarm_computes),
           speed(t.swarm_samples_per_second, l),
           unit,
           fill(Text::epoch_of, l, {cat(t.swarm_epoch)}));
  });
  row.card("who", [&] {
    auto const place =
        t.swarm_peers == 0 ? std::string(frame.tr(Text::volunteers_none))
        : !computes        ? std::string(frame.tr(Text::volunteers_others))
        : t.swarm_peers == 1
            ? std::string(frame.tr(Text::volunteers_alone, Text::volunteers_alone_there))
        : t.place == 0
            ? std::string(frame.tr(Text::volunteers_training, Text::volunteers_training_there))
            : fill(frame.tr(Text::place_by_claims, Text::place_by_claims_there), {cat(t.place)});
    figure(frame, frame.tr(Text::volunteers), cat(t.swarm_peers), {}, place);
  });
  row.card("share", [&] {
    bool const known = t.swarm_samples_per_second > 0;
    figure(frame,
           frame.tr(Text::your_share, Text::its_share),
           known ? percent(std::min(1.0, own / t.swarm_samples_per_second)) : std::string("–"),
           {},
           frame.tr(Text::your_share_hint));
  });
}

void contribution(Frame const& frame, HomeState& state) {
  auto const& s = *frame.snapshot;
  auto const team = text_of(frame.value("team"));
  auto const* const whose = frame.tr(Text::contribution, Text::its_contribution);
  heading(frame, team.empty() ? std::string(whose) : cat(whose, " · ", team));
  std::array<char const*, 3> const periods{
      frame.tr(Text::today), frame.tr(Text::week), frame.tr(Text::all_time)};
  segmented(frame, "period", periods, state.period);
  gap(frame, space::l);
  auto const& given = state.period == 0 ? s.today : state.period == 1 ? s.week : s.all_time;
  float const room = ImGui::GetContentRegionAvail().x;
  int const columns = room < frame.px(kThreeFigures) ? 2 : 3;
  float const width = std::floor(room / static_cast<float>(columns));
  auto const& l = frame.language;
  int at = 0;
  auto const one = [&](std::string_view number, Text label, std::string const& hint = {}) {
    if (at % columns != 0)
      ImGui::SameLine(0, 0);
    else if (at > 0)
      gap(frame, space::m);
    ++at;
    small_figure(frame, number, frame.tr(label), width);
    if (!hint.empty() && ImGui::IsItemHovered()) tooltip(frame, hint);
  };
  auto const& m = s.machine;
  one(count(static_cast<double>(given.samples), l), Text::samples);
  one(count(static_cast<double>(given.rounds), l), Text::rounds);
  one(count(given.credits, l), Text::credits, frame.tr(Text::credits_hint));
  one(duration(given.hours * 3600, l), Text::hours);
  // Samples take electricity: nought beside them is not known.
  bool const measured = given.kwh > 0 || given.samples == 0;
  auto energy = fill(m.watts_measured ? Text::energy_measured : Text::energy_hint,
                     l,
                     {decimal(m.watts_per_core, 2)});
  if (s.guest.on_gpu) energy += cat(" ", frame.tr(Text::energy_gpu));
  one(measured ? kilowatt_hours(given.kwh) : "–", Text::energy, energy);
  auto const& spans = state.period == 0 ? s.by_hour : state.period == 1 ? s.by_day : s.by_week;
  if (std::ranges::none_of(spans, [](auto const& span) { return span.samples > 0; })) return;
  gap(frame, space::m);
  constexpr std::array kHeadings{
      Text::samples_by_hour, Text::samples_by_day, Text::samples_by_week};
  text(frame,
       Font::small,
       frame.colours().muted,
       frame.tr(kHeadings.at(static_cast<std::size_t>(state.period))));
  gap(frame, space::xs);
  bars(frame, "given", spans, 72);
}

// How much of the machine is given, where it can be seen and changed at once.
void power(Frame& frame) {
  auto const& g = frame.snapshot->guest;
  heading(frame, frame.tr(Text::power));
  limit_power(frame);
  if (g.overridden && !g.causes.empty()) {
    std::string all;
    for (auto const& cause : g.causes) all += cat(all.empty() ? "" : ", ", cause);
    gap(frame, space::s);
    wrapped(frame, Font::body, frame.colours().warn, fill(Text::although, frame.language, {all}));
  }
}

// Before anything was computed there is no curve to be drawn.
bool all_zero(Ring const& ring) {
  return std::ranges::all_of(ring.y(), [](double v) { return v == 0; });
}

void speeds(Frame const& frame) {
  heading(frame, frame.tr(Text::speed_chart));
  auto const& c = frame.colours();
  Ring const nothing(0);
  bool const none = all_zero(frame.history.swarm_speed()) && all_zero(frame.history.own_speed());
  std::array<Series, 2> const series{
      Series{none ? nothing : frame.history.swarm_speed(), c.swarm, frame.tr(Text::everyone), true},
      Series{none ? nothing : frame.history.own_speed(),
             c.accent,
             frame.tr(Text::you, Text::that_machine),
             true}};
  ChartLook look;
  look.height = 150;
  look.y_words = [l = frame.language](double v) { return speed(v, l); };
  chart(frame, "speed", series, look);
}

}  // namespace

void draw_home(Frame& frame, HomeState& state) {
  auto const* const t = frame.task();
  if (t == nullptr) {
    draw_empty(frame);
    return;
  }
  hero(frame, *t);
  gap(frame, space::m);
  figures(frame, *t);
  {
    Columns row(frame, "below", 330, 2);
    row.card("contribution", [&] { contribution(frame, state); });
    row.card("speed", [&] {
      if (frame.setting("power") != nullptr) {
        power(frame);
        gap(frame, space::l);
      }
      speeds(frame);
    });
  }
  if (frame.snapshot->notices.empty()) return;
  Card const card(frame, "notices");
  heading(frame, frame.tr(Text::notices));
  for (auto const& notice : frame.snapshot->notices)
    wrapped(frame, Font::body, frame.colours().text, sentence(translated(notice, frame.language)));
}

}  // namespace waggle::ui
