// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace waggle::test {

/// Runs `body` in a child process whose `folder` is a disk of `bytes` (a tmpfs in a mount namespace
/// of its own), and returns the child's exit status. -1 where the system allows no such namespace:
/// the caller skips, aloud. `body` reports by its return value and must not use doctest.
inline int on_small_disk(std::filesystem::path const& folder,
                         std::size_t bytes,
                         std::function<int()> const& body) {
  constexpr int kNoNamespace = 99;
  pid_t const child = ::fork();
  if (child == 0) {
    auto const uid = ::getuid();
    if (::unshare(CLONE_NEWNS) != 0) {
      if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(kNoNamespace);
      if (FILE* map = std::fopen("/proc/self/uid_map", "w")) {
        std::fprintf(map, "0 %u 1", uid);
        std::fclose(map);
      }
    }
    (void)::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    auto const options = "size=" + std::to_string(bytes);
    if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, options.c_str()) != 0) ::_exit(kNoNamespace);
    ::_exit(body());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == kNoNamespace ? -1 : WEXITSTATUS(status);
}

}  // namespace waggle::test
