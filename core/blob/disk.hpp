// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include "core/blob/blob.hpp"

namespace waggle::blob {

/// The files of blobs/: one plain file a blob, blobs/aa/<id>, grown in place. Which of its chunks
/// are there is the Index's business. Holds nothing but the folder's name, so calls may come from
/// any thread; two writers of one chunk write the same bytes. Errors: io, too_large (the disk is
/// full: need, have, path).
class Disk {
 public:
  explicit Disk(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::filesystem::path path_of(BlobId const& id) const;

  [[nodiscard]] Status write(BlobId const& id, std::size_t chunk, ByteView bytes) const;
  /// Exactly `size` bytes, compared with `hash`. Errors: malformed (torn: other bytes, too short),
  /// not_found, io.
  [[nodiscard]] Result<Bytes> read(BlobId const& id,
                                   std::size_t chunk,
                                   std::size_t size,
                                   crypto::Sha256 const& hash) const;
  /// Which of the `claimed` chunks are there whole. Cost: one pass of SHA-256 over them.
  [[nodiscard]] std::vector<bool> verify(BlobId const& id,
                                         Manifest const& manifest,
                                         std::vector<bool> const& claimed) const;
  /// Makes a complete file durable and cuts off what a torn write left behind its end.
  [[nodiscard]] Status finish(BlobId const& id, std::uint64_t size) const;
  /// Returns whether there was a file.
  bool remove(BlobId const& id) const noexcept;

  /// Notes that it was used now; and when that was, in the file system's clock (0: not there).
  void touch(BlobId const& id) const noexcept;
  [[nodiscard]] std::int64_t last_used(BlobId const& id) const noexcept;

  /// Errors: too_large (need, have, path) unless `need` bytes are free on the disk.
  [[nodiscard]] Status room_for(std::uint64_t need) const;

  /// A file that is being added, before its id is known: blobs/.adding-<tag>.
  [[nodiscard]] std::filesystem::path draft(std::uint64_t tag) const;
  [[nodiscard]] Status append(std::filesystem::path const& draft,
                              std::uint64_t offset,
                              ByteView bytes) const;
  [[nodiscard]] Status adopt(std::filesystem::path const& draft, BlobId const& id) const;
  /// Removes the drafts that a kill left. Call it before the first draft.
  void sweep() const noexcept;

 private:
  std::filesystem::path folder_;
};

/// Reads `size` bytes at `offset` of any file. Errors: io (also if it ends before).
[[nodiscard]] Result<Bytes> read_range(std::filesystem::path const& path,
                                       std::uint64_t offset,
                                       std::size_t size);

}  // namespace waggle::blob
