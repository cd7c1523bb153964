// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace waggle::launcher {

/// Where libraries lie on x86-64 Linux: Debian's, Fedora's, Arch's folders.
[[nodiscard]] std::vector<std::string> library_folders();

inline constexpr char const* kHostLoader = "/lib64/ld-linux-x86-64.so.2";

/// Whether the host's own libraries are new enough for our program: then it runs on them, beside
/// the host's graphics driver, which may need newer ones than ours.
/// `needs`: a line a library, its name and the newest version of each set that we were linked with,
/// "libc.so.6 GLIBC_2.36", or its name alone. Errors: not_found with what is missing.
[[nodiscard]] Status host_suffices(std::string_view needs, std::vector<std::string> const& folders);

}  // namespace waggle::launcher
