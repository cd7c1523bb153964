// SPDX-License-Identifier: MIT
#pragma once

#include <systemd/sd-bus.h>

namespace waggle::device::detail {

/// The functions of libsystemd's D-Bus, as far as we use them; named as there, less "sd_bus_".
struct SdBus {
  decltype(&::sd_bus_open_user) open_user = nullptr;
  decltype(&::sd_bus_open_system) open_system = nullptr;
  decltype(&::sd_bus_set_method_call_timeout) set_method_call_timeout = nullptr;
  decltype(&::sd_bus_call_method) call_method = nullptr;
  decltype(&::sd_bus_error_free) error_free = nullptr;
  decltype(&::sd_bus_close_unref) close_unref = nullptr;
  decltype(&::sd_bus_flush_close_unref) flush_close_unref = nullptr;
  decltype(&::sd_bus_get_fd) get_fd = nullptr;
  decltype(&::sd_bus_get_events) get_events = nullptr;
  decltype(&::sd_bus_get_timeout) get_timeout = nullptr;
  decltype(&::sd_bus_process) process = nullptr;
  decltype(&::sd_bus_request_name) request_name = nullptr;
  decltype(&::sd_bus_add_object) add_object = nullptr;
  decltype(&::sd_bus_add_match) add_match = nullptr;
  decltype(&::sd_bus_call_async) call_async = nullptr;
  decltype(&::sd_bus_call_method_async) call_method_async = nullptr;
  decltype(&::sd_bus_emit_signal) emit_signal = nullptr;
  decltype(&::sd_bus_send) send = nullptr;
  decltype(&::sd_bus_reply_method_return) reply_method_return = nullptr;
  decltype(&::sd_bus_message_new_method_return) message_new_method_return = nullptr;
  decltype(&::sd_bus_message_new_method_call) message_new_method_call = nullptr;
  decltype(&::sd_bus_message_unref) message_unref = nullptr;
  decltype(&::sd_bus_message_is_method_call) message_is_method_call = nullptr;
  decltype(&::sd_bus_message_is_method_error) message_is_method_error = nullptr;
  decltype(&::sd_bus_message_read) message_read = nullptr;
  decltype(&::sd_bus_message_append) message_append = nullptr;
  decltype(&::sd_bus_message_append_array) message_append_array = nullptr;
  decltype(&::sd_bus_message_open_container) message_open_container = nullptr;
  decltype(&::sd_bus_message_close_container) message_close_container = nullptr;
  decltype(&::sd_bus_message_enter_container) message_enter_container = nullptr;
  decltype(&::sd_bus_message_exit_container) message_exit_container = nullptr;
  decltype(&::sd_bus_message_skip) message_skip = nullptr;
};

/// Loaded once; null where libsystemd, or a function of it, is missing.
[[nodiscard]] SdBus const* sd_bus();

}  // namespace waggle::device::detail
