// SPDX-License-Identifier: MIT
#include "app/signals.hpp"

#include <atomic>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace waggle::app::signals {
namespace {

std::atomic<int> caught{0};
std::atomic<int> last{0};

constexpr int kInterrupted = 130;

// The second one leaves here, whatever the program waits for; children die with their parent.
void handle(int number) noexcept {
  last = number;
  if (++caught >= 2) ::_exit(kInterrupted);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};

  action.sa_handler = handle;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

int count() noexcept {
  return caught;
}

bool last_was_term() noexcept {
  return last == SIGTERM;
}

void wait(int milliseconds) noexcept {
  ::poll(nullptr, 0, milliseconds);
}

}  // namespace waggle::app::signals
