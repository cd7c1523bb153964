// SPDX-License-Identifier: MIT
#include "app/signals.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/log.hpp"

namespace waggle::app::signals {
namespace {

std::atomic<int> caught{0};
std::atomic<int> last{0};
std::atomic<int> bell{-1};  // the writing end of a Listener's pipe

constexpr char kSignal = 's';
constexpr char kEnd = 'e';

constexpr int kInterrupted = 130;

// The second one leaves here, whatever the program waits for; children die with their parent.
void handle(int number) noexcept {
  last = number;
  if (++caught >= 2) ::_exit(kInterrupted);
  int const kept = errno;
  if (int const fd = bell; fd >= 0) (void)!::write(fd, &kSignal, 1);
  errno = kept;
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

Listener::Listener(std::function<void()> came) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    log::warning("app",
                 "no pipe for signals (",
                 std::strerror(errno),
                 "): the first Ctrl-C does nothing, the second ends at once");
    return;
  }
  bell = ends[1];
  thread_ = std::thread([from = Fd(ends[0]), came = std::move(came)] {
    pthread_setname_np(pthread_self(), "signals");
    int seen = 0;
    char word = kSignal;
    do {
      // One may have come before there was a pipe.
      if (int const now = caught; now > seen) {
        seen = now;
        came();
      }
      while (::read(from.get(), &word, 1) < 0 && errno == EINTR) {
      }
    } while (word != kEnd);
  });
}

Listener::~Listener() {
  if (!thread_.joinable()) return;
  int const fd = bell;
  (void)!::write(fd, &kEnd, 1);
  thread_.join();
  bell = -1;
  ::close(fd);
}

void wait(int milliseconds) noexcept {
  ::poll(nullptr, 0, milliseconds);
}

}  // namespace waggle::app::signals
