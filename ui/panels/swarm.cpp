// SPDX-License-Identifier: MIT
#include "ui/panels/swarm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/panels/empty.hpp"
#include "ui/task_words.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/chart.hpp"
#include "ui/widgets/figure.hpp"
#include "ui/widgets/table.hpp"

namespace waggle::ui {
namespace {

constexpr std::size_t kMostDrawn = 24;  // members of a group; more would touch

bool holds(std::vector<std::string> const& ids, std::string const& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string_view disbelieved(node::TaskView const& t, std::string_view id) {
  for (std::string_view entry : t.ignored_peers)
    if (is_about(entry, id)) return entry;
  return {};
}

std::string rate(std::optional<double> per_second) {
  return cat(bytes(per_second.value_or(0)), "/s");
}

void figures(Frame const& frame) {
  auto const& s = *frame.snapshot;
  auto const relayed = static_cast<std::size_t>(std::count_if(
      s.peers.begin(), s.peers.end(), [](node::PeerView const& p) { return p.relayed; }));
  auto const& l = frame.language;
  Columns row(frame, "figures", 165, 3);
  row.card("connections", [&] {
    figure(frame,
           frame.tr(Text::connections),
           cat(s.peers.size()),
           {},
           fill(Text::direct_relayed, l, {cat(s.peers.size() - relayed), cat(relayed)}));
  });
  row.card("download", [&] {
    figure(frame,
           frame.tr(Text::download),
           rate(frame.history.download().last()),
           {},
           fill(Text::total, l, {bytes(static_cast<double>(s.socket_bytes_in))}));
  });
  row.card("upload", [&] {
    figure(frame,
           frame.tr(Text::upload),
           rate(frame.history.upload().last()),
           {},
           fill(Text::total, l, {bytes(static_cast<double>(s.socket_bytes_out))}));
  });
}

// The group as a ring of peers, everyone joined to everyone: that is what an all-reduce does.
void picture(Frame const& frame, node::RoundView const& round, float size) {
  auto const at = ImGui::GetCursorScreenPos();
  auto& list = *ImGui::GetWindowDrawList();
  auto const& c = frame.colours();
  auto const n = std::max<std::size_t>(1, std::min(round.group.size(), kMostDrawn));
  float const dot = frame.px(n > 12 ? 5 : 8);
  float const label = frame.px(46);
  ImVec2 const centre{at.x + size / 2 + label / 2, at.y + size / 2};
  float const radius = n == 1 ? 0 : size / 2 - frame.px(26);
  std::vector<ImVec2> places;
  for (std::size_t i = 0; i < n; ++i) {
    float const a = 6.2831853F * static_cast<float>(i) / static_cast<float>(n) - 1.5707963F;
    places.emplace_back(centre.x + radius * std::cos(a), centre.y + radius * std::sin(a));
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = i + 1; k < n; ++k)
      list.AddLine(places[i],
                   places[k],
                   packed(with_alpha(c.swarm, n > 8 ? 0.18 : 0.4)),
                   1.2F * frame.theme.scale);
  for (std::size_t i = 0; i < n; ++i) {
    bool const self = round.group.empty() || frame.is_self(round.group[i]);
    list.AddCircleFilled(places[i], dot + frame.px(3), packed(c.card));
    list.AddCircleFilled(places[i], dot, packed(self ? c.fill : c.swarm));
    if (n > 8) continue;
    auto const name =
        self ? std::string(frame.tr(Text::you, Text::that_machine)) : short_id(round.group[i]);
    auto const extent = measure(frame, Font::small, name);
    // Above the upper peers, below the lower ones, so that no name lies on a line.
    float const y = places[i].y < centre.y - 1 ? places[i].y - dot - extent.y - frame.px(3)
                                               : places[i].y + dot + frame.px(3);
    draw_text(
        frame, list, Font::small, {places[i].x - extent.x / 2, y}, self ? c.text : c.muted, name);
  }
  ImGui::Dummy({size + label, size});
}

void last_round(Frame const& frame, node::TaskView const* t) {
  heading(frame, frame.tr(Text::last_round));
  auto const& c = frame.colours();
  auto const& l = frame.language;
  if (t == nullptr || !t->last_round) {
    text(frame, Font::strong, c.text, frame.tr(Text::round_none));
    wrapped(frame, Font::body, c.muted, frame.tr(Text::round_none_text));
    return;
  }
  auto const& r = *t->last_round;
  bool const averaged = r.outcome == "averaged";
  auto const said =
      averaged
          ? fill(Text::round_averaged, l, {cat(r.group.size())})
          : std::string(frame.tr(r.outcome == "alone" ? Text::round_alone : Text::round_local));
  text(frame,
       Font::strong,
       averaged ? c.text : c.warn,
       cat(fill(Text::epoch_of, l, {cat(r.epoch)}), " · ", said));
  if (!r.why.empty() && r.why != r.outcome)
    wrapped(frame, Font::body, c.muted, sentence(translated(r.why, l)));
  text(frame,
       Font::small,
       c.muted,
       cat(fill(Text::round_took, l, {took(r.seconds, l)}),
           " · ",
           fill(Text::round_sent, l, {bytes(static_cast<double>(r.bytes_sent))}),
           " · ",
           fill(Text::round_received, l, {bytes(static_cast<double>(r.bytes_received))})));
  gap(frame, space::s);
  float const size = frame.px(180);
  float const room = ImGui::GetContentRegionAvail().x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() +
                       std::max(0.0F, std::floor((room - size - frame.px(46)) / 2)));
  picture(frame, r, size);
}

void traffic(Frame const& frame) {
  heading(frame, frame.tr(Text::traffic));
  auto const& c = frame.colours();
  std::array<Series, 2> const series{
      Series{frame.history.upload(), c.accent, frame.tr(Text::upload), true},
      Series{frame.history.download(), c.swarm, frame.tr(Text::download), true}};
  ChartLook look;
  look.height = 200;
  look.y_words = [](double v) { return cat(bytes(v), "/s"); };
  chart(frame, "traffic", series, look);
}

node::VolunteerView const* volunteer(node::TaskView const* t, std::string_view id) {
  if (t == nullptr) return nullptr;
  auto const at =
      std::ranges::find(t->volunteers, id, [](node::VolunteerView const& v) { return v.id; });
  return at == t->volunteers.end() ? nullptr : &*at;
}

// What a peer's row tells of its training, and behind whom it stands.
void training_cell(Table& table, node::VolunteerView const* v) {
  table.cell(v == nullptr || v->samples_per_second < 0.005 ? std::string("–")
                                                           : decimal(v->samples_per_second, 3));
}

void peers(Frame const& frame, node::TaskView const* t) {
  auto const& s = *frame.snapshot;
  auto const& c = frame.colours();
  // Who trains along without a connection to us has a row below those with one.
  std::vector<node::VolunteerView const*> apart;
  if (t != nullptr)
    for (auto const& v : t->volunteers)
      if (v.reason.empty() &&
          std::ranges::none_of(s.peers, [&](node::PeerView const& p) { return p.id == v.id; }))
        apart.push_back(&v);
  heading(frame, cat(frame.tr(Text::peers), " · ", s.peers.size() + apart.size()));
  if (s.peers.empty() && apart.empty()) {
    text(frame, Font::body, c.muted, frame.tr(Text::no_peers));
    return;
  }
  std::array<Column, 9> const columns{Column{frame.tr(Text::peer), 1.25F},
                                      Column{frame.tr(Text::program), 1.15F, false, true},
                                      Column{frame.tr(Text::path), 0.7F},
                                      Column{frame.tr(Text::round_trip), 0.85F, true},
                                      Column{frame.tr(Text::samples_a_second), 0.85F, true},
                                      Column{frame.tr(Text::received), 0.85F, true},
                                      Column{frame.tr(Text::sent), 0.82F, true},
                                      Column{frame.tr(Text::last_seen), 0.8F, true, true},
                                      Column{frame.tr(Text::note), 1.4F, false, true}};
  Table table(frame, "peers", columns, 800);
  for (auto const& p : s.peers) {
    table.next_row();
    bool const ignored = t != nullptr && !disbelieved(*t, p.id).empty();
    bool const grouped = t != nullptr && t->last_round && holds(t->last_round->group, p.id);
    table.cell(short_id(p.id), ignored ? c.bad : c.text);
    table.cell(p.agent, c.muted);
    table.cell(frame.tr(p.relayed ? Text::relayed : Text::direct));
    table.cell(p.round_trip_ms ? cat(decimal(*p.round_trip_ms, 2), " ms") : std::string("–"));
    training_cell(table, volunteer(t, p.id));
    table.cell(bytes(static_cast<double>(p.bytes_in)));
    table.cell(bytes(static_cast<double>(p.bytes_out)));
    table.cell(frame.tr(Text::now), c.muted);
    table.cell(ignored   ? frame.tr(Text::ignored)
               : grouped ? frame.tr(Text::in_group)
                         : "",
               ignored ? c.bad : c.muted);
  }
  for (auto const* const v : apart) {
    table.next_row();
    table.cell(short_id(v->id));
    table.cell("–", c.muted);
    table.cell("–", c.muted);
    table.cell("–");
    training_cell(table, v);
    table.cell("–");
    table.cell("–");
    table.cell(fill(Text::minutes_ago, frame.language, {duration(v->age, frame.language)}),
               c.muted);
    table.cell(frame.tr(Text::not_connected), c.muted);
  }
}

void disbelief(Frame const& frame, node::TaskView const& t) {
  if (t.ignored_peers.empty()) return;
  gap(frame, space::m);
  Card const card(frame, "disbelief");
  heading(frame, frame.tr(Text::ignored_title));
  for (auto const& entry : t.ignored_peers)
    wrapped(frame,
            Font::body,
            frame.colours().text,
            translated(named(entry, *frame.snapshot, t), frame.language));
}

}  // namespace

void draw_swarm(Frame& frame, SwarmState&) {
  if (frame.snapshot == nullptr) {
    draw_empty(frame);
    return;
  }
  auto const* const t = frame.task();
  figures(frame);
  {
    Columns row(frame, "middle", 330, 2);
    row.card("round", [&] { last_round(frame, t); });
    row.card("traffic", [&] { traffic(frame); });
  }
  {
    Card const card(frame, "peers");
    peers(frame, t);
  }
  if (t != nullptr) disbelief(frame, *t);
}

}  // namespace waggle::ui
