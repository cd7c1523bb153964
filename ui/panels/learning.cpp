// SPDX-License-Identifier: MIT
#include "ui/panels/learning.hpp"

#include <array>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/panels/empty.hpp"
#include "ui/widgets/card.hpp"
#include "ui/widgets/chart.hpp"
#include "ui/widgets/figure.hpp"

namespace waggle::ui {
namespace {

std::string known(std::optional<double> value, int significant) {
  return value ? decimal(*value, significant) : std::string("–");
}

void figures(Frame const& frame, node::TaskView const& t) {
  auto const& l = frame.language;
  Columns row(frame, "figures", 165, 5);
  row.card("epoch", [&] {
    figure(frame,
           frame.tr(Text::epoch),
           cat(t.epoch),
           {},
           fill(Text::behind_swarm, l, {cat(t.swarm_epoch)}));
  });
  if (t.test_accuracy)
    row.card("accuracy", [&] {
      figure(frame, frame.tr(Text::test_accuracy), percent(*t.test_accuracy), {}, {});
    });
  row.card("loss", [&] {
    figure(frame, frame.tr(Text::loss_now), known(t.loss, 4), {}, frame.tr(Text::loss_hint));
  });
  if (t.test_loss)
    row.card("test_loss",
             [&] { figure(frame, frame.tr(Text::test_loss), known(t.test_loss, 4), {}, {}); });
  if (t.learning_rate)
    row.card("rate", [&] {
      figure(frame, frame.tr(Text::learning_rate), known(t.learning_rate, 3), {}, {});
    });
}

}  // namespace

void draw_learning(Frame& frame, LearningState&) {
  auto const* const t = frame.task();
  if (t == nullptr) {
    draw_empty(frame);
    return;
  }
  figures(frame, *t);
  auto const* const curves = frame.history.curves(*t);
  if (curves == nullptr || (curves->loss.empty() && curves->accuracy.empty())) {
    Card const card(frame, "none");
    text(frame, Font::strong, frame.colours().text, frame.tr(Text::no_figures_yet));
    wrapped(frame, Font::body, frame.colours().muted, frame.tr(Text::no_figures_text));
    return;
  }
  auto const& c = frame.colours();
  ChartLook look;
  look.height = 250;
  look.over_time = false;
  Columns row(frame, "curves", 380, 2);
  row.card("loss_curve", [&] {
    heading(frame, frame.tr(Text::loss_chart));
    std::array<Series, 2> const series{
        Series{curves->loss, c.accent, frame.tr(Text::training_loss)},
        Series{curves->test_loss, c.swarm, frame.tr(Text::test_loss_series)}};
    look.y_words = [](double v) { return decimal(v, 3); };
    look.from_zero = false;
    chart(frame, "loss", series, look);
  });
  if (curves->accuracy.empty()) return;
  row.card("accuracy_curve", [&] {
    heading(frame, frame.tr(Text::accuracy_chart));
    std::array<Series, 1> const series{
        Series{curves->accuracy, c.good, frame.tr(Text::test_accuracy), true}};
    look.y_words = [](double v) { return percent(v); };
    look.from_zero = true;
    look.top = 1;
    chart(frame, "accuracy", series, look);
  });
}

}  // namespace waggle::ui
