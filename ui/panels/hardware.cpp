// SPDX-License-Identifier: MIT
#include "ui/panels/hardware.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/chart.hpp"
#include "ui/widgets/facts.hpp"
#include "ui/widgets/gauge.hpp"

namespace waggle::ui {
namespace {

std::string degrees(double celsius) {
  return cat(std::lround(celsius), " °C");
}

double part(std::uint64_t some, std::uint64_t all) {
  return all == 0 ? -1 : static_cast<double>(some) / static_cast<double>(all);
}

ChartLook shares() {
  ChartLook look;
  look.height = 110;
  look.top = 1;
  look.y_words = [](double share) { return percent(share); };
  return look;
}

void processor(Frame& frame) {
  auto const& s = *frame.snapshot;
  auto const& m = s.machine;
  auto const& c = frame.colours();
  heading(frame, frame.tr(Text::processor));
  if (m.cpu) gauge(frame, frame.tr(Text::in_use), percent(*m.cpu), *m.cpu);
  if (m.cpu_others) gauge(frame, frame.tr(Text::by_others), percent(*m.cpu_others), *m.cpu_others);
  if (m.celsius) gauge(frame, frame.tr(Text::temperature), degrees(*m.celsius), -1);
  std::vector<Series> series{{frame.history.processor(), c.swarm, frame.tr(Text::in_use), true}};
  if (!frame.history.others().empty())
    series.push_back({frame.history.others(), c.accent, frame.tr(Text::by_others), false});
  chart(frame, "processor", series, shares());
  gap(frame, space::s);
  wrapped(frame,
          Font::small,
          c.muted,
          fill(Text::cores_of, frame.language, {cat(m.cores), cat(s.guest.threads)}));
  gap(frame, space::l);
  text(frame, Font::body, c.text, frame.tr(Text::power));
  gap(frame, space::xs);
  limit_power(frame);
  gap(frame, space::m);
  limit_threads(frame);
  limit_share(frame);
  limit_others(frame);
  limit_heat(frame);
}

void graphics(Frame& frame, LimitsState& state) {
  auto const& m = frame.snapshot->machine;
  auto const& c = frame.colours();
  heading(frame, frame.tr(Text::graphics));
  if (m.gpus.empty()) {
    wrapped(frame, Font::body, c.muted, frame.tr(Text::no_gpu));
    return;
  }
  for (std::size_t i = 0; i < m.gpus.size(); ++i) {
    auto const& gpu = m.gpus[i];
    ImGui::PushID(static_cast<int>(i));
    text(frame, Font::body, c.text, gpu.name);
    gap(frame, space::s);
    if (gpu.busy) gauge(frame, frame.tr(Text::in_use), percent(*gpu.busy), *gpu.busy);
    if (gpu.memory_used && gpu.memory_total)
      gauge(frame,
            frame.tr(Text::memory),
            fill(Text::memory_used,
                 frame.language,
                 {binary_bytes(static_cast<double>(*gpu.memory_used)),
                  binary_bytes(static_cast<double>(*gpu.memory_total))}),
            part(*gpu.memory_used, *gpu.memory_total));
    if (gpu.celsius) gauge(frame, frame.tr(Text::temperature), degrees(*gpu.celsius), -1);
    if (gpu.watts) gauge(frame, frame.tr(Text::power_draw), cat(std::lround(*gpu.watts), " W"), -1);
    if (auto const* const busy = frame.history.graphics(i)) {
      std::array<Series, 1> const series{Series{*busy, c.swarm, frame.tr(Text::in_use), true}};
      chart(frame, "graphics", series, shares());
    }
    gap(frame, space::m);
    ImGui::PopID();
  }
  if (!frame.snapshot->guest.on_gpu) {
    wrapped(frame, Font::small, c.muted, frame.tr(Text::gpu_unused));
    gap(frame, space::m);
  }
  limit_gpu_share(frame);
  limit_gpu_memory(frame);
  limit_gpu_power(frame);
  limit_gpu_idle(frame);
  own_trainer(frame, state);
}

void memory(Frame& frame) {
  auto const& m = frame.snapshot->machine;
  heading(frame, frame.tr(Text::memory));
  auto const used = m.memory_total - std::min(m.memory_available, m.memory_total);
  gauge(frame,
        frame.tr(Text::in_use),
        fill(Text::memory_used,
             frame.language,
             {binary_bytes(static_cast<double>(used)),
              binary_bytes(static_cast<double>(m.memory_total))}),
        part(used, m.memory_total));
  std::array<Series, 1> const series{
      Series{frame.history.memory(), frame.colours().swarm, frame.tr(Text::in_use), true}};
  chart(frame, "memory", series, shares());
  gap(frame, space::m);
  limit_memory(frame);
}

void disk(Frame& frame) {
  auto const& m = frame.snapshot->machine;
  heading(frame, frame.tr(Text::disk));
  wrapped(
      frame,
      Font::body,
      frame.colours().muted,
      fill(Text::disk_free, frame.language, {binary_bytes(static_cast<double>(m.disk_available))}));
  gap(frame, space::m);
  limit_disk(frame);
}

// What went over the network since midnight, of what may.
void today(Frame const& frame) {
  auto const* const setting = frame.setting("daily_traffic");
  if (setting == nullptr) return;
  constexpr double kMib = 1024.0 * 1024;
  auto const spent = static_cast<double>(frame.snapshot->machine.traffic_today) / kMib;
  double const limit = number_of(frame.value("daily_traffic"));
  bool const limited = limit > 0;
  gauge(frame,
        frame.tr(Text::traffic_today),
        limited ? fill(Text::memory_used, frame.language, {mebibytes(spent), mebibytes(limit)})
                : mebibytes(spent),
        limited ? std::min(1.0, spent / limit) : -1);
  gap(frame, space::s);
}

void network(Frame& frame) {
  auto const& c = frame.colours();
  auto const& h = frame.history;
  heading(frame, frame.tr(Text::network));
  if (frame.snapshot->machine.metered.value_or(false)) {
    text(frame, Font::body, c.warn, frame.tr(Text::metered_yes));
    gap(frame, space::s);
  }
  std::array<Series, 2> const series{Series{h.download(), c.swarm, frame.tr(Text::download), true},
                                     Series{h.upload(), c.accent, frame.tr(Text::upload), true}};
  ChartLook look;
  look.height = 110;
  look.y_words = [](double rate) { return cat(bytes(rate), "/s"); };
  chart(frame, "network", series, look);
  gap(frame, space::m);
  today(frame);
  limit_rates(frame);
  limit_daily(frame);
  limit_metered(frame);
}

void rest(Frame& frame, LimitsState& state) {
  auto const& m = frame.snapshot->machine;
  auto const& c = frame.colours();
  heading(frame, frame.tr(Text::when_to_rest));
  auto const charge = m.battery_percent ? cat(*m.battery_percent) : std::string("?");
  auto const words = !m.has_battery ? std::string(frame.tr(Text::no_battery))
                                    : fill(m.on_battery ? Text::on_battery_now : Text::on_mains_now,
                                           frame.language,
                                           {charge});
  text(frame, Font::body, c.muted, words);
  gap(frame, space::s);
  limit_battery(frame);
  limit_sleep(frame);
  gap(frame, space::s);
  limit_idle(frame);
  limit_hours(frame, state);
  limit_programs(frame, state);
}

}  // namespace

void draw_hardware(Frame& frame, HardwareState& state) {
  // A node that has just begun has not looked at its machine yet; one from before there was this
  // panel never does.
  if (frame.snapshot == nullptr || frame.snapshot->machine.cores == 0) {
    Card const card(frame, "unknown");
    wrapped(frame, Font::body, frame.colours().muted, frame.tr(Text::machine_unknown));
    return;
  }
  Columns cards(frame, "hardware", 360, 2, Columns::Fill::stacked);
  cards.card("processor", [&] { processor(frame); });
  cards.card("rest", [&] { rest(frame, state.limits); });
  cards.card("network", [&] { network(frame); });
  cards.card("graphics", [&] { graphics(frame, state.limits); });
  cards.card("disk", [&] { disk(frame); });
  cards.card("memory", [&] { memory(frame); });
}

}  // namespace waggle::ui
