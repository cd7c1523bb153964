// SPDX-License-Identifier: MIT
#include "core/device/detail/tray_item.hpp"

#include <array>
#include <string_view>

namespace waggle::device::detail {
namespace {

int append_pictures(SdBus const& bus, sd_bus_message* out, TrayPicture const& picture) {
  int r = bus.message_open_container(out, 'a', "(iiay)");
  if (r >= 0 && picture.size > 0) {
    r = bus.message_open_container(out, 'r', "iiay");
    if (r >= 0) r = bus.message_append(out, "ii", picture.size, picture.size);
    if (r >= 0) r = bus.message_append_array(out, 'y', picture.argb.data(), picture.argb.size());
    if (r >= 0) r = bus.message_close_container(out);
  }
  return r < 0 ? r : bus.message_close_container(out);
}

struct Property {
  char const* name;
  char const* type;
  int (*append)(SdBus const&, sd_bus_message*, TrayLook const&);
};

template <char const* Words>
int constant(SdBus const& bus, sd_bus_message* out, TrayLook const& /*look*/) {
  return bus.message_append(out, "s", Words);
}

constexpr char kCategory[] = "ApplicationStatus";
constexpr char kId[] = "waggle";
constexpr char kStatus[] = "Active";
constexpr char kNoIconName[] = "";  // the picture counts

constexpr std::array kProperties{
    Property{"Category", "s", constant<kCategory>},
    Property{"Id", "s", constant<kId>},
    Property{"Status", "s", constant<kStatus>},
    Property{"IconName", "s", constant<kNoIconName>},
    Property{"Title",
             "s",
             [](SdBus const& bus, sd_bus_message* out, TrayLook const& look) {
               return bus.message_append(out, "s", look.title.c_str());
             }},
    Property{"IconPixmap",
             "a(iiay)",
             [](SdBus const& bus, sd_bus_message* out, TrayLook const& look) {
               return append_pictures(bus, out, look.picture);
             }},
    Property{"ToolTip",
             "(sa(iiay)ss)",
             [](SdBus const& bus, sd_bus_message* out, TrayLook const& look) {
               int r = bus.message_open_container(out, 'r', "sa(iiay)ss");
               if (r >= 0) r = bus.message_append(out, "s", "");
               if (r >= 0) r = append_pictures(bus, out, {});
               if (r >= 0)
                 r = bus.message_append(out, "ss", look.title.c_str(), look.tooltip.c_str());
               return r < 0 ? r : bus.message_close_container(out);
             }},
    Property{"WindowId",
             "i",
             [](SdBus const& bus, sd_bus_message* out, TrayLook const&) {
               return bus.message_append(out, "i", 0);
             }},
    Property{"ItemIsMenu",
             "b",
             [](SdBus const& bus, sd_bus_message* out, TrayLook const&) {
               return bus.message_append(out, "b", 0);
             }},
    Property{"Menu",
             "o",
             [](SdBus const& bus, sd_bus_message* out, TrayLook const&) {
               return bus.message_append(out, "o", kMenuPath);
             }},
};

int append_variant(SdBus const& bus,
                   sd_bus_message* out,
                   Property const& property,
                   TrayLook const& look) {
  int r = bus.message_open_container(out, 'v', property.type);
  if (r >= 0) r = property.append(bus, out, look);
  return r < 0 ? r : bus.message_close_container(out);
}

int send(SdBus const& bus, sd_bus_message* out, int r) {
  if (r >= 0) r = bus.send(nullptr, out, nullptr);
  bus.message_unref(out);
  return r < 0 ? r : 1;
}

int answer_get(SdBus const& bus, sd_bus_message* call, TrayLook const& look) {
  char const* interface = nullptr;
  char const* wanted = nullptr;
  int r = bus.message_read(call, "ss", &interface, &wanted);
  if (r < 0) return r;
  for (auto const& property : kProperties) {
    if (std::string_view(property.name) != wanted) continue;
    sd_bus_message* out = nullptr;
    r = bus.message_new_method_return(call, &out);
    return r < 0 ? r : send(bus, out, append_variant(bus, out, property, look));
  }
  return 0;
}

int answer_get_all(SdBus const& bus, sd_bus_message* call, TrayLook const& look) {
  sd_bus_message* out = nullptr;
  int r = bus.message_new_method_return(call, &out);
  if (r < 0) return r;
  r = bus.message_open_container(out, 'a', "{sv}");
  for (auto const& property : kProperties) {
    if (r >= 0) r = bus.message_open_container(out, 'e', "sv");
    if (r >= 0) r = bus.message_append(out, "s", property.name);
    if (r >= 0) r = append_variant(bus, out, property, look);
    if (r >= 0) r = bus.message_close_container(out);
  }
  if (r >= 0) r = bus.message_close_container(out);
  return send(bus, out, r);
}

}  // namespace

int answer_item(SdBus const& bus, sd_bus_message* call, TrayLook const& look, bool& pressed) {
  auto const is = [&](char const* interface, char const* member) {
    return bus.message_is_method_call(call, interface, member) > 0;
  };
  if (is(kPropertiesInterface, "Get")) return answer_get(bus, call, look);
  if (is(kPropertiesInterface, "GetAll")) return answer_get_all(bus, call, look);
  if (is(kItemInterface, "Activate") || is(kItemInterface, "SecondaryActivate")) {
    pressed = true;
    return bus.reply_method_return(call, "");
  }
  // The menu is read from its own object; there is nothing else to show or to turn.
  if (is(kItemInterface, "ContextMenu") || is(kItemInterface, "Scroll"))
    return bus.reply_method_return(call, "");
  return 0;
}

}  // namespace waggle::device::detail
