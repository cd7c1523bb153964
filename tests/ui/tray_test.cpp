// SPDX-License-Identifier: MIT
#include "ui/tray.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "ui/mark.hpp"

using namespace waggle;
using namespace waggle::ui;

namespace {

bool offers(TrayView const& view, TrayAction action) {
  return std::ranges::find(view.actions, std::optional(action)) != view.actions.end();
}

node::Snapshot with(std::string state) {
  node::Snapshot snapshot;
  node::TaskView task;
  task.prefix = "stripes";
  task.state = std::move(state);
  snapshot.tasks.push_back(task);
  return snapshot;
}

}  // namespace

TEST_SUITE("the tray") {
  TEST_CASE("offers what fits the state, and always the way in and out") {
    for (auto const language : {Language::english, Language::chinese}) {
      auto const training = with("training");
      auto const paused = with("paused");
      auto const done = with("done");
      auto const of_training = tray_view(&training, language);
      auto const of_paused = tray_view(&paused, language);
      CHECK(offers(of_training, TrayAction::pause));
      CHECK(!offers(of_training, TrayAction::resume));
      CHECK(offers(of_paused, TrayAction::resume));
      CHECK(!offers(of_paused, TrayAction::pause));
      for (auto const& view :
           {of_training, of_paused, tray_view(&done, language), tray_view(nullptr, language)}) {
        CHECK(offers(view, TrayAction::open));
        CHECK(offers(view, TrayAction::quit));
        REQUIRE(view.actions.size() == view.look.menu.size());
        // A line asks for nothing, an item with words for something.
        for (std::size_t i = 0; i < view.actions.size(); ++i)
          CHECK(view.actions[i].has_value() == !view.look.menu[i].words.empty());
        CHECK(!view.look.tooltip.empty());
      }
    }
  }

  TEST_CASE("says why it is paused, and that a rule's rest is one") {
    auto paused = with("paused");
    paused.tasks.front().reason = "on battery (40 %)";
    auto const says = [&](std::string_view words, Language language) {
      return tray_view(&paused, language).look.tooltip.find(words) != std::string::npos;
    };
    CHECK(says("on battery", Language::english));
    CHECK(says("Paused", Language::english));
    paused.tasks.front().paused_by = "guest";
    CHECK(says("on battery", Language::english));
    CHECK(says("Resting", Language::english));
    CHECK_FALSE(says("Paused", Language::english));
    CHECK(says("休息中", Language::chinese));
  }

  TEST_CASE("offers a pause while it waits by itself, for a rule or for room") {
    auto waits = with("paused");
    for (auto const* const by : {"guest", "disk"}) {
      waits.tasks.front().paused_by = by;
      CAPTURE(by);
      auto const view = tray_view(&waits, Language::english);
      CHECK(offers(view, TrayAction::pause));
      CHECK(offers(view, TrayAction::resume) == (std::string_view(by) == "guest"));
    }
    auto const starting = with("starting");
    CHECK(offers(tray_view(&starting, Language::english), TrayAction::pause));
  }

  TEST_CASE("its picture is square, and another one while it rests") {
    auto const training = with("training");
    auto const a = tray_view(&training, Language::english).look.picture;
    auto const b = tray_view(nullptr, Language::english).look.picture;
    CHECK(a.argb.size() == 4U * static_cast<std::size_t>(a.size * a.size));
    CHECK(a != b);
  }

  TEST_CASE("the mark is empty in its corners, inked in its middle, and the same mirrored") {
    constexpr int kSize = 32;
    auto const pixels = mark(kSize, rgb(0x102030));
    REQUIRE(pixels.size() == 4U * kSize * kSize);
    auto const alpha = [&](int x, int y) {
      return pixels[4 * static_cast<std::size_t>(y * kSize + x) + 3];
    };
    CHECK(alpha(0, 0) == 0);
    CHECK(alpha(kSize / 2, kSize / 2) == 255);
    CHECK(pixels[0] == 0x10);
    for (int y = 0; y < kSize; ++y)
      for (int x = 0; x < kSize / 2; ++x) REQUIRE(alpha(x, y) == alpha(kSize - 1 - x, y));
  }
}
