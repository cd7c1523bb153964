// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace waggle::test {

/// Runs `f` in a child process that is expected to abort; returns what it wrote to stderr.
/// The test fails if the child lives or dies otherwise. Only before threads were started.
template <class F>
std::string death_of(F f) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    signal(SIGABRT, SIG_DFL);  // doctest would report it as its own crash
    f();
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  return said;
}

}  // namespace waggle::test
