// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "core/store/detail/database.hpp"
#include "core/store/store.hpp"

namespace waggle::store {

/// What store.cpp and ledger.cpp share.
struct Store::State {
  explicit State(detail::Database d) : database(std::move(d)) {}

  detail::Database database;
  std::string notice;
};

namespace detail {

// SQLite's integers are signed.
inline std::int64_t clamped(std::uint64_t value) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

inline double finite(double value) {
  return std::isfinite(value) ? value : 0.0;
}

}  // namespace detail
}  // namespace waggle::store
