// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"
#include "core/store/store.hpp"

namespace waggle::store {
namespace {

constexpr std::size_t kMaxPidText = 20;

/// The pid that the holder wrote; "another process" if it has not come to that yet.
std::string holder(int fd) {
  char text[kMaxPidText];
  auto const n = ::pread(fd, text, sizeof text, 0);
  std::string digits;
  for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; ++i) digits += text[i];
  return digits.empty() ? std::string("another process") : cat("process ", digits);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::take(std::filesystem::path const& directory) {
  std::error_code failed;
  if (std::filesystem::create_directories(directory, failed))
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, failed);
  if (!std::filesystem::is_directory(directory, failed))
    return Error{Errc::io,
                 cat("cannot make the data directory ",
                     directory.string(),
                     ": ",
                     failed ? failed.message() : std::string("something else is there"))};
  auto const path = directory / "lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return Error{Errc::io, cat("cannot open ", path.string(), ": ", std::strerror(errno))};
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return Error{Errc::refused,
                   cat("data directory ", directory.string(), " is used by ", holder(fd.get()))};
    return Error{Errc::io, cat("cannot lock ", path.string(), ": ", std::strerror(errno))};
  }
  // Only for the message of the second comer: the lock itself is the kernel's and dies with us, so
  // a full disk does not matter here.
  auto const pid = cat(static_cast<std::int64_t>(::getpid()), "\n");
  if (::ftruncate(fd.get(), 0) == 0) (void)!::pwrite(fd.get(), pid.data(), pid.size(), 0);
  return DirectoryLock(fd.release());
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {
}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  if (this != &other) {
    Fd const old(std::exchange(fd_, std::exchange(other.fd_, -1)));
  }
  return *this;
}

DirectoryLock::~DirectoryLock() {
  Fd const closing(fd_);
}

}  // namespace waggle::store
