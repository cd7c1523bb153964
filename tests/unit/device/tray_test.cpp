// SPDX-License-Identifier: MIT
#include "core/device/tray.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <doctest/doctest.h>
#include <poll.h>

#include "core/base/text.hpp"
#include "core/device/detail/sd_bus.hpp"

#include "tests/unit/device/session_bus.hpp"

using waggle::cat;
using namespace waggle::device;

namespace {

/// A desktop with a tray: takes icons that enrol, shows messages, and asks as a real one does.
class Desktop {
 public:
  explicit Desktop(bool with_host) : with_host_(with_host) {
    REQUIRE(bus_ != nullptr);
    REQUIRE(bus_->open_user(&connection_) >= 0);
    auto const add = [this](char const* path) {
      REQUIRE(bus_->add_object(connection_, nullptr, path, on_call, this) >= 0);
    };
    add("/StatusNotifierWatcher");
    add("/org/freedesktop/Notifications");
    REQUIRE(bus_->request_name(connection_, "org.kde.StatusNotifierWatcher", 0) >= 0);
    REQUIRE(bus_->request_name(connection_, "org.freedesktop.Notifications", 0) >= 0);
    REQUIRE(bus_->add_match(connection_,
                            nullptr,
                            "type='signal',interface='com.canonical.dbusmenu'",
                            on_layout,
                            this) >= 0);
  }

  ~Desktop() { bus_->flush_close_unref(connection_); }

  Desktop(Desktop const&) = delete;
  Desktop& operator=(Desktop const&) = delete;

  /// Serves until `done` says so; false after ten seconds.
  bool serve(auto done) {
    for (int i = 0; i < 1000; ++i) {
      while (bus_->process(connection_, nullptr) > 0) {
      }
      if (done()) return true;
      pollfd fd{bus_->get_fd(connection_), POLLIN, 0};
      (void)::poll(&fd, 1, 10);
    }
    return false;
  }

  /// Sends a call to the icon and reads its answer.
  void ask(char const* path,
           char const* interface,
           char const* member,
           auto append,
           std::function<void(sd_bus_message*)> read) {
    sd_bus_message* call = nullptr;
    REQUIRE(bus_->message_new_method_call(
                connection_, &call, item_.c_str(), path, interface, member) >= 0);
    REQUIRE(append(call) >= 0);
    read_ = std::move(read);
    answered_ = false;
    REQUIRE(bus_->call_async(connection_, nullptr, call, on_answer, this, 0) >= 0);
    bus_->message_unref(call);
    REQUIRE(serve([this] { return answered_; }));
  }

  [[nodiscard]] std::string const& item() const { return item_; }

  [[nodiscard]] std::string const& message() const { return message_; }

  [[nodiscard]] std::uint32_t layout() const { return layout_; }

  [[nodiscard]] waggle::device::detail::SdBus const& bus() const { return *bus_; }

 private:
  static int on_call(sd_bus_message* call, void* self, sd_bus_error*) {
    auto& d = *static_cast<Desktop*>(self);
    auto const is = [&](char const* member) {
      return d.bus_->message_is_method_call(call, nullptr, member) > 0;
    };
    if (is("RegisterStatusNotifierItem")) {
      char const* name = nullptr;
      if (d.bus_->message_read(call, "s", &name) < 0) return -EINVAL;
      d.item_ = name;
      return d.bus_->reply_method_return(call, "");
    }
    if (is("Get")) return d.bus_->reply_method_return(call, "v", "b", d.with_host_ ? 1 : 0);
    if (is("Notify")) {
      char const* program = nullptr;
      char const* icon = nullptr;
      char const* title = nullptr;
      char const* body = nullptr;
      std::uint32_t replaces = 0;
      if (d.bus_->message_read(call, "susss", &program, &replaces, &icon, &title, &body) < 0)
        return -EINVAL;
      d.message_ = cat(program, "|", title, "|", body);
      return d.bus_->reply_method_return(call, "u", 1);
    }
    return 0;
  }

  static int on_layout(sd_bus_message* signal, void* self, sd_bus_error*) {
    auto& d = *static_cast<Desktop*>(self);
    std::int32_t parent = 0;
    (void)d.bus_->message_read(signal, "ui", &d.layout_, &parent);
    return 0;
  }

  static int on_answer(sd_bus_message* answer, void* self, sd_bus_error*) {
    auto& d = *static_cast<Desktop*>(self);
    CHECK(d.bus_->message_is_method_error(answer, nullptr) == 0);
    d.read_(answer);
    d.answered_ = true;
    return 0;
  }

  waggle::device::detail::SdBus const* bus_ = waggle::device::detail::sd_bus();
  ::sd_bus* connection_ = nullptr;
  bool with_host_;
  std::string item_;
  std::string message_;
  std::uint32_t layout_ = 0;
  bool answered_ = false;
  std::function<void(sd_bus_message*)> read_;
};

TrayLook look_of(std::string tooltip) {
  TrayLook look;
  look.title = "Waggle";
  look.tooltip = std::move(tooltip);
  look.picture = {2, std::vector<std::uint8_t>(16, 0x7F)};
  look.menu = {{"Open", true}, {"", true}, {"Pause a_b", true}, {"Quit", false}};
  return look;
}

constexpr char kMenu[] = "com.canonical.dbusmenu";

int click(waggle::device::detail::SdBus const& bus, sd_bus_message* call, int id) {
  return bus.message_append(call, "isvu", id, "clicked", "i", 0, 0);
}

}  // namespace

TEST_SUITE("Tray") {
  TEST_CASE("is none without a session bus") {
    ::setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/at/all", 1);
    CHECK(Tray::open(look_of(""), [] {}) == nullptr);
    ::unsetenv("DBUS_SESSION_BUS_ADDRESS");
  }

  TEST_CASE("enrols, is read, clicked and changed as a desktop does it") {
    SessionBus const session;
    Desktop desktop(true);
    std::atomic<int> woken = 0;
    auto const tray = Tray::open(look_of("training"), [&woken] { ++woken; });
    REQUIRE(tray != nullptr);
    REQUIRE(desktop.serve([&] { return tray->shown(); }));
    CHECK(woken > 0);
    CHECK(desktop.item().starts_with("org.kde.StatusNotifierItem-"));
    auto const& bus = desktop.bus();
    auto const nothing = [](sd_bus_message*) { return 0; };

    std::vector<std::string> properties;
    desktop.ask(
        "/StatusNotifierItem",
        "org.freedesktop.DBus.Properties",
        "GetAll",
        [&](sd_bus_message* call) {
          return bus.message_append(call, "s", "org.kde.StatusNotifierItem");
        },
        [&](sd_bus_message* answer) {
          REQUIRE(bus.message_enter_container(answer, 'a', "{sv}") > 0);
          while (bus.message_enter_container(answer, 'e', "sv") > 0) {
            char const* name = nullptr;
            REQUIRE(bus.message_read(answer, "s", &name) > 0);
            properties.emplace_back(name);
            if (properties.back() == "ToolTip") {
              char const* icon = nullptr;
              char const* title = nullptr;
              char const* tip = nullptr;
              REQUIRE(bus.message_enter_container(answer, 'v', "(sa(iiay)ss)") > 0);
              REQUIRE(bus.message_enter_container(answer, 'r', "sa(iiay)ss") > 0);
              REQUIRE(bus.message_read(answer, "s", &icon) > 0);
              REQUIRE(bus.message_skip(answer, "a(iiay)") > 0);
              REQUIRE(bus.message_read(answer, "ss", &title, &tip) > 0);
              CHECK(std::string(tip) == "training");
              REQUIRE(bus.message_exit_container(answer) > 0);
              REQUIRE(bus.message_exit_container(answer) > 0);
            } else {
              REQUIRE(bus.message_skip(answer, "v") > 0);
            }
            REQUIRE(bus.message_exit_container(answer) > 0);
          }
        });
    CHECK(properties.size() == 10);

    std::vector<int> items;
    desktop.ask(
        "/MenuBar",
        kMenu,
        "GetLayout",
        [&](sd_bus_message* call) { return bus.message_append(call, "iias", 0, -1, 0); },
        [&](sd_bus_message* answer) {
          std::uint32_t revision = 0;
          int root = -1;
          REQUIRE(bus.message_read(answer, "u", &revision) > 0);
          REQUIRE(bus.message_enter_container(answer, 'r', "ia{sv}av") > 0);
          REQUIRE(bus.message_read(answer, "i", &root) > 0);
          CHECK(root == 0);
          REQUIRE(bus.message_skip(answer, "a{sv}") > 0);
          REQUIRE(bus.message_enter_container(answer, 'a', "v") > 0);
          while (bus.message_enter_container(answer, 'v', "(ia{sv}av)") > 0) {
            int id = 0;
            REQUIRE(bus.message_enter_container(answer, 'r', "ia{sv}av") > 0);
            REQUIRE(bus.message_read(answer, "i", &id) > 0);
            items.push_back(id);
            REQUIRE(bus.message_skip(answer, "a{sv}av") > 0);
            REQUIRE(bus.message_exit_container(answer) > 0);
            REQUIRE(bus.message_exit_container(answer) > 0);
          }
        });
    CHECK(items == std::vector<int>{1, 2, 3, 4});

    // The icon, an item, the line between, the item that is off, one that does not exist.
    desktop.ask(
        "/StatusNotifierItem",
        "org.kde.StatusNotifierItem",
        "Activate",
        [&](sd_bus_message* call) { return bus.message_append(call, "ii", 5, 5); },
        nothing);
    for (int const id : {3, 2, 4, 99, -1})
      desktop.ask(
          "/MenuBar",
          kMenu,
          "Event",
          [&](sd_bus_message* call) { return click(bus, call, id); },
          nothing);
    auto const icon = tray->take_press();
    REQUIRE(icon);
    CHECK(!icon->item);
    auto const item = tray->take_press();
    REQUIRE(item);
    CHECK(item->item == 2u);
    CHECK(!tray->take_press());

    auto next = look_of("paused");
    next.menu.pop_back();
    tray->show(next);
    CHECK(desktop.serve([&] { return desktop.layout() == 2; }));
    tray->notify("Still here", "in the tray");
    CHECK(desktop.serve([&] { return desktop.message() == "Waggle|Still here|in the tray"; }));
  }

  TEST_CASE("is not shown where nobody shows icons, and is once somebody does") {
    SessionBus const session;
    auto const tray = Tray::open(look_of(""), [] {});
    REQUIRE(tray != nullptr);
    {
      Desktop blind(false);
      CHECK(blind.serve([&] { return !blind.item().empty(); }));
      int left = 20;
      CHECK(blind.serve([&] { return tray->shown() || --left == 0; }));
      CHECK(!tray->shown());
    }
    Desktop desktop(true);
    CHECK(desktop.serve([&] { return tray->shown(); }));
  }

  TEST_CASE("a bus that dies takes the icon along and nothing else") {
    SessionBus session;
    Desktop desktop(true);
    auto const tray = Tray::open(look_of(""), [] {});
    REQUIRE(tray != nullptr);
    REQUIRE(desktop.serve([&] { return tray->shown(); }));
    session.end();
    bool gone = false;
    for (int i = 0; i < 1000 && !gone; ++i) {
      gone = !tray->shown();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(gone);
    tray->show(look_of("unseen"));
    tray->notify("to", "nobody");
  }
}
