// SPDX-License-Identifier: MIT
#pragma once

#include "core/device/detail/sd_bus.hpp"
#include "core/device/tray.hpp"

namespace waggle::device::detail {

inline constexpr char kItemPath[] = "/StatusNotifierItem";
inline constexpr char kItemInterface[] = "org.kde.StatusNotifierItem";
inline constexpr char kMenuPath[] = "/MenuBar";
inline constexpr char kMenuInterface[] = "com.canonical.dbusmenu";
inline constexpr char kPropertiesInterface[] = "org.freedesktop.DBus.Properties";

/// Answers a call to the icon. `pressed` is set if it was a person's click. As sd-bus handlers: 1
/// if it was answered, 0 if it is for somebody else, negative an errno.
[[nodiscard]] int answer_item(SdBus const& bus,
                              sd_bus_message* call,
                              TrayLook const& look,
                              bool& pressed);
/// Answers a call to its menu. `pressed` is set to the item that a person chose. `revision` counts
/// the menus that were shown so far.
[[nodiscard]] int answer_menu(SdBus const& bus,
                              sd_bus_message* call,
                              std::vector<TrayMenuItem> const& menu,
                              std::uint32_t revision,
                              std::optional<std::size_t>& pressed);

}  // namespace waggle::device::detail
