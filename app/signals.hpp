// SPDX-License-Identifier: MIT
#pragma once

namespace waggle::app::signals {

/// From here on the first SIGINT or SIGTERM only counts, and the second ends the program at once
/// with 130; a closed standard output is an error of write, not death.
void catch_interrupts();
/// How many came: one means leave well.
[[nodiscard]] int count() noexcept;
/// Whether the last one was SIGTERM, which ends with 0 where Ctrl-C ends with 130.
[[nodiscard]] bool last_was_term() noexcept;
/// Waits up to `milliseconds`; returns early when a signal comes.
void wait(int milliseconds) noexcept;

}  // namespace waggle::app::signals
