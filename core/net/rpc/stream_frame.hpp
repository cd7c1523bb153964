// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle::net::rpc {

constexpr std::size_t kStreamHeaderBytes = 9;
/// Of an end marker or failure text: hivemind sends a line. Larger: a stranger's memory claim.
constexpr std::size_t kMaxEndBytes = 64u << 10;

/// Wire-stable: the marker byte of a frame.
enum class StreamMarker : std::uint8_t {
  message = 0,  ///< one request or answer
  end = 1,  ///< caller → callee: end of requests; callee → caller: the call failed, with RPCError
};

struct StreamItem {
  StreamMarker marker;
  Bytes body;
};

/// Reads frames of a streaming call (marker, big-endian u64 length, body): says where the next
/// bytes should go and takes them from there, so that a body is read in place. Keeps its state
/// across timeouts. Memory grows with what has come, not with what is announced. Pure. Source:
/// spec/hivemind-dht.md section 8.
class StreamParser {
 public:
  explicit StreamParser(std::size_t limit) : limit_(limit) {}

  /// Where to read to; never empty, and never past the end of the frame.
  [[nodiscard]] MutableBytes space();
  /// Takes the first `n` ≤ space().size() bytes of it. An item when one is whole.
  /// Errors: malformed (another marker), too_large (before any allocation). The stream is then of
  /// no more use.
  [[nodiscard]] Result<std::optional<StreamItem>> advance(std::size_t n);

  /// Nothing of the next frame has come.
  /// Bytes of memory taken for an item whose end has not come.
  [[nodiscard]] std::size_t held() const noexcept { return body_.size(); }

  [[nodiscard]] bool between_frames() const noexcept { return header_filled_ == 0; }

 private:
  [[nodiscard]] std::optional<StreamItem> finish();

  std::size_t limit_;
  std::array<std::byte, kStreamHeaderBytes> header_{};
  std::size_t header_filled_ = 0;
  StreamMarker marker_{};
  std::size_t body_size_ = 0;
  std::size_t body_filled_ = 0;
  Bytes body_;
};

[[nodiscard]] std::array<std::byte, kStreamHeaderBytes> stream_header(StreamMarker marker,
                                                                      std::uint64_t size) noexcept;

/// RPCError {1: message}, as it stands in a failure frame. The field is written even when empty.
[[nodiscard]] Bytes encode_rpc_error(std::string_view text);
/// The text, empty if there is none; what does not parse is shown as it is. Never longer than 1
/// KiB.
[[nodiscard]] std::string decode_rpc_error(ByteView body);

}  // namespace waggle::net::rpc
