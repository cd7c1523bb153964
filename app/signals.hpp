// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <thread>

namespace waggle::app::signals {

/// From here on the first SIGINT or SIGTERM only counts, and the second ends the program at once
/// with 130; a closed standard output is an error of write, not death.
void catch_interrupts();
/// How many came: one means leave well.
[[nodiscard]] int count() noexcept;
/// Whether the last one was SIGTERM, which ends with 0 where Ctrl-C ends with 130.
[[nodiscard]] bool last_was_term() noexcept;

/// Calls `came` for each signal that comes, on a thread of its own that sleeps until then; once for
/// those that come together. One at a time.
class Listener {
 public:
  explicit Listener(std::function<void()> came);
  ~Listener();
  Listener(Listener const&) = delete;
  Listener& operator=(Listener const&) = delete;

 private:
  std::thread thread_;
};

/// Waits up to `milliseconds`; returns early when a signal comes.
void wait(int milliseconds) noexcept;

}  // namespace waggle::app::signals
