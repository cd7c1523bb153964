// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/// A session bus of our own, which the environment names while this lives.
class SessionBus {
 public:
  SessionBus() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execlp("dbus-daemon", "dbus-daemon", "--session", "--nofork", "--print-address", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    std::string address;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) address += c;
    ::close(ends[0]);
    REQUIRE_MESSAGE(!address.empty(), "dbus-daemon (package dbus) does not start");
    ::setenv("DBUS_SESSION_BUS_ADDRESS", address.c_str(), 1);
  }

  ~SessionBus() {
    ::unsetenv("DBUS_SESSION_BUS_ADDRESS");
    end();
  }

  SessionBus(SessionBus const&) = delete;
  SessionBus& operator=(SessionBus const&) = delete;

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};
