// SPDX-License-Identifier: MIT
#include "core/device/system_bus.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/device/detail/library.hpp"

namespace waggle::device {
namespace {

constexpr std::uint64_t kAnswerMicroseconds = 2'000'000;
constexpr double kMicro = 1e-6;

struct sd_bus;

// libsystemd's functions, as far as we use them: its headers are not needed to build.
struct Functions {
  int (*open_system)(sd_bus**) = nullptr;
  sd_bus* (*close_unref)(sd_bus*) = nullptr;
  int (*set_timeout)(sd_bus*, std::uint64_t) = nullptr;
  int (*get_trivial)(
      sd_bus*, char const*, char const*, char const*, char const*, void*, char, void*) = nullptr;
  int (*get_string)(sd_bus*, char const*, char const*, char const*, char const*, void*, char**) =
      nullptr;

  [[nodiscard]] bool complete() const {
    return open_system && close_unref && set_timeout && get_trivial && get_string;
  }
};

Functions load() {
  detail::Library const systemd("libsystemd.so.0");
  Functions f;
  f.open_system = systemd.function<decltype(f.open_system)>("sd_bus_open_system");
  f.close_unref = systemd.function<decltype(f.close_unref)>("sd_bus_close_unref");
  f.set_timeout = systemd.function<decltype(f.set_timeout)>("sd_bus_set_method_call_timeout");
  f.get_trivial = systemd.function<decltype(f.get_trivial)>("sd_bus_get_property_trivial");
  f.get_string = systemd.function<decltype(f.get_string)>("sd_bus_get_property_string");
  return f;
}

constexpr char kLogin[] = "org.freedesktop.login1";
constexpr char kSession[] = "org.freedesktop.login1.Session";
constexpr char kSessionPath[] = "/org/freedesktop/login1/session/auto";
constexpr char kNetwork[] = "org.freedesktop.NetworkManager";
constexpr char kNetworkPath[] = "/org/freedesktop/NetworkManager";

std::optional<SessionHint> session_hint(Functions const& f, sd_bus* bus) {
  char* type = nullptr;
  if (f.get_string(bus, kLogin, kSessionPath, kSession, "Type", nullptr, &type) < 0) return {};
  std::string const kind = type != nullptr ? type : "";
  std::free(type);
  bool const desktop = is_desktop(kind);
  if (!desktop) return {};
  int idle = 0;  // sd-bus writes a boolean as an int
  if (f.get_trivial(bus, kLogin, kSessionPath, kSession, "IdleHint", nullptr, 'b', &idle) < 0)
    return {};
  SessionHint hint{idle != 0, kind == "wayland", 0};
  if (f.get_trivial(
          bus, kLogin, kSessionPath, kSession, "IdleSinceHint", nullptr, 't', &hint.since) < 0)
    hint.since = 0;
  return hint;
}

}  // namespace

std::optional<double> idle_seconds(SessionHint hint, double unix_time) {
  if (!hint.idle) return 0;
  if (hint.since == 0) return {};
  return std::max(0.0, unix_time - static_cast<double>(hint.since) * kMicro);
}

std::optional<double> idle_seconds(std::optional<double> x11,
                                   std::optional<SessionHint> session,
                                   bool wayland,
                                   double unix_time) {
  if (session ? session->wayland : wayland) x11.reset();
  if (x11 || !session) return x11;
  return idle_seconds(*session, unix_time);
}

bool is_desktop(std::string_view session_type) {
  return session_type == "x11" || session_type == "wayland" || session_type == "mir";
}

std::optional<bool> metered_of(std::uint32_t value) {
  if (value == 1 || value == 3) return true;
  if (value == 2 || value == 4) return false;
  return {};
}

BusReadings read_system_bus() {
  static Functions const f = load();
  BusReadings readings;
  sd_bus* bus = nullptr;
  if (!f.complete() || f.open_system(&bus) < 0) return readings;
  (void)f.set_timeout(bus, kAnswerMicroseconds);
  readings.session = session_hint(f, bus);
  std::uint32_t metered = 0;
  if (f.get_trivial(bus, kNetwork, kNetworkPath, kNetwork, "Metered", nullptr, 'u', &metered) >= 0)
    readings.metered = metered_of(metered);
  f.close_unref(bus);
  return readings;
}

}  // namespace waggle::device
