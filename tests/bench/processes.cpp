// SPDX-License-Identifier: MIT
#include "tests/bench/processes.hpp"

#include <csignal>
#include <cstdio>
#include <ctime>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace waggle::bench {

double monotonic_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool in_processes(std::size_t count, double limit_s, std::function<void(std::size_t)> const& work) {
  std::fflush(nullptr);
  std::vector<pid_t> running;
  for (std::size_t i = 0; i < count; ++i) {
    pid_t const pid = fork();
    if (pid == 0) {
      work(i);
      std::fflush(nullptr);
      _exit(0);
    }
    if (pid > 0) running.push_back(pid);
  }
  bool good = running.size() == count;
  double const end = monotonic_seconds() + limit_s;
  while (!running.empty()) {
    bool const late = monotonic_seconds() > end;
    std::erase_if(running, [&](pid_t pid) {
      if (late) kill(pid, SIGKILL);
      int status = 0;
      if (waitpid(pid, &status, late ? 0 : WNOHANG) != pid) return false;
      good = good && status == 0;
      return true;
    });
    usleep(2000);
  }
  return good;
}

}  // namespace waggle::bench
