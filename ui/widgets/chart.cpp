// SPDX-License-Identifier: MIT
#include "ui/widgets/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text.hpp"

#include "ui/format.hpp"

namespace waggle::ui {
namespace {

struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;
};

// Round figures: 1, 2 or 5 times a power of ten.
Axis axis_of(double low, double high, int steps) {
  // A line that never left 0 has an axis of whole figures.
  if (!(high > low)) high = low + (low == 0 ? 1 : std::abs(low) * 0.1);
  double const raw = (high - low) / steps;
  double const power = std::pow(10, std::floor(std::log10(raw)));
  double const lead = raw / power;
  double const step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
  return {std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, step};
}

struct Range {
  double low = std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::lowest();

  void take(std::vector<double> const& values) {
    for (double const v : values)
      if (std::isfinite(v)) {
        low = std::min(low, v);
        high = std::max(high, v);
      }
  }

  [[nodiscard]] bool empty() const { return low > high; }
};

// 8.00 MB/s is 8 MB/s beside an axis.
std::string without_zeros(std::string words) {
  auto const point = words.find('.');
  if (point == std::string::npos) return words;
  auto end = words.find_first_not_of("0123456789", point + 1);
  if (end == std::string::npos) end = words.size();
  auto keep = end;
  while (keep > point + 1 && words[keep - 1] == '0') --keep;
  if (keep == point + 1) --keep;
  return words.erase(keep, end - keep);
}

struct Plot {
  ImVec2 begin;
  ImVec2 end;
  Range x;
  Axis y;

  [[nodiscard]] ImVec2 at(double px, double py) const {
    double const width = x.high > x.low ? (px - x.low) / (x.high - x.low) : 0.5;
    double const height = std::clamp((py - y.low) / (y.high - y.low), 0.0, 1.0);
    return {static_cast<float>(begin.x + width * (end.x - begin.x)),
            static_cast<float>(end.y - height * (end.y - begin.y))};
  }
};

// At most about one point a pixel: means of runs.
std::vector<ImVec2> thinned(Plot const& plot, Ring const& points) {
  std::vector<ImVec2> out;
  auto const& xs = points.x();
  auto const room = static_cast<std::size_t>(std::max(2.0F, plot.end.x - plot.begin.x));
  std::size_t const run = std::max<std::size_t>(1, xs.size() / room);
  for (std::size_t i = 0; i < xs.size(); i += run) {
    std::size_t const end = std::min(xs.size(), i + run);
    double x = 0;
    double y = 0;
    for (std::size_t k = i; k < end; ++k) {
      x += xs[k];
      y += points.y()[k];
    }
    auto const n = static_cast<double>(end - i);
    if (std::isfinite(y)) out.push_back(plot.at(x / n, y / n));
  }
  return out;
}

void draw_series(Frame const& frame, ImDrawList& list, Plot const& plot, Series const& s) {
  auto const line = thinned(plot, s.points);
  if (line.empty()) return;
  if (s.filled)
    for (std::size_t i = 0; i + 1 < line.size(); ++i)
      list.AddQuadFilled({line[i].x, plot.end.y},
                         line[i],
                         line[i + 1],
                         {line[i + 1].x, plot.end.y},
                         packed(with_alpha(s.colour, 0.13)));
  list.AddPolyline(line.data(),
                   static_cast<int>(line.size()),
                   packed(s.colour),
                   ImDrawFlags_None,
                   2 * frame.theme.scale);
  // Few measurements are shown as such; a long curve has its end marked.
  constexpr std::size_t kFew = 24;
  for (std::size_t i = line.size() <= kFew ? 0 : line.size() - 1; i < line.size(); ++i)
    list.AddCircleFilled(line[i], frame.px(3.5F), packed(s.colour));
}

// Names with last values, wrapped; returns the height.
void legend(Frame const& frame, std::span<Series const> series, ChartLook const& look) {
  auto& list = *ImGui::GetWindowDrawList();
  auto const begin = ImGui::GetCursorScreenPos();
  float const right = begin.x + ImGui::GetContentRegionAvail().x;
  float x = begin.x;
  float y = begin.y;
  float const line = frame.fonts.get(Font::small)->FontSize;
  for (auto const& s : series) {
    auto const last = s.points.last();
    auto const words = last ? cat(s.name, "  ", look.y_words(*last)) : std::string(s.name);
    float const width = frame.px(14) + measure(frame, Font::small, words).x;
    if (x > begin.x && x + width > right) {
      x = begin.x;
      y += line + frame.px(space::xs);
    }
    float const middle = y + line / 2;
    list.AddRectFilled({x, middle - frame.px(1.5F)},
                       {x + frame.px(9), middle + frame.px(1.5F)},
                       packed(s.colour),
                       frame.px(1.5F));
    draw_text(frame, list, Font::small, {x + frame.px(14), y}, frame.colours().muted, words);
    x += width + frame.px(space::l);
  }
  ImGui::Dummy({0, y + line - begin.y + frame.px(space::s)});
}

void hover(Frame const& frame,
           Plot const& plot,
           std::span<Series const> series,
           ChartLook const& look) {
  float const mouse = ImGui::GetIO().MousePos.x;
  if (mouse < plot.begin.x || mouse > plot.end.x) return;
  double const x = plot.x.low + (plot.x.high - plot.x.low) * (mouse - plot.begin.x) /
                                    (plot.end.x - plot.begin.x);
  auto& list = *ImGui::GetWindowDrawList();
  list.AddLine({mouse, plot.begin.y}, {mouse, plot.end.y}, packed(frame.colours().muted));
  ImGui::PushFont(frame.fonts.get(Font::small));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(frame.px(10), frame.px(8)));
  ImGui::BeginTooltip();
  auto const where =
      look.over_time ? clock_time(x) : fill(Text::epoch_of, frame.language, {cat(std::llround(x))});
  text(frame, Font::small, frame.colours().muted, where);
  for (auto const& s : series) {
    auto const& xs = s.points.x();
    if (xs.empty()) continue;
    auto at = static_cast<std::size_t>(std::lower_bound(xs.begin(), xs.end(), x) - xs.begin());
    if (at == xs.size() || (at > 0 && x - xs[at - 1] < xs[at] - x)) --at;
    auto const words = cat(s.name, "  ", look.y_words(s.points.y()[at]));
    ImGui::TextUnformatted(words.c_str());
  }
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

}  // namespace

void chart(Frame const& frame,
           char const* id,
           std::span<Series const> series,
           ChartLook const& look) {
  legend(frame, series, look);
  Plot plot;
  Range y;
  for (auto const& s : series) {
    plot.x.take(s.points.x());
    y.take(s.points.y());
  }
  auto const& c = frame.colours();
  auto& list = *ImGui::GetWindowDrawList();
  auto const at = ImGui::GetCursorScreenPos();
  ImVec2 const size{ImGui::GetContentRegionAvail().x, frame.px(look.height)};
  ImGui::PushID(id);
  ImGui::InvisibleButton("chart", {std::max(1.0F, size.x), size.y});
  ImGui::PopID();
  bool const hovered = ImGui::IsItemHovered();
  if (y.empty()) {
    auto const* const words = frame.tr(Text::no_figures_yet);
    auto const extent = measure(frame, Font::body, words);
    draw_text(frame,
              list,
              Font::body,
              {at.x + (size.x - extent.x) / 2, at.y + (size.y - extent.y) / 2},
              c.muted,
              words);
    return;
  }
  plot.y = axis_of(look.from_zero ? std::min(0.0, y.low) : y.low,
                   look.top > 0 ? look.top : y.high,
                   look.height < 120 ? 2 : 4);
  float const line = frame.fonts.get(Font::small)->FontSize;
  std::vector<std::pair<double, std::string>> ticks;
  float label = 0;
  for (double v = plot.y.low; v <= plot.y.high + plot.y.step / 2; v += plot.y.step) {
    ticks.emplace_back(v, without_zeros(look.y_words(std::abs(v) < plot.y.step / 1e6 ? 0 : v)));
    label = std::max(label, measure(frame, Font::small, ticks.back().second).x);
  }
  plot.begin = {at.x + label + frame.px(10), at.y + line / 2};
  plot.end = {at.x + size.x - frame.px(4), at.y + size.y - line - frame.px(space::s)};
  for (auto const& [v, words] : ticks) {
    float const level = std::round(plot.at(plot.x.low, v).y);
    list.AddLine({plot.begin.x, level}, {plot.end.x, level}, packed(c.grid), frame.px(1));
    auto const extent = measure(frame, Font::small, words);
    draw_text(frame,
              list,
              Font::small,
              {plot.begin.x - frame.px(10) - extent.x, level - extent.y / 2},
              c.muted,
              words);
  }
  for (auto const& s : series) draw_series(frame, list, plot, s);
  // The ends of the x axis; a single point has its name below itself.
  float const below = plot.end.y + frame.px(space::s);
  if (!(plot.x.high > plot.x.low)) {
    auto const only = look.over_time
                          ? std::string(frame.tr(Text::now))
                          : cat(frame.tr(Text::epochs_axis), " ", std::llround(plot.x.low));
    float const middle = (plot.begin.x + plot.end.x) / 2;
    draw_text(frame,
              list,
              Font::small,
              {middle - measure(frame, Font::small, only).x / 2, below},
              c.muted,
              only);
    if (hovered) hover(frame, plot, series, look);
    return;
  }
  auto const left = look.over_time
                        ? fill(Text::minutes_ago,
                               frame.language,
                               {rough_duration(plot.x.high - plot.x.low, frame.language)})
                        : cat(frame.tr(Text::epochs_axis), " ", std::llround(plot.x.low));
  auto const right =
      look.over_time ? std::string(frame.tr(Text::now)) : cat(std::llround(plot.x.high));
  draw_text(frame, list, Font::small, {plot.begin.x, below}, c.muted, left);
  draw_text(frame,
            list,
            Font::small,
            {plot.end.x - measure(frame, Font::small, right).x, below},
            c.muted,
            right);
  if (hovered) hover(frame, plot, series, look);
}

}  // namespace waggle::ui
