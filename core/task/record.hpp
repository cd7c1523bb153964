// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "core/blob/blob.hpp"
#include "core/crypto/keys.hpp"
#include "core/task/definition.hpp"

namespace waggle::task {

/// A blob that a task names: "train/train-images-idx3-ubyte.gz", "weights.safetensors".
struct BlobRef {
  std::string name;
  blob::BlobId id;
  std::uint64_t size = 0;
  friend bool operator==(BlobRef const&, BlobRef const&) = default;
};

/// The signed task record: libp2p envelope, domain "waggle-record", payload type "waggle/task/1".
/// The higher version wins whatever the DHT's expiration says; `ended` is a higher version that is
/// kept. DESIGN.md section 13.
struct TaskRecord {
  static constexpr std::size_t kMaxBytes = 64u << 10;

  std::string prefix;
  std::uint64_t version = 0;
  double valid_until = 0;  ///< Unix seconds; 0: for ever
  std::string toml;
  std::vector<BlobRef> blobs;
  bool ended = false;
  PeerId operator_id;  ///< who signed; set by open()

  [[nodiscard]] Bytes seal(crypto::Identity const& operator_key) const;
  /// Errors: malformed, bad_signature, refused (signed by another operator than `expected`, another
  /// prefix), too_large.
  [[nodiscard]] static Result<TaskRecord> open(ByteView envelope,
                                               PeerId const& expected,
                                               std::string_view prefix);

  /// As open(), whoever signed and whatever the prefix: both are then to be compared. Errors:
  /// malformed, bad_signature, too_large.
  [[nodiscard]] static Result<TaskRecord> open_any(ByteView envelope);

  /// DHT key text of place (a): "waggle/task/<operator>/<prefix>".
  [[nodiscard]] static std::string key_text(PeerId const& operator_id, std::string_view prefix);
};

}  // namespace waggle::task
