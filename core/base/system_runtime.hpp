// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/base/runtime.hpp"

namespace waggle {

/// The production Runtime: one io_context, the machine's clocks, getrandom.
/// run() is called by the one thread that then is the network thread.
class SystemRuntime final : public Runtime {
 public:
  SystemRuntime();
  ~SystemRuntime() override;

  [[nodiscard]] TimePoint now() const noexcept override;
  [[nodiscard]] double unix_time() const noexcept override;
  void fill_random(std::span<std::byte> out) noexcept override;
  [[nodiscard]] asio::any_io_executor executor() const noexcept override;
  [[nodiscard]] TimerId call_at(TimePoint deadline, std::function<void()> f) override;
  void cancel(TimerId timer) noexcept override;

  /// Runs until stop(). Stays while nothing is due.
  void run();
  /// Runs until no work is left: for programs and tests whose main coroutine ends.
  void run_to_completion();
  /// Makes run() return soon. Thread: any.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waggle
