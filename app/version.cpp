// SPDX-License-Identifier: MIT
#include "app/version.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"
#include "core/worker/trainer_process.hpp"

#include "app/commit.hpp"

namespace waggle::app {
namespace {

/// A trainer loads libtorch before it can say anything: a second, more on a busy machine.
constexpr int kPatienceMs = 20'000;

/// The first line that `trainer --version` prints; empty where it does not answer.
std::string ask(std::string const& trainer) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  Fd const from(ends[0]);
  Fd to(ends[1]);
  pid_t const pid = ::fork();
  if (pid < 0) return {};
  if (pid == 0) {
    ::dup2(to.get(), STDOUT_FILENO);
    ::execl(trainer.c_str(), "waggle-trainer", "--version", nullptr);
    ::_exit(127);
  }
  to.reset();
  char text[256];
  ssize_t got = -1;
  pollfd waited{from.get(), POLLIN, 0};
  if (::poll(&waited, 1, kPatienceMs) == 1) got = ::read(from.get(), text, sizeof text);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::string line(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  return line.substr(0, line.find('\n'));
}

}  // namespace

std::string version_text() {
  auto out = cat("waggle ", WAGGLE_VERSION, "\ncommit ", kCommit, '\n');
  auto const trainer = worker::find_trainer();
  if (!trainer) return cat(out, "libtorch: ", trainer.error().detail);
  auto const said = ask(trainer->string());
  return cat(out, said.empty() ? cat("libtorch: ", trainer->string(), " does not tell") : said);
}

}  // namespace waggle::app
