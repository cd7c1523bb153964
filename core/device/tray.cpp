// SPDX-License-Identifier: MIT
#include "core/device/tray.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"
#include "core/device/detail/sd_bus.hpp"
#include "core/device/detail/tray_item.hpp"

namespace waggle::device {
namespace {

using namespace detail;

constexpr char kWatcher[] = "org.kde.StatusNotifierWatcher";
constexpr char kWatcherPath[] = "/StatusNotifierWatcher";
constexpr char kWatcherComes[] =
    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
    "arg0='org.kde.StatusNotifierWatcher'";
constexpr std::size_t kMostMessages = 8;  // of the desktop, waiting
constexpr std::size_t kMostPresses = 16;
constexpr int kNoTimeout = -1;

struct Message {
  std::string title;
  std::string body;
};

}  // namespace

struct Tray::State {
  SdBus const& bus;
  ::sd_bus* connection = nullptr;
  std::string name;  // ours on the bus
  std::function<void()> wake;
  Fd poke;  // an eventfd: something below is new

  mutable std::mutex mutex;
  TrayLook look;                 // guarded by mutex, as all below
  std::deque<Message> messages;  // to be shown
  std::deque<TrayPress> presses;
  bool shown = false;
  bool stopping = false;

  // The thread's own.
  TrayLook told;
  std::uint32_t revision = 1;
  std::thread thread;

  explicit State(SdBus const& functions) : bus(functions) {}

  ~State() {
    if (thread.joinable()) {
      {
        std::lock_guard const lock(mutex);
        stopping = true;
      }
      nudge();
      thread.join();
    }
    if (connection != nullptr) bus.flush_close_unref(connection);
  }

  void nudge() const {
    std::uint64_t const one = 1;
    [[maybe_unused]] auto const written = ::write(poke.get(), &one, sizeof one);
  }

  [[nodiscard]] bool begin() {
    poke = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!poke || bus.open_user(&connection) < 0) return false;
    name = cat("org.kde.StatusNotifierItem-", ::getpid(), "-1");
    bool const served = bus.add_object(connection, nullptr, kItemPath, on_item, this) >= 0 &&
                        bus.add_object(connection, nullptr, kMenuPath, on_menu, this) >= 0 &&
                        bus.add_match(connection, nullptr, kWatcherComes, on_watcher, this) >= 0 &&
                        bus.request_name(connection, name.c_str(), 0) >= 0;
    if (!served) return false;
    told = look;
    enrol();
    thread = std::thread([this] { run(); });
    return true;
  }

  void enrol() {
    (void)bus.call_method_async(connection,
                                nullptr,
                                kWatcher,
                                kWatcherPath,
                                kWatcher,
                                "RegisterStatusNotifierItem",
                                on_enrolled,
                                this,
                                "s",
                                name.c_str());
  }

  void set_shown(bool now) {
    {
      std::lock_guard const lock(mutex);
      if (shown == now) return;
      shown = now;
    }
    wake();
  }

  void press(TrayPress press) {
    {
      std::lock_guard const lock(mutex);
      if (presses.size() < kMostPresses) presses.push_back(press);
    }
    wake();
  }

  // A watcher without a tray that shows what it knows hides a window for good.
  static int on_host(sd_bus_message* reply, void* self, sd_bus_error* /*error*/) {
    auto& s = *static_cast<State*>(self);
    int there = 0;
    s.set_shown(s.bus.message_is_method_error(reply, nullptr) == 0 &&
                s.bus.message_read(reply, "v", "b", &there) > 0 && there != 0);
    return 0;
  }

  static int on_enrolled(sd_bus_message* reply, void* self, sd_bus_error* /*error*/) {
    auto& s = *static_cast<State*>(self);
    if (s.bus.message_is_method_error(reply, nullptr) != 0) {
      s.set_shown(false);
      return 0;
    }
    return s.bus.call_method_async(s.connection,
                                   nullptr,
                                   kWatcher,
                                   kWatcherPath,
                                   kPropertiesInterface,
                                   "Get",
                                   on_host,
                                   self,
                                   "ss",
                                   kWatcher,
                                   "IsStatusNotifierHostRegistered");
  }

  static int on_watcher(sd_bus_message* signal, void* self, sd_bus_error* /*error*/) {
    auto& s = *static_cast<State*>(self);
    char const* who = nullptr;
    char const* before = nullptr;
    char const* after = nullptr;
    if (s.bus.message_read(signal, "sss", &who, &before, &after) < 0) return 0;
    if (*after == '\0')
      s.set_shown(false);
    else
      s.enrol();
    return 0;
  }

  static int on_item(sd_bus_message* call, void* self, sd_bus_error* /*error*/) {
    auto& s = *static_cast<State*>(self);
    bool pressed = false;
    int const r = answer_item(s.bus, call, s.told, pressed);
    if (pressed) s.press({});
    return r;
  }

  static int on_menu(sd_bus_message* call, void* self, sd_bus_error* /*error*/) {
    auto& s = *static_cast<State*>(self);
    std::optional<std::size_t> pressed;
    int const r = answer_menu(s.bus, call, s.told.menu, s.revision, pressed);
    if (pressed) s.press({pressed});
    return r;
  }

  void signal(char const* member) {
    (void)bus.emit_signal(connection, kItemPath, kItemInterface, member, "");
  }

  void tell_changes(TrayLook now) {
    auto const before = std::exchange(told, std::move(now));
    if (before.title != told.title) signal("NewTitle");
    if (before.tooltip != told.tooltip || before.title != told.title) signal("NewToolTip");
    if (before.picture != told.picture) signal("NewIcon");
    if (before.menu == told.menu) return;
    ++revision;
    (void)bus.emit_signal(
        connection, kMenuPath, kMenuInterface, "LayoutUpdated", "ui", revision, 0);
  }

  void notify(Message const& message) {
    // No answer is waited for: a desktop without messages is none of our business.
    (void)bus.call_method_async(
        connection,
        nullptr,
        "org.freedesktop.Notifications",
        "/org/freedesktop/Notifications",
        "org.freedesktop.Notifications",
        "Notify",
        [](sd_bus_message*, void*, sd_bus_error*) { return 0; },
        nullptr,
        "susssasa{sv}i",
        "Waggle",
        0,
        "waggle",
        message.title.c_str(),
        message.body.c_str(),
        0,
        0,
        kNoTimeout);
  }

  /// Milliseconds for poll(): until sd-bus wants to be called again.
  [[nodiscard]] int patience() const {
    std::uint64_t until = 0;
    if (bus.get_timeout(connection, &until) < 0 || until == UINT64_MAX) return kNoTimeout;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    auto const us = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
                    static_cast<std::uint64_t>(now.tv_nsec) / 1000;
    return until <= us ? 0
                       : static_cast<int>(std::min<std::uint64_t>((until - us) / 1000 + 1, 60'000));
  }

  void run() {
    for (;;) {
      int processed = 0;
      do processed = bus.process(connection, nullptr);
      while (processed > 0);
      if (processed < 0) break;  // the bus is gone: the session ends
      TrayLook now;
      std::deque<Message> waiting;
      {
        std::lock_guard const lock(mutex);
        if (stopping) return;
        now = look;
        waiting.swap(messages);
      }
      if (now != told) tell_changes(std::move(now));
      for (auto const& message : waiting) notify(message);
      int const events = bus.get_events(connection);
      if (events < 0) break;
      pollfd fds[2] = {{bus.get_fd(connection), static_cast<short>(events), 0},
                       {poke.get(), POLLIN, 0}};
      (void)::poll(fds, 2, patience());
      std::uint64_t taken = 0;
      [[maybe_unused]] auto const read = ::read(poke.get(), &taken, sizeof taken);
    }
    set_shown(false);
  }
};

Tray::Tray(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Tray::~Tray() = default;

std::unique_ptr<Tray> Tray::open(TrayLook look, std::function<void()> wake) {
  auto const* const bus = sd_bus();
  if (bus == nullptr) return nullptr;
  auto state = std::make_unique<State>(*bus);
  state->look = std::move(look);
  state->wake = std::move(wake);
  if (!state->begin()) return nullptr;
  return std::unique_ptr<Tray>(new Tray(std::move(state)));
}

bool Tray::shown() const {
  std::lock_guard const lock(state_->mutex);
  return state_->shown;
}

void Tray::show(TrayLook look) {
  {
    std::lock_guard const lock(state_->mutex);
    if (look == state_->look) return;
    state_->look = std::move(look);
  }
  state_->nudge();
}

std::optional<TrayPress> Tray::take_press() {
  std::lock_guard const lock(state_->mutex);
  if (state_->presses.empty()) return {};
  auto const press = state_->presses.front();
  state_->presses.pop_front();
  return press;
}

void Tray::notify(std::string title, std::string body) {
  {
    std::lock_guard const lock(state_->mutex);
    if (state_->messages.size() >= kMostMessages) return;
    state_->messages.push_back({std::move(title), std::move(body)});
  }
  state_->nudge();
}

}  // namespace waggle::device
