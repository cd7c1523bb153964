// SPDX-License-Identifier: MIT
#include "ui/tray.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/mark.hpp"
#include "ui/task_words.hpp"

namespace waggle::ui {
namespace {

constexpr int kPixels = 48;
// A tray may be light or dark: both read well on either.
constexpr Colour kWorking = rgb(0xE8A11C);
constexpr Colour kResting = rgb(0x8A8F98);

device::TrayPicture picture(Colour ink) {
  auto pixels = mark(kPixels, ink);
  for (std::size_t i = 0; i < pixels.size(); i += 4) {
    // red, green, blue, alpha to alpha, red, green, blue
    auto const alpha = pixels[i + 3];
    for (std::size_t j = i + 3; j > i; --j) pixels[j] = pixels[j - 1];
    pixels[i] = alpha;
  }
  return {kPixels, std::move(pixels)};
}

std::string words_of(node::TaskView const& t, Language language) {
  auto words =
      cat(t.title.empty() ? t.prefix : t.title, " · ", state_words(condition_of(t), language));
  if (t.state == "training")
    words += cat(
        " · ", count(t.samples_per_second, language), " ", tr(Text::samples_per_second, language));
  if (!t.reason.empty()) words += cat(" · ", translated(t.reason, language));
  return words;
}

}  // namespace

TrayView tray_view(node::Snapshot const* snapshot, Language language) {
  TrayView view;
  auto const item = [&view, language](Text text, TrayAction action) {
    view.look.menu.push_back({tr(text, language), true});
    view.actions.emplace_back(action);
  };
  auto const line = [&view] {
    view.look.menu.push_back({});
    view.actions.emplace_back(std::nullopt);
  };
  auto const* const task =
      snapshot == nullptr || snapshot->tasks.empty() ? nullptr : &snapshot->tasks.front();
  bool const training = task != nullptr && task->state == "training";
  view.look.title = "Waggle";
  view.look.tooltip =
      task == nullptr ? tr(Text::tray_nothing, language) : words_of(*task, language);
  view.look.picture = picture(training ? kWorking : kResting);
  item(Text::tray_open, TrayAction::open);
  auto const offers = task == nullptr ? Offers() : offers_of(*task);
  if (offers.run) item(*offers.run, TrayAction::resume);
  if (offers.pause) item(Text::pause, TrayAction::pause);
  line();
  item(Text::tray_quit, TrayAction::quit);
  return view;
}

TrayIcon::TrayIcon(std::function<void()> wake) : view_(tray_view(nullptr, Language::english)) {
  tray_ = device::Tray::open(view_.look, std::move(wake));
}

bool TrayIcon::shown() const {
  return tray_ && tray_->shown();
}

void TrayIcon::update(node::Snapshot const* snapshot, Language language) {
  if (!tray_) return;
  view_ = tray_view(snapshot, language);
  tray_->show(view_.look);
}

std::optional<TrayAction> TrayIcon::take() {
  if (!tray_) return {};
  auto const press = tray_->take_press();
  if (!press) return {};
  if (!press->item) return TrayAction::open;
  return *press->item < view_.actions.size() ? view_.actions[*press->item] : std::nullopt;
}

void TrayIcon::say_it_goes_on(Language language) {
  if (!tray_ || std::exchange(said_, true)) return;
  tray_->notify(tr(Text::tray_goes_on, language), tr(Text::tray_goes_on_text, language));
}

}  // namespace waggle::ui
