// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "core/store/store.hpp"

namespace waggle::store {

/// The files of data directory's checkpoints/ together with their rows in the store: written
/// atomically, the newest kKept of a task kept, read back only if the hash fits.
///
/// A file is complete and flushed before its row names it, and a row goes before its file: whatever
/// a kill leaves behind is a file without a row, which sweep() removes. Thread: the store's.
class CheckpointFiles {
 public:
  /// Larger costs disk; smaller leaves nothing to go back to when the newest is damaged.
  static constexpr std::size_t kKept = 2;

  /// Lower-case hex of the SHA-256; a parameter because the store does no cryptography.
  using Digest = std::function<std::string(ByteView)>;
  /// Writes the whole content to an empty file at its start. The trainer does it through a passed
  /// descriptor.
  using Writer = std::function<Status(int fd)>;

  /// A checkpoint that verified.
  struct Loaded {
    CheckpointNote note;
    std::filesystem::path path;
    std::string notice;  ///< which newer ones were damaged; empty if none
  };

  /// `store` must outlive it. Creates `folder` when first needed.
  CheckpointFiles(Store& store, std::filesystem::path folder, Digest digest);

  /// Writes one and drops those beyond the kKept newest. `need`: the expected size, asked of the
  /// disk first (0: not). Errors: too_large (disk full: need, have, path), io, and those of
  /// `write`. After an error the older ones stand.
  [[nodiscard]] Result<CheckpointNote> save(ByteView operator_id,
                                            std::string_view prefix,
                                            std::int64_t epoch,
                                            double time,
                                            std::uint64_t need,
                                            Writer const& write);
  [[nodiscard]] Result<CheckpointNote> save(ByteView operator_id,
                                            std::string_view prefix,
                                            std::int64_t epoch,
                                            double time,
                                            ByteView content);

  /// The newest that verifies; damaged ones are removed and named in `notice`. Cost: one pass of
  /// hashing. Errors: not_found (none, or all damaged: says which), io.
  [[nodiscard]] Result<Loaded> newest(ByteView operator_id, std::string_view prefix);

  /// Removes all of a task. Returns the bytes freed.
  [[nodiscard]] Result<std::uint64_t> remove(ByteView operator_id, std::string_view prefix);

  /// Removes files of a task that no row names. Call it at start. Returns how many.
  std::size_t sweep(ByteView operator_id, std::string_view prefix);

 private:
  [[nodiscard]] std::string stem(ByteView operator_id, std::string_view prefix) const;
  [[nodiscard]] Result<std::string> digest_of(std::filesystem::path const& path) const;

  Store& store_;
  std::filesystem::path folder_;
  Digest digest_;
};

}  // namespace waggle::store
