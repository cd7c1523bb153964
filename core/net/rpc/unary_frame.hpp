// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/base/bytes.hpp"

namespace waggle::net::rpc {

/// hivemind's PersistentConnectionRequest, the one message of unary calls: a call or its answer.
/// All fields are views into what was decoded. Pure. Source: spec/hivemind-dht.md section 7.
struct UnaryFrame {
  struct Call {
    ByteView peer;  ///< the callee; overwritten by the callee's knowledge of the caller
    std::string_view proto;
    ByteView data;
  };

  struct Answer {
    std::optional<ByteView> response;  ///< exactly one of the two
    std::optional<std::string_view> error;
  };

  ByteView call_id;
  std::optional<Call> call;  ///< at most one of the two, as the last of a oneof counts
  std::optional<Answer> answer;

  /// `body` is a frame without its length. A frame that is neither call nor answer (daemon control
  /// messages) decodes to neither. Errors: malformed (also: a required field is missing).
  [[nodiscard]] static Result<UnaryFrame> decode(ByteView body);
};

using CallId = std::array<std::byte, 16>;

/// Bodies without their length prefix. Required and oneof fields are written even when empty.
[[nodiscard]] Bytes encode_call(ByteView call_id,
                                ByteView peer,
                                std::string_view proto,
                                ByteView data);
[[nodiscard]] Bytes encode_response(ByteView call_id, ByteView response);
[[nodiscard]] Bytes encode_error(ByteView call_id, std::string_view text);

}  // namespace waggle::net::rpc
