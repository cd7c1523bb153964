// SPDX-License-Identifier: MIT
#include "core/worker/trainer/sandbox.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fd.hpp"

namespace waggle::worker {
namespace {

/// Runs `attempt` in a child inside the sandbox: 0 succeeded, 1 denied, 2 no sandbox at all.
template <class F>
int inside(F attempt, Keeps const& keeps = {}) {
  pid_t const pid = ::fork();
  if (pid == 0) {
    auto const state = enter_sandbox(keeps);
    if (state.find("seccomp") == std::string::npos) ::_exit(2);
    // Without Landlock no device is kept.
    if (!keeps.devices.empty() && state.find("landlock") == std::string::npos) ::_exit(2);
    ::_exit(attempt() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE("sandbox, the same attempts succeed outside") {
  CHECK(::access("/etc/passwd", R_OK) == 0);
  int const s = ::socket(AF_INET, SOCK_STREAM, 0);
  CHECK(s >= 0);
  ::close(s);
}

TEST_CASE("sandbox, no sockets and no connections") {
  CHECK(inside([] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }) == 1);
  CHECK(inside([] { return ::socket(AF_INET6, SOCK_DGRAM, 0) >= 0; }) == 1);
  CHECK(inside([] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }) == 1);
  int ends[2];
  CHECK(inside([&] { return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0; }) == 1);
  // Also not over a socket that was open before: EPERM, and not the refusal of a listener.
  int const before = ::socket(AF_INET, SOCK_STREAM, 0);
  CHECK(inside([&] {
          sockaddr_in address{};
          address.sin_family = AF_INET;
          address.sin_port = htons(9);
          address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
          int const rc = ::connect(before, reinterpret_cast<sockaddr*>(&address), sizeof address);
          return rc == 0 || (errno != EPERM && errno != EACCES);
        }) == 1);
  ::close(before);
}

TEST_CASE("sandbox, no other processes and programs") {
  CHECK(inside([] {
          pid_t const child = ::fork();
          if (child == 0) ::_exit(0);
          return child > 0;
        }) == 1);
  CHECK(inside([] {
          char const* const argv[] = {"/bin/true", nullptr};
          ::execve("/bin/true", const_cast<char* const*>(argv), nullptr);
          return false;
        }) == 1);
  auto const parent = ::getpid();
  CHECK(inside([=] { return ::kill(parent, 0) == 0; }) == 1);
  CHECK(inside([=] { return ::ptrace(PTRACE_ATTACH, parent, nullptr, nullptr) == 0; }) == 1);
}

TEST_CASE("sandbox, no files, neither to write nor to read") {
  CHECK(inside([] { return ::open("/etc/passwd", O_RDONLY) >= 0; }) == 1);
  CHECK(inside([] { return ::open("/proc/1/environ", O_RDONLY) >= 0; }) == 1);
  CHECK(inside([] {
          return ::open("/dev/shm/waggle-sandbox-test", O_WRONLY | O_CREAT, 0600) >= 0;
        }) == 1);
  CHECK(inside([] { return ::open("/", O_TMPFILE | O_RDWR, 0600) >= 0; }) == 1);
  CHECK(inside([] { return ::unlink("/nonexistent") == 0 || errno == ENOENT; }) == 1);
}

TEST_CASE("sandbox, threads, memory, open files and the processor's description stay") {
  CHECK(inside([] {
          int value = 0;
          std::thread thread([&] { value = 1; });
          thread.join();
          return value == 1;
        }) == 0);
  CHECK(inside([] { return ::open("/proc/cpuinfo", O_RDONLY) >= 0; }) == 0);
  CHECK(inside([] { return ::open("/proc/self/status", O_RDONLY) >= 0; }) == 0);
  int const before = ::open("/etc/passwd", O_RDONLY | O_CLOEXEC);
  char byte = 0;
  CHECK(inside([&] { return ::pread(before, &byte, 1, 0) == 1; }) == 0);
  ::close(before);
}

TEST_CASE("sandbox, a device that is kept is opened and steered, and nothing else is written") {
  Keeps const keeps{{"/dev/null"}, {"/etc/ssl"}};
  if (inside([] { return true; }, keeps) == 2) {
    MESSAGE("skipped: this kernel has no Landlock");
    return;
  }
  auto const open_and_steer = [] {
    int const device = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    // An answer of the device, whatever it is, and not a refusal.
    return device >= 0 && (::ioctl(device, TIOCGWINSZ, nullptr) == 0 || errno == ENOTTY);
  };
  CHECK(inside(open_and_steer, keeps) == 0);
  CHECK(inside(open_and_steer) == 1);
  char path[] = "/tmp/waggle-sandbox-XXXXXX";
  int const ours = ::mkstemp(path);
  REQUIRE(ours >= 0);
  CHECK(inside([&] { return ::open(path, O_RDWR) >= 0; }, keeps) == 1);
  CHECK(inside([&] { return ::open(path, O_WRONLY) >= 0; }, keeps) == 1);
  CHECK(inside([&] { return ::open(path, O_RDONLY) >= 0; }, keeps) == 1);
  CHECK(inside([] { return ::open("/dev/zero", O_RDWR) >= 0; }, keeps) == 1);
  CHECK(inside([] { return ::open("/dev/null", O_RDWR | O_CREAT, 0600) >= 0; }, keeps) == 1);
  CHECK(inside([] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; }, keeps) == 1);
  CHECK(inside([] { return ::open("/etc/ssl", O_RDONLY | O_DIRECTORY) >= 0; }, keeps) == 0);
  CHECK(inside([] { return ::open("/etc/passwd", O_RDONLY) >= 0; }, keeps) == 1);
  ::close(ours);
  ::unlink(path);
}

TEST_CASE("sandbox, what is steered is no terminal: nothing is typed into it") {
  // In a session that owns it, where all of this works outside.
  Fd const master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(master);
  REQUIRE(::grantpt(master.get()) == 0);
  REQUIRE(::unlockpt(master.get()) == 0);
  std::string const name = ::ptsname(master.get());
  Keeps const keeps{{"/dev/null"}, {}};
  pid_t const pid = ::fork();
  if (pid == 0) {
    ::setsid();
    int const terminal = ::open(name.c_str(), O_RDWR);
    int discipline = 0;
    if (terminal < 0 || ::ioctl(terminal, TIOCSETD, &discipline) != 0) ::_exit(3);
    if (enter_sandbox(keeps).find("seccomp landlock") == std::string::npos) ::_exit(2);
    char letter = 'x';
    auto const refused = [&](unsigned long request, void* argument) {
      return ::ioctl(terminal, request, argument) != 0 && errno == EPERM;
    };
    bool const all = refused(TIOCSTI, &letter) && refused(TIOCLINUX, &letter) &&
                     refused(TIOCSETD, &discipline) && refused(TIOCSCTTY, nullptr) &&
                     refused(TIOCSTI | 0x100000000ul, &letter);
    winsize size{};
    bool const steered = ::ioctl(terminal, TIOCGWINSZ, &size) == 0;
    ::_exit(all && steered ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) {
    MESSAGE("skipped: this kernel has no Landlock");
    return;
  }
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("sandbox, a driver starts where everything is read and only its devices are written") {
  pid_t const pid = ::fork();
  if (pid == 0) {
    if (!keep_from_writing({{"/dev/null"}, {}})) ::_exit(2);
    bool wrong = ::open("/etc/passwd", O_RDONLY) < 0 || ::open("/dev/null", O_RDWR) < 0;
    // What it starts is bound too.
    std::thread([&] { wrong |= ::open("/tmp", O_TMPFILE | O_RDWR, 0600) >= 0; }).join();
    ::_exit(wrong ? 1 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) MESSAGE("skipped: this kernel has no Landlock");
  CHECK(WEXITSTATUS(status) != 1);
}

TEST_CASE("sandbox, the folders of the libraries in this process are kept for a GPU's") {
  auto const keeps = gpu_keeps();
  CHECK(std::ranges::any_of(keeps.folders, [](std::string const& folder) {
    return ::access((folder + "/libc.so.6").c_str(), R_OK) == 0;
  }));
  for (auto const& device : keeps.devices) CHECK(device.starts_with("/dev/"));
}

TEST_CASE("sandbox, what the kernel tells of a kept device is kept by the place where it lies") {
  namespace fs = std::filesystem;
  // Any device of this machine that lies on some bus plays the card.
  fs::path device;
  fs::path place;
  std::error_code none;
  for (auto const& entry : fs::directory_iterator("/dev")) {
    struct stat about {};

    if (::stat(entry.path().c_str(), &about) != 0 || !S_ISCHR(about.st_mode)) continue;
    place = fs::canonical("/sys/dev/char/" + std::to_string(major(about.st_rdev)) + ":" +
                              std::to_string(minor(about.st_rdev)) + "/device",
                          none);
    if (none) continue;
    device = entry.path();
    break;
  }
  if (device.empty()) {
    MESSAGE("skipped: no device of this machine lies on a bus that /sys knows");
    return;
  }
  char folder[] = "/tmp/waggle-dev-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  std::string const link = std::string(folder) + "/nvidia0";
  fs::create_symlink(device, link);
  auto const keeps = gpu_keeps(folder);
  CHECK(keeps.devices == std::vector<std::string>{link});
  CHECK(std::ranges::find(keeps.folders, place.string()) != keeps.folders.end());
  fs::remove_all(folder);
}

}  // namespace
}  // namespace waggle::worker
