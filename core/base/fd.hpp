// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <unistd.h>

namespace waggle {

/// Owns one file descriptor; -1 is none.
class Fd {
 public:
  Fd() = default;

  explicit Fd(int fd) noexcept : fd_(fd) {}

  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  ~Fd() { reset(); }

  explicit operator bool() const noexcept { return fd_ >= 0; }

  [[nodiscard]] int get() const noexcept { return fd_; }

  /// Gives the descriptor away.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

  void reset() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace waggle
