// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/averaging/messages.hpp"
#include "core/averaging/state_sharing.hpp"

namespace waggle::averaging {

constexpr std::size_t kStateChunkBytes = 1u << 16;  ///< hivemind's STREAMING_CHUNK_SIZE_BYTES
constexpr std::size_t kMaxMetadataBytes = 16u << 20;

/// The metadata of a TrainingStateAverager: {epoch, group_bits, optimizer_metadata}.
[[nodiscard]] Bytes encode_state_metadata(StateSnapshot const& state);

/// One message of rpc_download_state: `head` and `tail` joined; `tail` looks into the encoded
/// tensor.
struct DownloadMessage {
  Bytes head;
  ByteView tail;
};

/// Cuts an encoded tensor into messages of at most kStateChunkBytes of buffer. `metadata` rides on
/// the first. Source: spec/hivemind-averaging.md section 1.9.
[[nodiscard]] std::vector<DownloadMessage> split_tensor(ByteView metadata,
                                                        TensorSpec const& tensor,
                                                        compress::CompressionType codec,
                                                        ByteView buffer);

/// Puts a stream of DownloadData together again and checks it against what is expected, before
/// memory is taken. Pure; decoding happens in feed() and finish().
class StateAssembler {
 public:
  explicit StateAssembler(Schema schema);
  /// Errors: malformed (another shape or dtype, too many tensors or bytes), invalid (a value is not
  /// finite).
  [[nodiscard]] Status feed(ByteView item);
  /// After the last message. Errors: malformed (tensors or metadata are missing).
  [[nodiscard]] Result<StateSnapshot> finish();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] Status complete_tensor();

  StateSnapshot state_;
  std::optional<Bytes> metadata_;
  std::size_t tensor_ = 0;  ///< the next one to complete
  std::size_t offset_ = 0;  ///< elements before it
  bool open_ = false;
  compress::CompressionType codec_ = compress::CompressionType::none;
  Bytes buffer_;
  std::uint64_t bytes_ = 0;
};

}  // namespace waggle::averaging
