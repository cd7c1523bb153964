// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/runtime.hpp"
#include "core/base/system_runtime.hpp"

namespace waggle::test {

/// Runs `work` in a Scope on `runtime` until it ends. Fails the test after 60 s of real time.
void run(SystemRuntime& runtime, Co<void> work);

}  // namespace waggle::test
