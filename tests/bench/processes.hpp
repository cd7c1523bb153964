// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <new>
#include <string_view>

#include <sys/mman.h>

namespace waggle::bench {

/// A T that forked processes share; zeroed, never destroyed.
template <class T>
class Shared {
 public:
  Shared() {
    void* const at =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    value_ = at == MAP_FAILED ? nullptr : new (at) T();
  }

  ~Shared() {
    if (value_) munmap(value_, sizeof(T));
  }

  Shared(Shared const&) = delete;
  Shared& operator=(Shared const&) = delete;

  [[nodiscard]] T* operator->() const noexcept { return value_; }

  [[nodiscard]] T& operator*() const noexcept { return *value_; }

  explicit operator bool() const noexcept { return value_ != nullptr; }

 private:
  T* value_;
};

/// Forks `count` processes, each of which runs `work(i)` and exits. False if one failed or did not
/// end within `limit_s` seconds (it is then killed). The caller must not have threads yet.
[[nodiscard]] bool in_processes(std::size_t count,
                                double limit_s,
                                std::function<void(std::size_t)> const& work);

/// Seconds of CPU, user and system, that this process has used; its dead children not counted.
[[nodiscard]] double cpu_seconds();

/// CLOCK_MONOTONIC, the same in all processes.
[[nodiscard]] double monotonic_seconds();

}  // namespace waggle::bench
