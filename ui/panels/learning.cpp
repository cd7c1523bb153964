// SPDX-License-Identifier: MIT
#include "ui/panels/learning.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/panels/empty.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/chart.hpp"
#include "ui/widgets/figure.hpp"
#include "ui/widgets/icon.hpp"
#include "ui/widgets/picture.hpp"

namespace waggle::ui {
namespace {

constexpr float kPicture = 92;       // units
constexpr float kPictureCell = 116;  // with room for its words

std::string known(std::optional<double> value, int significant) {
  return value ? decimal(*value, significant) : std::string("–");
}

void figures(Frame const& frame, node::TaskView const& t) {
  auto const& l = frame.language;
  bool const swarms = t.swarm_loss && t.swarm_loss_peers > 1;
  int const shown =
      2 + (t.test_accuracy ? 1 : 0) + (swarms || t.test_loss ? 1 : 0) + (t.learning_rate ? 1 : 0);
  Columns row(frame, "figures", 140, shown);
  row.card("epoch", [&] {
    figure(frame,
           frame.tr(Text::epoch),
           cat(t.epoch),
           {},
           t.swarm_epoch == t.epoch ? std::string(frame.tr(Text::with_swarm))
                                    : fill(Text::behind_swarm, l, {cat(t.swarm_epoch)}));
  });
  if (t.test_accuracy)
    row.card("accuracy", [&] {
      figure(frame,
             frame.tr(Text::test_accuracy),
             percent(*t.test_accuracy),
             {},
             frame.tr(Text::accuracy_hint, Text::accuracy_hint_there));
    });
  row.card("loss", [&] {
    figure(frame,
           frame.tr(Text::loss_now),
           known(t.loss, 3),
           {},
           frame.tr(Text::loss_hint, Text::loss_hint_there));
  });
  if (swarms)
    row.card("swarm_loss", [&] {
      figure(frame,
             frame.tr(Text::swarm_loss),
             known(t.swarm_loss, 3),
             {},
             fill(Text::swarm_loss_hint, l, {cat(t.swarm_loss_peers)}));
    });
  else if (t.test_loss)
    row.card("test_loss", [&] {
      figure(frame,
             frame.tr(Text::test_loss),
             known(t.test_loss, 3),
             {},
             frame.tr(Text::test_loss_hint));
    });
  if (t.learning_rate)
    row.card("rate", [&] {
      figure(frame,
             frame.tr(Text::learning_rate),
             known(t.learning_rate, 3),
             {},
             frame.tr(Text::learning_rate_hint));
    });
}

void curves(Frame const& frame, TaskCurves const& past) {
  auto const& c = frame.colours();
  ChartLook look;
  look.height = 250;
  look.over_time = false;
  Columns row(frame, "curves", 380, past.accuracy.empty() ? 1 : 2);
  row.card("loss_curve", [&] {
    heading(frame, frame.tr(Text::loss_chart));
    std::array<Series, 3> const series{
        Series{past.swarm_loss, c.swarm, frame.tr(Text::swarm_loss_series)},
        Series{past.loss, c.accent, frame.tr(Text::training_loss, Text::training_loss_there)},
        Series{past.test_loss, c.good, frame.tr(Text::test_loss_series)}};
    look.y_words = [](double v) { return decimal(v, 3); };
    look.from_zero = false;
    // Alone there is nobody else's curve.
    auto const shown = std::span(series).subspan(past.swarm_loss.empty() ? 1 : 0);
    chart(frame, "loss", shown, look);
  });
  if (past.accuracy.empty()) return;
  row.card("accuracy_curve", [&] {
    heading(frame, frame.tr(Text::accuracy_chart));
    std::array<Series, 1> const series{
        Series{past.accuracy, c.good, frame.tr(Text::test_accuracy), true}};
    look.y_words = [](double v) { return percent(v); };
    look.from_zero = true;
    look.top = 1;
    chart(frame, "accuracy", series, look);
  });
}

std::string class_name(node::Examples const& examples, std::int64_t label) {
  if (label >= 0 && static_cast<std::size_t>(label) < examples.labels.size())
    return examples.labels[static_cast<std::size_t>(label)];
  return cat(label);
}

// A picture, what the model takes it for, how sure it is, and what it is where that differs.
void one_picture(Frame const& frame, node::Examples const& examples, node::Example const& e) {
  auto const& c = frame.colours();
  float const size = frame.px(kPicture);
  ImGui::BeginGroup();
  picture(frame, e, size);
  if (!e.guesses.empty()) {
    auto const& guess = e.guesses.front();
    bool const right = guess.label == e.label;
    float const width = frame.px(kPictureCell) - frame.px(space::s);
    auto& list = *ImGui::GetWindowDrawList();
    auto const at = ImGui::GetCursorScreenPos();
    float const glyph = frame.px(11);
    float const line = frame.fonts.get(Font::small)->FontSize;
    icon(list,
         right ? Icon::check : Icon::warning,
         {at.x + glyph / 2, at.y + line / 2},
         glyph,
         right ? c.good : c.warn,
         frame.theme.scale);
    float const indent = glyph + frame.px(space::xs);
    draw_text(frame,
              list,
              Font::small,
              {at.x + indent, at.y},
              right ? c.text : c.warn,
              fitted(frame, Font::small, class_name(examples, guess.label), width - indent));
    float const step = line + frame.px(2);
    draw_text(frame,
              list,
              Font::small,
              {at.x, at.y + step},
              c.muted,
              fitted(frame, Font::small, percent(guess.share), width));
    if (!right) {
      auto const truth = fill(Text::example_is, frame.language, {class_name(examples, e.label)});
      draw_text(frame,
                list,
                Font::small,
                {at.x, at.y + 2 * step},
                c.muted,
                fitted(frame, Font::small, truth, width));
    }
    ImGui::Dummy({width, (right ? 1 : 2) * step + line});
  }
  ImGui::EndGroup();
}

void pictures(Frame const& frame, node::Examples const& examples) {
  heading(frame, frame.tr(Text::examples_title));
  text(frame,
       Font::small,
       frame.colours().muted,
       fill(Text::examples_of_epoch, frame.language, {cat(examples.epoch)}));
  gap(frame, space::m);
  float const cell = frame.px(kPictureCell);
  float const begin = ImGui::GetCursorPosX();
  auto const columns = std::max(1, static_cast<int>(ImGui::GetContentRegionAvail().x / cell));
  int at = 0;
  for (auto const& item : examples.items) {
    if (item.pixels.empty()) continue;
    if (at % columns != 0)
      ImGui::SameLine(begin + cell * static_cast<float>(at % columns), 0);
    else if (at > 0)
      gap(frame, space::m);
    one_picture(frame, examples, item);
    ++at;
  }
}

// A model often begins with the space between two words.
std::string trimmed(std::string words) {
  words.erase(0, words.find_first_not_of(' '));
  return words;
}

void texts(Frame const& frame, node::Examples const& examples) {
  heading(frame, fill(Text::examples_text_title, frame.language, {cat(examples.epoch)}));
  wrapped(frame, Font::small, frame.colours().muted, frame.tr(Text::examples_text_note));
  gap(frame, space::m);
  for (auto const& item : examples.items) {
    if (!item.pixels.empty() || item.text.empty()) continue;
    constexpr std::size_t kPromptShown = 160;
    auto const from = item.prompt.size() - std::min(item.prompt.size(), kPromptShown);
    wrapped(
        frame, Font::body, frame.colours().muted, cat("…", printable(item.prompt.substr(from))));
    wrapped(frame, Font::strong, frame.colours().text, trimmed(printable(item.text)));
    gap(frame, space::m);
  }
}

void examples(Frame& frame, node::TaskView const& t) {
  frame.wants_examples = true;
  Card const card(frame, "examples");
  auto const* const made = frame.examples;
  bool const there = made != nullptr && !made->items.empty() && made->prefix == t.prefix &&
                     made->operator_id == t.operator_id;
  if (!there) {
    heading(frame, frame.tr(Text::examples_title));
    wrapped(frame,
            Font::body,
            frame.colours().muted,
            frame.tr(t.state == "training" ? Text::examples_wait : Text::examples_paused));
    return;
  }
  bool const images =
      std::ranges::any_of(made->items, [](node::Example const& e) { return !e.pixels.empty(); });
  if (images)
    pictures(frame, *made);
  else
    texts(frame, *made);
}

}  // namespace

void draw_learning(Frame& frame, LearningState&) {
  auto const* const t = frame.task();
  if (t == nullptr) {
    draw_empty(frame);
    return;
  }
  figures(frame, *t);
  auto const* const past = frame.history.curves(*t);
  if (past == nullptr || (past->loss.empty() && past->accuracy.empty())) {
    {
      Card const card(frame, "none");
      text(frame, Font::strong, frame.colours().text, frame.tr(Text::no_figures_yet));
      wrapped(frame, Font::body, frame.colours().muted, frame.tr(Text::no_figures_text));
    }
    gap(frame, space::m);
  } else {
    curves(frame, *past);
  }
  examples(frame, *t);
}

}  // namespace waggle::ui
