// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"

namespace waggle::store {

/// A task we know, keyed by (operator, prefix).
struct KnownTask {
  Bytes operator_id;  ///< PeerID bytes
  std::string prefix;
  std::uint64_t version = 0;
  Bytes envelope;  ///< the signed record, as stored in the DHT
  bool joined = false;
  std::string state = "idle";  ///< idle | running | paused | finishing
  double last_used = 0;        ///< Unix seconds
};

/// An address that worked, or was told to us.
struct KnownPeer {
  Bytes peer_id;
  Bytes address;         ///< binary multiaddr
  double last_seen = 0;  ///< Unix seconds
  std::uint32_t failures = 0;
};

/// One row a round: what we gave.
struct LedgerRow {
  double time = 0;  ///< Unix seconds
  Bytes operator_id;
  std::string prefix;
  std::int64_t epoch = 0;
  std::uint64_t samples = 0;
  double gigaflop = 0;  ///< samples × training FLOPs of the model, in GFLOP: the credit
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint32_t group_size = 0;
  std::string outcome;  ///< averaged | local | failed
  double loss = 0;
  double seconds = 0;
  double kwh = 0;  ///< about: core/device/energy.hpp
};

struct LedgerSum {
  std::uint64_t rounds = 0;
  std::uint64_t samples = 0;
  double gigaflop = 0;
  double seconds = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  double kwh = 0;
};

/// What fell into one span of time.
struct LedgerSpan {
  double begin = 0;  ///< Unix seconds
  std::uint64_t samples = 0;
  double seconds = 0;
  double kwh = 0;
};

struct CheckpointNote {
  std::int64_t epoch = 0;
  std::string file;  ///< name under checkpoints/
  std::string sha256;
  double time = 0;
};

/// The only SQL. One connection, one thread (the node posts here through its store executor). Opens
/// again after a kill at any byte (WAL, synchronous=FULL); numbered migrations; a torn database is
/// moved aside, named, and begun anew. Errors of every call: io (with SQLite's text and the path);
/// "disk full" is too_large.
class Store {
 public:
  [[nodiscard]] static Result<Store> open(std::filesystem::path const& file);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// What open() had to tell: a torn file moved aside, a migration. Empty if nothing.
  [[nodiscard]] std::string const& notice() const noexcept;
  [[nodiscard]] int schema_version() const noexcept;

  [[nodiscard]] Status put_task(KnownTask const& task);
  [[nodiscard]] Result<std::optional<KnownTask>> task(ByteView operator_id,
                                                      std::string_view prefix) const;
  [[nodiscard]] Result<std::vector<KnownTask>> tasks() const;
  [[nodiscard]] Status remove_task(ByteView operator_id, std::string_view prefix);

  [[nodiscard]] Status put_peer(KnownPeer const& peer);
  /// Most recently seen first.
  [[nodiscard]] Result<std::vector<KnownPeer>> peers(std::size_t limit) const;

  [[nodiscard]] Status put_manifest(ByteView blob_id, ByteView manifest);
  [[nodiscard]] Result<std::optional<Bytes>> manifest(ByteView blob_id) const;
  [[nodiscard]] Status mark_chunk(ByteView blob_id, std::uint32_t chunk);
  [[nodiscard]] Result<std::vector<std::uint32_t>> chunks(ByteView blob_id) const;
  [[nodiscard]] Status remove_blob(ByteView blob_id);
  [[nodiscard]] Result<std::vector<Bytes>> blobs() const;

  /// All of them or none, in one commit.
  [[nodiscard]] Status add_ledger(std::span<LedgerRow const> rows);

  [[nodiscard]] Status add_ledger(LedgerRow const& row) { return add_ledger({&row, 1}); }

  /// Rows with time ≥ since, all tasks if prefix is empty.
  [[nodiscard]] Result<LedgerSum> ledger_sum(std::string_view prefix, double since) const;
  /// Sums by spans of `width` seconds, the first beginning at `since`; only those that hold a row,
  /// oldest first, at most `limit`.
  [[nodiscard]] Result<std::vector<LedgerSpan>> ledger_spans(double since,
                                                             double width,
                                                             std::size_t limit) const;
  /// Unix seconds of the first row; nothing: there is none.
  [[nodiscard]] Result<std::optional<double>> ledger_begin() const;
  [[nodiscard]] Result<std::vector<LedgerRow>> ledger(std::string_view prefix,
                                                      double since,
                                                      std::size_t limit) const;

  [[nodiscard]] Status put_checkpoint(ByteView operator_id,
                                      std::string_view prefix,
                                      CheckpointNote const& note);
  /// Newest first.
  [[nodiscard]] Result<std::vector<CheckpointNote>> checkpoints(ByteView operator_id,
                                                                std::string_view prefix) const;
  [[nodiscard]] Status remove_checkpoint(ByteView operator_id,
                                         std::string_view prefix,
                                         std::string_view file);

  [[nodiscard]] Status put_setting(std::string_view key, std::string_view value);
  [[nodiscard]] Result<std::optional<std::string>> setting(std::string_view key) const;
  [[nodiscard]] Status remove_setting(std::string_view key);

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// One process a data directory: holds <dir>/lock for as long as it lives.
class DirectoryLock {
 public:
  /// Errors: refused ("data directory D is used by process PID"), io.
  [[nodiscard]] static Result<DirectoryLock> take(std::filesystem::path const& directory);
  DirectoryLock(DirectoryLock&&) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) noexcept;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace waggle::store
