// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/device/tray.hpp"
#include "core/node/snapshot.hpp"

#include "ui/text.hpp"

namespace waggle::ui {

/// What a person may ask of the icon in the tray.
enum class TrayAction : std::uint8_t { open, pause, resume, quit };

/// What the tray shows of a snapshot (null: no node answers), and what each place of its menu asks
/// for; a place that asks for nothing holds nullopt.
struct TrayView {
  device::TrayLook look;
  std::vector<std::optional<TrayAction>> actions;
};

[[nodiscard]] TrayView tray_view(node::Snapshot const* snapshot, Language language);

/// The icon itself, as the window keeps it. Thread: the window's; `wake` is called from the tray's.
class TrayIcon {
 public:
  explicit TrayIcon(std::function<void()> wake);

  /// Whether the desktop shows it: a window may only hide then.
  [[nodiscard]] bool shown() const;
  void update(node::Snapshot const* snapshot, Language language);
  [[nodiscard]] std::optional<TrayAction> take();
  /// Once in the life of this object: the window was closed, and Waggle goes on.
  void say_it_goes_on(Language language);

 private:
  std::unique_ptr<device::Tray> tray_;
  TrayView view_;
  bool said_ = false;
};

}  // namespace waggle::ui
