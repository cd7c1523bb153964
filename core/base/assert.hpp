// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/base/text.hpp"

namespace waggle {

/// Prints file, line, condition, values and a backtrace to stderr, then aborts.
[[noreturn]] void assertion_failed(char const* file,
                                   int line,
                                   char const* condition,
                                   std::string const& values) noexcept;

}  // namespace waggle

/// A bug of ours if false; on in release too. Never on data from outside. The values are printed.
#define WAGGLE_ASSERT(condition, ...)                                                         \
  do {                                                                                        \
    if (!(condition)) [[unlikely]]                                                            \
      ::waggle::assertion_failed(__FILE__, __LINE__, #condition, ::waggle::cat(__VA_ARGS__)); \
  } while (false)
