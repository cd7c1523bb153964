// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "core/base/bytes.hpp"

namespace waggle::test {

/// Reads tests/vectors/NAME.json of the source tree (bytes made by real implementations, see
/// ORIGIN.md).
nlohmann::json const& vectors(std::string const& name);

/// The bytes of a hex text in a vector file. Fails the test if it is none.
Bytes unhex(nlohmann::json const& text);

/// Names a vector group in the test output: "vectors libp2p/noise: 10 cases". Printed, so that a
/// reader sees what ran.
void announce(std::string const& group, std::size_t cases);

}  // namespace waggle::test
