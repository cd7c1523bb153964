// SPDX-License-Identifier: MIT
#include "core/store/migrations.hpp"

#include <array>

namespace waggle::store {
namespace {

// The CHECKs matter twice: they bound what a bug could write, and they sieve the rows that are
// saved from a torn file. A u64 (a task's version) is kept as the int64 of the same bits.
constexpr char kFirst[] = R"sql(
CREATE TABLE tasks (
  operator BLOB NOT NULL CHECK (typeof(operator) = 'blob' AND length(operator) BETWEEN 1 AND 64),
  prefix TEXT NOT NULL CHECK (typeof(prefix) = 'text' AND length(prefix) BETWEEN 1 AND 64),
  version INTEGER NOT NULL CHECK (typeof(version) = 'integer'),
  envelope BLOB NOT NULL CHECK (typeof(envelope) = 'blob'),
  joined INTEGER NOT NULL CHECK (joined IN (0, 1)),
  last_used REAL NOT NULL CHECK (typeof(last_used) = 'real'),
  PRIMARY KEY (operator, prefix)
);
CREATE TABLE peers (
  peer_id BLOB NOT NULL CHECK (typeof(peer_id) = 'blob' AND length(peer_id) BETWEEN 1 AND 64),
  address BLOB NOT NULL CHECK (typeof(address) = 'blob' AND length(address) BETWEEN 1 AND 1024),
  last_seen REAL NOT NULL CHECK (typeof(last_seen) = 'real'),
  failures INTEGER NOT NULL CHECK (failures BETWEEN 0 AND 4294967295),
  PRIMARY KEY (peer_id, address)
);
CREATE INDEX peers_by_time ON peers (last_seen);
CREATE TABLE settings (
  key TEXT NOT NULL PRIMARY KEY CHECK (typeof(key) = 'text'),
  value TEXT NOT NULL CHECK (typeof(value) = 'text')
);
CREATE TABLE ledger (
  id INTEGER PRIMARY KEY,
  time REAL NOT NULL CHECK (typeof(time) = 'real'),
  operator BLOB NOT NULL CHECK (typeof(operator) = 'blob'),
  prefix TEXT NOT NULL CHECK (typeof(prefix) = 'text'),
  epoch INTEGER NOT NULL CHECK (typeof(epoch) = 'integer'),
  samples INTEGER NOT NULL CHECK (samples >= 0),
  gigaflop REAL NOT NULL CHECK (typeof(gigaflop) = 'real'),
  bytes_sent INTEGER NOT NULL CHECK (bytes_sent >= 0),
  bytes_received INTEGER NOT NULL CHECK (bytes_received >= 0),
  group_size INTEGER NOT NULL CHECK (group_size BETWEEN 0 AND 4294967295),
  outcome TEXT NOT NULL CHECK (typeof(outcome) = 'text'),
  loss REAL,
  seconds REAL NOT NULL CHECK (typeof(seconds) = 'real')
);
CREATE INDEX ledger_by_time ON ledger (time);
)sql";

constexpr char kBlobsAndCheckpoints[] = R"sql(
CREATE TABLE blobs (
  id BLOB NOT NULL PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 32),
  manifest BLOB NOT NULL CHECK (typeof(manifest) = 'blob')
);
CREATE TABLE chunks (
  blob BLOB NOT NULL CHECK (typeof(blob) = 'blob' AND length(blob) = 32),
  chunk INTEGER NOT NULL CHECK (chunk BETWEEN 0 AND 4294967295),
  PRIMARY KEY (blob, chunk)
) WITHOUT ROWID;
CREATE TABLE checkpoints (
  operator BLOB NOT NULL CHECK (typeof(operator) = 'blob'),
  prefix TEXT NOT NULL CHECK (typeof(prefix) = 'text'),
  epoch INTEGER NOT NULL CHECK (typeof(epoch) = 'integer'),
  file TEXT NOT NULL CHECK (typeof(file) = 'text'),
  sha256 TEXT NOT NULL CHECK (typeof(sha256) = 'text'),
  time REAL NOT NULL CHECK (typeof(time) = 'real'),
  PRIMARY KEY (operator, prefix, file)
);
)sql";

// A task that was joined went on by itself at every start; now a pause is remembered. ALTER keeps
// the rows.
constexpr char kTaskState[] = R"sql(
ALTER TABLE tasks ADD COLUMN state TEXT NOT NULL DEFAULT 'idle'
  CHECK (state IN ('idle', 'running', 'paused', 'finishing'));
CREATE INDEX ledger_by_task ON ledger (prefix, time);
)sql";

// What computing took of electricity, about; rows from before say nothing of it.
constexpr char kEnergy[] = R"sql(
ALTER TABLE ledger ADD COLUMN kwh REAL NOT NULL DEFAULT 0.0 CHECK (typeof(kwh) = 'real');
)sql";

constexpr std::array<Migration, 4> kMigrations = {{
    {1, kFirst},
    {2, kBlobsAndCheckpoints},
    {3, kTaskState},
    {4, kEnergy},
}};

}  // namespace

std::span<Migration const> migrations() noexcept {
  return kMigrations;
}

}  // namespace waggle::store
