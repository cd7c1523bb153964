// SPDX-License-Identifier: MIT
#include "core/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

#include <execinfo.h>
#include <unistd.h>

namespace waggle {

void assertion_failed(char const* file,
                      int line,
                      char const* condition,
                      std::string const& values) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s  %s\n", file, line, condition, values.c_str());
  constexpr int kFrames = 48;
  void* frames[kFrames];
  backtrace_symbols_fd(frames, backtrace(frames, kFrames), STDERR_FILENO);
  std::abort();
}

}  // namespace waggle
