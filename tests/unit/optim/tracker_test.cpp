// SPDX-License-Identifier: MIT
#include "core/optim/tracker.hpp"

#include <doctest/doctest.h>

#include "tests/unit/optim/swarm.hpp"
