// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace waggle::worker {

/// Takes from this process what a trainer never needs: sockets, new processes, other programs,
/// opening any file but a few of /proc and /sys for reading. What is open stays usable. seccomp
/// (EPERM) and, where the kernel has it, Landlock. Call it with one thread: Landlock binds the
/// caller and what it starts later. Returns what holds now: "seccomp landlock", "seccomp", or
/// "none: why". Source: the list that a prototype measured, in core/worker/README.md.
[[nodiscard]] std::string enter_sandbox();

}  // namespace waggle::worker
