// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>

namespace waggle::device::detail {

/// A shared library loaded at run time, if this machine has it. Stays loaded: what it started
/// (handlers, threads of a driver) may outlive every user.
class Library {
 public:
  explicit Library(char const* name) noexcept
      : handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// Null if the library or the function is not there.
  template <class F>
  [[nodiscard]] F function(char const* name) const noexcept {
    return handle_ == nullptr ? nullptr : reinterpret_cast<F>(::dlsym(handle_, name));
  }

 private:
  void* handle_;
};

}  // namespace waggle::device::detail
