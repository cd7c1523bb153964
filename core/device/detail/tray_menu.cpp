// SPDX-License-Identifier: MIT
#include <array>
#include <string_view>

#include "core/device/detail/tray_item.hpp"

namespace waggle::device::detail {
namespace {

// The menu's tree has a root, 0, whose children are the items, 1 and on.
constexpr std::int32_t kRoot = 0;

int append_entry(SdBus const& bus, sd_bus_message* out, char const* key, char const* words) {
  return bus.message_append(out, "{sv}", key, "s", words);
}

// a{sv} of one item.
int append_properties(SdBus const& bus,
                      sd_bus_message* out,
                      std::vector<TrayMenuItem> const& menu,
                      std::int32_t id) {
  int r = bus.message_open_container(out, 'a', "{sv}");
  if (r < 0) return r;
  if (id == kRoot) {
    r = append_entry(bus, out, "children-display", "submenu");
  } else {
    auto const& item = menu[static_cast<std::size_t>(id - 1)];
    if (item.words.empty()) {
      r = append_entry(bus, out, "type", "separator");
    } else {
      // "_" marks a letter for the keyboard there, and is written twice to mean itself.
      std::string label;
      for (char const c : item.words) {
        label += c;
        if (c == '_') label += c;
      }
      r = append_entry(bus, out, "label", label.c_str());
      if (r >= 0)
        r = bus.message_append(out, "{sv}", "enabled", "b", static_cast<int>(item.enabled));
    }
  }
  return r < 0 ? r : bus.message_close_container(out);
}

bool exists(std::vector<TrayMenuItem> const& menu, std::int32_t id) {
  return id >= kRoot && static_cast<std::size_t>(id) <= menu.size();
}

// (ia{sv}av) of one item and what is below it.
int append_layout(SdBus const& bus,
                  sd_bus_message* out,
                  std::vector<TrayMenuItem> const& menu,
                  std::int32_t id,
                  bool children) {
  int r = bus.message_open_container(out, 'r', "ia{sv}av");
  if (r >= 0) r = bus.message_append(out, "i", id);
  if (r >= 0) r = append_properties(bus, out, menu, id);
  if (r >= 0) r = bus.message_open_container(out, 'a', "v");
  if (id == kRoot && children) {
    for (std::size_t i = 0; i < menu.size() && r >= 0; ++i) {
      r = bus.message_open_container(out, 'v', "(ia{sv}av)");
      if (r >= 0) r = append_layout(bus, out, menu, static_cast<std::int32_t>(i + 1), false);
      if (r >= 0) r = bus.message_close_container(out);
    }
  }
  if (r >= 0) r = bus.message_close_container(out);
  return r < 0 ? r : bus.message_close_container(out);
}

int answer(SdBus const& bus, sd_bus_message* call, auto append) {
  sd_bus_message* out = nullptr;
  int r = bus.message_new_method_return(call, &out);
  if (r < 0) return r;
  r = append(out);
  if (r >= 0) r = bus.send(nullptr, out, nullptr);
  bus.message_unref(out);
  return r < 0 ? r : 1;
}

int answer_layout(SdBus const& bus,
                  sd_bus_message* call,
                  std::vector<TrayMenuItem> const& menu,
                  std::uint32_t revision) {
  std::int32_t parent = 0;
  std::int32_t depth = 0;
  int const r = bus.message_read(call, "ii", &parent, &depth);
  if (r < 0) return r;
  if (!exists(menu, parent)) return -ENOENT;
  return answer(bus, call, [&](sd_bus_message* out) {
    int const appended = bus.message_append(out, "u", revision);
    return appended < 0 ? appended : append_layout(bus, out, menu, parent, depth != 0);
  });
}

int answer_group(SdBus const& bus, sd_bus_message* call, std::vector<TrayMenuItem> const& menu) {
  int r = bus.message_enter_container(call, 'a', "i");
  if (r < 0) return r;
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; bus.message_read(call, "i", &id) > 0;)
    if (exists(menu, id) && ids.size() <= menu.size()) ids.push_back(id);
  // No ids: all of them.
  if (ids.empty())
    for (std::size_t id = 1; id <= menu.size(); ++id) ids.push_back(static_cast<std::int32_t>(id));
  return answer(bus, call, [&](sd_bus_message* out) {
    r = bus.message_open_container(out, 'a', "(ia{sv})");
    for (auto const id : ids) {
      if (r >= 0) r = bus.message_open_container(out, 'r', "ia{sv}");
      if (r >= 0) r = bus.message_append(out, "i", id);
      if (r >= 0) r = append_properties(bus, out, menu, id);
      if (r >= 0) r = bus.message_close_container(out);
    }
    return r < 0 ? r : bus.message_close_container(out);
  });
}

void take_event(std::vector<TrayMenuItem> const& menu,
                std::int32_t id,
                std::string_view event,
                std::optional<std::size_t>& pressed) {
  if (event != "clicked" || id <= kRoot || !exists(menu, id)) return;
  auto const index = static_cast<std::size_t>(id - 1);
  if (menu[index].enabled && !menu[index].words.empty()) pressed = index;
}

int answer_events(SdBus const& bus,
                  sd_bus_message* call,
                  std::vector<TrayMenuItem> const& menu,
                  std::optional<std::size_t>& pressed) {
  int r = bus.message_enter_container(call, 'a', "(isvu)");
  if (r < 0) return r;
  while (bus.message_enter_container(call, 'r', "isvu") > 0) {
    std::int32_t id = 0;
    char const* event = nullptr;
    r = bus.message_read(call, "is", &id, &event);
    if (r >= 0) r = bus.message_skip(call, "vu");
    if (r >= 0) r = bus.message_exit_container(call);
    if (r < 0) return r;
    take_event(menu, id, event, pressed);
  }
  return bus.reply_method_return(call, "ai", 0);
}

// The four properties of a dbusmenu, as a variant.
int append_property(SdBus const& bus, sd_bus_message* out, std::string_view name) {
  if (name == "Version") return bus.message_append(out, "v", "u", 3);
  if (name == "TextDirection") return bus.message_append(out, "v", "s", "ltr");
  if (name == "Status") return bus.message_append(out, "v", "s", "normal");
  if (name == "IconThemePath") return bus.message_append(out, "v", "as", 0);
  return -ENOENT;
}

int answer_property(SdBus const& bus, sd_bus_message* call) {
  char const* interface = nullptr;
  char const* name = nullptr;
  int const r = bus.message_read(call, "ss", &interface, &name);
  if (r < 0) return r;
  return answer(bus, call, [&](sd_bus_message* out) { return append_property(bus, out, name); });
}

int answer_properties(SdBus const& bus, sd_bus_message* call) {
  constexpr std::array kNames{"Version", "TextDirection", "Status", "IconThemePath"};
  return answer(bus, call, [&](sd_bus_message* out) {
    int r = bus.message_open_container(out, 'a', "{sv}");
    for (auto const* const name : kNames) {
      if (r >= 0) r = bus.message_open_container(out, 'e', "sv");
      if (r >= 0) r = bus.message_append(out, "s", name);
      if (r >= 0) r = append_property(bus, out, name);
      if (r >= 0) r = bus.message_close_container(out);
    }
    return r < 0 ? r : bus.message_close_container(out);
  });
}

}  // namespace

int answer_menu(SdBus const& bus,
                sd_bus_message* call,
                std::vector<TrayMenuItem> const& menu,
                std::uint32_t revision,
                std::optional<std::size_t>& pressed) {
  auto const is = [&](char const* member) {
    return bus.message_is_method_call(call, kMenuInterface, member) > 0;
  };
  if (bus.message_is_method_call(call, kPropertiesInterface, "Get") > 0)
    return answer_property(bus, call);
  if (bus.message_is_method_call(call, kPropertiesInterface, "GetAll") > 0)
    return answer_properties(bus, call);
  if (is("GetLayout")) return answer_layout(bus, call, menu, revision);
  if (is("GetGroupProperties")) return answer_group(bus, call, menu);
  if (is("Event")) {
    std::int32_t id = 0;
    char const* event = nullptr;
    int const r = bus.message_read(call, "is", &id, &event);
    if (r < 0) return r;
    take_event(menu, id, event, pressed);
    return bus.reply_method_return(call, "");
  }
  if (is("EventGroup")) return answer_events(bus, call, menu, pressed);
  // The menu is always up to date: it is sent anew whenever it changes.
  if (is("AboutToShow")) return bus.reply_method_return(call, "b", 0);
  if (is("AboutToShowGroup")) return bus.reply_method_return(call, "aiai", 0, 0);
  return 0;
}

}  // namespace waggle::device::detail
