// SPDX-License-Identifier: MIT
#include "core/device/inhibitors.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string_view>

#include <fcntl.h>

#include "core/base/aside.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/device/detail/sd_bus.hpp"

namespace waggle::device {
namespace {

constexpr std::uint64_t kAnswerMicroseconds = 2'000'000;
constexpr std::size_t kMostInhibitors = 256;
constexpr std::size_t kMostName = 64;  // bytes
constexpr Duration kAskEvery = std::chrono::seconds(2);
constexpr Duration kAfterRefusal = std::chrono::minutes(1);
constexpr Duration kAskLimit = std::chrono::seconds(15);

constexpr char kLogin[] = "org.freedesktop.login1";
constexpr char kPath[] = "/org/freedesktop/login1";
constexpr char kManager[] = "org.freedesktop.login1.Manager";

/// A connection to the system bus while it lives; none where there is no libsystemd or no bus.
class Connection {
 public:
  Connection() : functions_(detail::sd_bus()) {
    if (functions_ == nullptr || functions_->open_system(&bus_) < 0) bus_ = nullptr;
    if (bus_ != nullptr) (void)functions_->set_method_call_timeout(bus_, kAnswerMicroseconds);
  }

  ~Connection() {
    if (bus_ != nullptr) functions_->close_unref(bus_);
  }

  Connection(Connection const&) = delete;
  Connection& operator=(Connection const&) = delete;

  explicit operator bool() const noexcept { return bus_ != nullptr; }

  [[nodiscard]] ::sd_bus* get() const noexcept { return bus_; }

  detail::SdBus const* operator->() const noexcept { return functions_; }

 private:
  detail::SdBus const* functions_;
  ::sd_bus* bus_ = nullptr;
};

bool names(std::string_view what, std::string_view one) {
  while (!what.empty()) {
    auto const end = what.find(':');
    if (what.substr(0, end) == one) return true;
    if (end == std::string_view::npos) break;
    what.remove_prefix(end + 1);
  }
  return false;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (char const c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  if (line.size() <= kMostName) return line;
  line.resize(utf8_prefix(line, kMostName - std::string_view("…").size()).size());
  return line + "…";
}

}  // namespace

std::optional<std::string> keeps_screen_on(std::span<Inhibitor const> all) {
  auto const at = std::ranges::find_if(
      all, [](Inhibitor const& i) { return i.mode == "block" && names(i.what, "idle"); });
  if (at == all.end()) return {};
  return at->who.empty() ? std::string("a program") : one_line(at->who);
}

std::vector<Inhibitor> read_inhibitors() {
  std::vector<Inhibitor> all;
  Connection const bus;
  if (!bus) return all;
  sd_bus_message* answer = nullptr;
  if (bus->call_method(bus.get(), kLogin, kPath, kManager, "ListInhibitors", nullptr, &answer, "") <
      0)
    return all;
  if (bus->message_enter_container(answer, 'a', "(ssssuu)") >= 0) {
    char const* what = nullptr;
    char const* who = nullptr;
    char const* why = nullptr;
    char const* mode = nullptr;
    std::uint32_t user = 0;
    std::uint32_t process = 0;
    while (all.size() < kMostInhibitors &&
           bus->message_read(answer, "(ssssuu)", &what, &who, &why, &mode, &user, &process) > 0)
      all.push_back({what, who, mode});
  }
  bus->message_unref(answer);
  return all;
}

Result<Fd> inhibit_sleep() {
  Connection const bus;
  if (!bus) return Error{Errc::not_found, "there is no libsystemd, or no system bus"};
  sd_bus_error failure{};
  sd_bus_message* answer = nullptr;
  int const called = bus->call_method(bus.get(),
                                      kLogin,
                                      kPath,
                                      kManager,
                                      "Inhibit",
                                      &failure,
                                      &answer,
                                      "ssss",
                                      "sleep",
                                      "Waggle",
                                      "training",
                                      "block");
  if (called < 0) {
    Error why{Errc::refused,
              failure.message != nullptr ? failure.message : "logind does not answer"};
    bus->error_free(&failure);
    return why;
  }
  // The message's own descriptor is closed with it.
  int theirs = -1;
  Fd ours;
  if (bus->message_read(answer, "h", &theirs) > 0) ours = Fd(::fcntl(theirs, F_DUPFD_CLOEXEC, 3));
  bus->message_unref(answer);
  if (!ours) return Error{Errc::refused, "logind gave no lock"};
  return ours;
}

struct KeepAwake::State {
  // What both threads use; a question that hangs may outlive the rest.
  struct Shared {
    std::mutex mutex;
    bool wanted = false;  // guarded by mutex
    Fd lock;              // guarded by mutex
    std::string trouble;  // guarded by mutex

    bool ask() {
      {
        std::lock_guard const guard(mutex);
        if (!wanted || lock) return true;
      }
      auto got = inhibit_sleep();
      std::lock_guard const guard(mutex);
      trouble = got ? std::string() : got.error().detail;
      if (got && wanted) lock = *std::move(got);
      return true;
    }
  };

  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::optional<Aside<bool>> asking;    ///< only once somebody wants it
  std::optional<TimePoint> not_before;  ///< after a refusal
};

KeepAwake::KeepAwake() : state_(std::make_unique<State>()) {
}

KeepAwake::~KeepAwake() {
  want(false, TimePoint{});
}

void KeepAwake::want(bool on, TimePoint now) {
  auto& s = *state_;
  {
    std::lock_guard const guard(s.shared->mutex);
    s.shared->wanted = on;
    if (!on) s.shared->lock.reset();
    if (!on || s.shared->lock) {
      s.not_before.reset();
      return;
    }
    bool const refused = !s.shared->trouble.empty();
    if (refused && !s.not_before) s.not_before = now + kAfterRefusal;
    if (s.not_before && now < *s.not_before) return;
    s.not_before.reset();
  }
  if (!s.asking)
    s.asking.emplace(
        "keep awake", [shared = s.shared] { return shared->ask(); }, kAskEvery, kAskLimit);
  (void)s.asking->poll(now);
}

bool KeepAwake::held() const {
  std::lock_guard const guard(state_->shared->mutex);
  return static_cast<bool>(state_->shared->lock);
}

std::string KeepAwake::trouble() const {
  std::lock_guard const guard(state_->shared->mutex);
  return state_->shared->trouble;
}

}  // namespace waggle::device
