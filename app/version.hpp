// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace waggle::app {

/// What --version prints: the version; the commit; the trainer's libtorch, which the trainer is
/// asked for, since any may stand in for another; or why it cannot be told.
[[nodiscard]] std::string version_text();

}  // namespace waggle::app
