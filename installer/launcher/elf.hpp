// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace waggle::launcher {

/// Writes `loader` into an x86-64 program as its interpreter (PT_INTERP), in the room that
/// make-single-file left there. `file`: open for reading and writing. Errors: malformed (no such
/// program), too_large (no room for so long a path), io.
[[nodiscard]] Status set_interpreter(int file, std::string const& loader);

}  // namespace waggle::launcher
