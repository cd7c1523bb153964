// SPDX-License-Identifier: MIT
#include "core/device/detail/sd_bus.hpp"

#include <optional>

#include "core/device/detail/library.hpp"

namespace waggle::device::detail {
namespace {

std::optional<SdBus> load_all() {
  Library const systemd("libsystemd.so.0");
  auto const load = [&systemd](auto& function, char const* name) {
    function = systemd.function<std::remove_reference_t<decltype(function)>>(name);
    return function != nullptr;
  };
  SdBus f;
  bool const complete =
      load(f.open_user, "sd_bus_open_user") && load(f.open_system, "sd_bus_open_system") &&
      load(f.set_method_call_timeout, "sd_bus_set_method_call_timeout") &&
      load(f.call_method, "sd_bus_call_method") && load(f.error_free, "sd_bus_error_free") &&
      load(f.close_unref, "sd_bus_close_unref") &&
      load(f.flush_close_unref, "sd_bus_flush_close_unref") && load(f.get_fd, "sd_bus_get_fd") &&
      load(f.get_events, "sd_bus_get_events") && load(f.get_timeout, "sd_bus_get_timeout") &&
      load(f.process, "sd_bus_process") && load(f.request_name, "sd_bus_request_name") &&
      load(f.add_object, "sd_bus_add_object") && load(f.add_match, "sd_bus_add_match") &&
      load(f.call_async, "sd_bus_call_async") &&
      load(f.call_method_async, "sd_bus_call_method_async") &&
      load(f.emit_signal, "sd_bus_emit_signal") && load(f.send, "sd_bus_send") &&
      load(f.reply_method_return, "sd_bus_reply_method_return") &&
      load(f.message_new_method_return, "sd_bus_message_new_method_return") &&
      load(f.message_new_method_call, "sd_bus_message_new_method_call") &&
      load(f.message_unref, "sd_bus_message_unref") &&
      load(f.message_is_method_call, "sd_bus_message_is_method_call") &&
      load(f.message_is_method_error, "sd_bus_message_is_method_error") &&
      load(f.message_read, "sd_bus_message_read") &&
      load(f.message_append, "sd_bus_message_append") &&
      load(f.message_append_array, "sd_bus_message_append_array") &&
      load(f.message_open_container, "sd_bus_message_open_container") &&
      load(f.message_close_container, "sd_bus_message_close_container") &&
      load(f.message_enter_container, "sd_bus_message_enter_container") &&
      load(f.message_exit_container, "sd_bus_message_exit_container") &&
      load(f.message_skip, "sd_bus_message_skip");
  if (!complete) return {};
  return f;
}

}  // namespace

SdBus const* sd_bus() {
  static std::optional<SdBus> const functions = load_all();
  return functions ? &*functions : nullptr;
}

}  // namespace waggle::device::detail
