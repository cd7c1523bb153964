// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace waggle {

/// Payload on its way from a caller's buffer to the socket, or back. What codecs and ciphers read
/// and write is not a copy; what the kernel does is not ours.
enum class Copied : std::uint8_t { send, receive };

#ifdef WAGGLE_COUNT_COPIES
inline constexpr bool kCountCopies = true;
#else
inline constexpr bool kCountCopies = false;
#endif

namespace detail {
inline std::array<std::atomic<std::uint64_t>, 2> copied_bytes{};
}

/// To be called wherever payload is copied, so that a test can pin how often it is. Free unless the
/// build counts (tests are built and it is not a release).
inline void note_copy(Copied way, std::size_t n) noexcept {
  if constexpr (kCountCopies) detail::copied_bytes[static_cast<std::size_t>(way)] += n;
}

/// So far, of all streams of this process. Always 0 where nothing is counted. Thread: any.
[[nodiscard]] inline std::uint64_t copied_bytes(Copied way) noexcept {
  return detail::copied_bytes[static_cast<std::size_t>(way)];
}

}  // namespace waggle
