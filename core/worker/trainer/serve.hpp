// SPDX-License-Identifier: MIT
#pragma once

namespace waggle::worker {

/// The trainer's end of the conversation (core/worker/messages.hpp): answers what comes over
/// `socket` until the node closes it. Returns the exit code: 0 at the node's end, 1 when it speaks
/// nonsense. Thread: main, before any other exists (the sandbox wants that).
[[nodiscard]] int serve(int socket);

/// Tells malloc to keep what it has: without this, training spends half its time in page faults.
/// To be called first in main.
void tune_malloc() noexcept;

}  // namespace waggle::worker
