// SPDX-License-Identifier: MIT
#include "core/device/inhibitors.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <poll.h>

#include "core/device/detail/sd_bus.hpp"
#include "core/device/sensors.hpp"

#include "tests/unit/device/session_bus.hpp"

using namespace waggle;
using namespace waggle::device;

namespace {

/// logind, as far as we ask it, on a system bus of our own.
class Login {
 public:
  Login() {
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ::getenv("DBUS_SESSION_BUS_ADDRESS"), 1);
    REQUIRE(bus_ != nullptr);
    REQUIRE(bus_->open_user(&connection_) >= 0);
    REQUIRE(bus_->add_object(connection_, nullptr, "/org/freedesktop/login1", on_call, this) >= 0);
    REQUIRE(bus_->request_name(connection_, "org.freedesktop.login1", 0) >= 0);
    REQUIRE(::pipe2(pipe_, O_CLOEXEC) == 0);
    thread_ = std::thread([this] {
      while (!stop_) {
        while (bus_->process(connection_, nullptr) > 0) {
        }
        pollfd fd{bus_->get_fd(connection_), POLLIN, 0};
        (void)::poll(&fd, 1, 10);
      }
    });
  }

  ~Login() {
    stop_ = true;
    thread_.join();
    bus_->flush_close_unref(connection_);
    ::close(pipe_[0]);
    if (pipe_[1] >= 0) ::close(pipe_[1]);
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  }

  Login(Login const&) = delete;
  Login& operator=(Login const&) = delete;

  /// Whether everybody who was given the lock has let it go; waits two seconds at most.
  [[nodiscard]] bool all_let_go() {
    ::close(pipe_[1]);
    pipe_[1] = -1;
    pollfd fd{pipe_[0], POLLIN, 0};
    return ::poll(&fd, 1, 2000) == 1 && (fd.revents & POLLHUP) != 0;
  }

  std::atomic<bool> film = true;
  std::atomic<bool> refuse = false;
  std::atomic<int> asked = 0;

 private:
  static int on_call(sd_bus_message* call, void* self, sd_bus_error*) {
    auto& login = *static_cast<Login*>(self);
    auto const is = [&](char const* member) {
      return login.bus_->message_is_method_call(call, nullptr, member) > 0;
    };
    if (is("ListInhibitors")) {
      if (!login.film) return login.bus_->reply_method_return(call, "a(ssssuu)", 0);
      return login.bus_->reply_method_return(call,
                                             "a(ssssuu)",
                                             2,
                                             "sleep",
                                             "NetworkManager",
                                             "to log off",
                                             "delay",
                                             0U,
                                             7U,
                                             "sleep:idle",
                                             "Films",
                                             "a film",
                                             "block",
                                             1000U,
                                             8U);
    }
    if (is("Inhibit")) {
      char const* what = nullptr;
      char const* who = nullptr;
      char const* why = nullptr;
      char const* mode = nullptr;
      if (login.bus_->message_read(call, "ssss", &what, &who, &why, &mode) < 0) return -EINVAL;
      ++login.asked;
      if (login.refuse || std::string(what) != "sleep" || std::string(mode) != "block")
        return -EACCES;
      return login.bus_->reply_method_return(call, "h", login.pipe_[1]);
    }
    return 0;
  }

  waggle::device::detail::SdBus const* bus_ = waggle::device::detail::sd_bus();
  ::sd_bus* connection_ = nullptr;
  int pipe_[2] = {-1, -1};
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TimePoint now() {
  return std::chrono::steady_clock::now();
}

// Wants it until it is so, five seconds at most.
bool becomes_held(KeepAwake& awake) {
  for (int i = 0; i < 500 && !awake.held(); ++i) {
    awake.want(true, now());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return awake.held();
}

}  // namespace

TEST_SUITE("inhibitors") {
  TEST_CASE("only who blocks idleness keeps the screen on") {
    using All = std::vector<Inhibitor>;
    CHECK(!keeps_screen_on(All{}));
    CHECK(!keeps_screen_on(All{{"sleep", "a", "block"}, {"idle", "b", "delay"}}));
    CHECK(!keeps_screen_on(All{{"handle-idle-key:sleep", "a", "block"}, {"", "b", "block"}}));
    CHECK(keeps_screen_on(All{{"sleep", "a", "block"}, {"idle", "mpv", "block"}}) == "mpv");
    CHECK(keeps_screen_on(All{{"shutdown:idle:sleep", "VLC", "block"}}) == "VLC");
    CHECK(keeps_screen_on(All{{"idle", "", "block"}}) == "a program");
  }

  TEST_CASE("a name is one short line, whole characters only") {
    std::string name = "film\n";
    for (int i = 0; i < 100; ++i) name += "蜂";
    auto const said = keeps_screen_on(std::vector<Inhibitor>{{"idle", name, "block"}});
    REQUIRE(said);
    CHECK(said->size() <= 64);
    CHECK(said->starts_with("film 蜂"));
    CHECK(said->ends_with("蜂…"));
  }

  TEST_CASE("without a bus nobody inhibits, and nothing is kept awake") {
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere", 1);
    CHECK(read_inhibitors().empty());
    auto const lock = inhibit_sleep();
    REQUIRE(!lock);
    CHECK(lock.error().code == Errc::not_found);
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  }

  TEST_CASE("logind is asked for the list, and the sensors tell who keeps the screen on") {
    SessionBus const session;
    Login login;
    CHECK(keeps_screen_on(read_inhibitors()) == "Films");
    Sensors sensors({});
    std::optional<std::string> seen;
    for (int i = 0; i < 500 && !seen; ++i) {
      seen = sensors.poll(now(), 0).inhibitor;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(seen == "Films");
    login.film = false;
    CHECK(read_inhibitors().empty());
  }

  TEST_CASE("kept awake while it is wanted, and let go at once") {
    SessionBus const session;
    Login login;
    {
      KeepAwake awake;
      CHECK(!awake.held());
      REQUIRE(becomes_held(awake));
      awake.want(true, now());
      awake.want(false, now());
      CHECK(!awake.held());
      REQUIRE(becomes_held(awake));
    }
    CHECK(login.asked == 2);
    CHECK(login.all_let_go());
  }

  TEST_CASE("a refusal is told, and not asked again within a minute") {
    SessionBus const session;
    Login login;
    login.refuse = true;
    KeepAwake awake;
    auto const begun = now();
    for (int i = 0; i < 500 && awake.trouble().empty(); ++i) {
      awake.want(true, begun);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(!awake.trouble().empty());
    awake.want(true, begun);
    awake.want(true, begun + seconds(50));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(login.asked == 1);
    login.refuse = false;
    for (int i = 0; i < 500 && !awake.held(); ++i) {
      awake.want(true, begun + seconds(61));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(awake.held());
    CHECK(awake.trouble().empty());
  }
}
