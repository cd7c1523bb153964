// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/compress/codec.hpp"

namespace waggle::averaging {

/// Wire-stable: hivemind's MessageCode. Source: spec/hivemind-averaging.md section 2.1.
enum class MessageCode : std::uint8_t {
  no_code = 0,
  request_join = 1,
  accepted = 2,
  begin_allreduce = 3,
  part_for_averaging = 4,
  averaged_part = 5,
  not_declared = 6,
  not_a_leader = 7,
  bad_expiration_time = 8,
  bad_schema_hash = 9,
  bad_group_id = 10,
  duplicate_peer_id = 11,
  group_is_full = 12,
  not_looking_for_group = 13,
  protocol_violation = 14,
  internal_error = 15,
  cancelled = 16,
  group_disbanded = 17,
  bad_group_key = 18,
};

/// hivemind's spelling, "BEGIN_ALLREDUCE", for logs.
[[nodiscard]] std::string_view name(MessageCode code) noexcept;

constexpr std::size_t kMaxGroupIdBytes = 64;  ///< hivemind sends 20, or 27 with a phase
constexpr std::size_t kMaxGroupKeyBytes = 4096;
constexpr std::size_t kMaxTensorDims = 32;

struct JoinRequest {
  Bytes schema_hash;
  double expiration = 0;  ///< DHT time
  Bytes gather;
  bool client_mode = false;
  std::string group_key;
  friend bool operator==(JoinRequest const&, JoinRequest const&) = default;
};

[[nodiscard]] Bytes encode(JoinRequest const& message);
/// Errors: malformed, too_large.
[[nodiscard]] Result<JoinRequest> parse_join_request(ByteView bytes);

struct MessageFromLeader {
  MessageCode code = MessageCode::no_code;
  Bytes group_id;
  std::optional<PeerId> suggested_leader;
  std::vector<PeerId> ordered_peer_ids;
  std::vector<Bytes> gathered;
  friend bool operator==(MessageFromLeader const&, MessageFromLeader const&) = default;
};

[[nodiscard]] Bytes encode(MessageFromLeader const& message);
/// Errors: malformed, too_large (group, gather).
[[nodiscard]] Result<MessageFromLeader> parse_message_from_leader(ByteView bytes);

/// A Tensor message without its bytes, which stay where they were received.
struct TensorView {
  ByteView buffer;
  std::vector<std::uint32_t> size;
  bool requires_grad = false;
  std::string_view dtype;
  compress::CompressionType compression = compress::CompressionType::none;
  std::int32_t chunks = 0;
  /// Product of the sizes; nothing above 2^40.
  [[nodiscard]] std::optional<std::size_t> numel() const noexcept;
};

/// What describes a tensor that is about to be sent.
struct TensorHeader {
  std::vector<std::uint32_t> size;
  bool requires_grad = false;
  std::string_view dtype = "float32";
  compress::CompressionType compression = compress::CompressionType::none;
  std::int32_t chunks = 0;
};

struct AveragingData {
  MessageCode code = MessageCode::no_code;
  ByteView group_id;
  double weight = 0;
  std::optional<TensorView> tensor;
};

/// An AveragingData message up to its tensor's buffer, which must follow directly: `buffer_bytes`
/// long, and last. The buffer comes last because field order is free in protobuf; so a part is
/// framed without being copied.
[[nodiscard]] Bytes averaging_head(MessageCode code,
                                   ByteView group_id,
                                   double weight,
                                   TensorHeader const& tensor,
                                   std::size_t buffer_bytes);
/// A message without a tensor.
[[nodiscard]] Bytes averaging_message(MessageCode code, ByteView group_id);
/// Views into `bytes`, which must outlive the result. Errors: malformed, too_large.
[[nodiscard]] Result<AveragingData> parse_averaging_data(ByteView bytes);

struct DownloadData {
  ByteView metadata;
  std::optional<TensorView> tensor;
};

/// As averaging_head, for a DownloadData message. `metadata` empty: none.
[[nodiscard]] Bytes download_head(ByteView metadata,
                                  TensorHeader const& tensor,
                                  std::size_t buffer_bytes);
/// Views into `bytes`. Errors: malformed, too_large.
[[nodiscard]] Result<DownloadData> parse_download_data(ByteView bytes);

}  // namespace waggle::averaging
