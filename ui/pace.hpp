// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/node/snapshot.hpp"

#include "ui/machine.hpp"

namespace waggle::ui {

/// How much is new, to somebody who looks at the window. Ordered: a later one is more urgent.
enum class Change : std::uint8_t {
  none,
  ambient,  ///< clocks and ages, traffic, what the machine does beside Waggle
  figures,  ///< the work's numbers: samples, speeds, losses
  story,    ///< what a person waits for: states, reasons, epochs, who is there, settings
};

/// What differs. A field that is not known here is ambient; words that differ in digits only are
/// figures ("processor 31 % busy").
[[nodiscard]] Change change(node::Snapshot const& before, node::Snapshot const& after);
/// Likewise of the list of machines; while a pairing code is shown its countdown is figures.
[[nodiscard]] Change change(Machines const& before, Machines const& after);

/// When the window lays out its next frame, and how long it may sleep: at once for a person who has
/// just touched it and for a story, seldom for the rest. Pure: handed the time, in seconds of any
/// steady clock.
class Pace {
 public:
  /// Seconds after a touch in which everything new is shown at once: what was pressed shows its
  /// effect, "Copied" goes away.
  static constexpr double kLively = 6;
  static constexpr double kLook = 0.25;    ///< between looks for news after a touch
  static constexpr double kFocusLook = 1;  ///< between looks else while the window has the focus
  static constexpr double kCalmLook = 2;   ///< between looks while it has not
  static constexpr double kBlink = 10;     ///< a text cursor blinks as long after a touch
  static constexpr double kWatched = 0.9;  ///< between figures while the window has the focus
  static constexpr double kUnwatched = 5;  ///< between figures while it has not
  static constexpr double kAmbient = 30;   ///< between frames for clocks and ages alone

  void touched(double now) { touched_ = now; }

  void focused(bool yes) { focused_ = yes; }

  /// News that no frame has shown yet; they wait until they are due.
  void note(Change change) { news_ = news_ < change ? change : news_; }

  /// A frame was laid out.
  void laid_out(double now);

  [[nodiscard]] bool lively(double now) const { return now - touched_ < kLively; }

  /// Whether somebody works with the window, or may be about to.
  [[nodiscard]] bool attended(double now) const { return focused_ || lively(now); }

  [[nodiscard]] bool blinks(double now) const { return now - touched_ < kBlink; }

  /// Whether a frame is to be laid out now. `typing`: a text cursor stands in a field.
  [[nodiscard]] bool due(double now, bool typing) const;
  /// Seconds until it is worth to look again, unless an event comes first.
  [[nodiscard]] double sleep(double now, bool typing) const;

 private:
  double touched_ = -kBlink;
  double laid_out_ = -kAmbient;
  bool focused_ = false;
  bool blinked_ = false;  // the last frame was laid out while a cursor could have been off
  Change news_ = Change::none;
};

}  // namespace waggle::ui
