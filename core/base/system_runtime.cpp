// SPDX-License-Identifier: MIT
#include "core/base/system_runtime.hpp"

#include <unordered_map>

#include <asio/error_code.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <sys/random.h>

#include "core/base/assert.hpp"

namespace waggle {

struct SystemRuntime::State {
  asio::io_context io{1};
  TimerId next_timer = 1;
  std::unordered_map<TimerId, asio::steady_timer> timers;
};

SystemRuntime::SystemRuntime() : state_(std::make_unique<State>()) {
}

SystemRuntime::~SystemRuntime() = default;

TimePoint SystemRuntime::now() const noexcept {
  return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

double SystemRuntime::unix_time() const noexcept {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void SystemRuntime::fill_random(std::span<std::byte> out) noexcept {
  while (!out.empty()) {
    auto const got = getrandom(out.data(), out.size(), 0);
    WAGGLE_ASSERT(got > 0 || errno == EINTR, "getrandom failed, errno ", errno);
    if (got > 0) out = out.subspan(static_cast<std::size_t>(got));
  }
}

asio::any_io_executor SystemRuntime::executor() const noexcept {
  return state_->io.get_executor();
}

Runtime::TimerId SystemRuntime::call_at(TimePoint deadline, std::function<void()> f) {
  TimerId const id = state_->next_timer++;
  if (deadline == kNoDeadline) return id;
  auto const timer = state_->timers.try_emplace(id, state_->io).first;
  timer->second.expires_at(
      std::chrono::time_point_cast<std::chrono::steady_clock::duration>(deadline));
  timer->second.async_wait([state = state_.get(), id, f = std::move(f)](asio::error_code) {
    if (state->timers.erase(id) == 1) f();
  });
  return id;
}

void SystemRuntime::cancel(TimerId timer) noexcept {
  state_->timers.erase(timer);
}

void SystemRuntime::run() {
  auto const guard = asio::make_work_guard(state_->io);
  state_->io.run();
}

void SystemRuntime::run_to_completion() {
  state_->io.restart();
  state_->io.run();
}

void SystemRuntime::stop() noexcept {
  state_->io.stop();
}

}  // namespace waggle
