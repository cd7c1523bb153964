// SPDX-License-Identifier: MIT
#include "core/store/store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/base/text.hpp"
#include "core/store/detail/opening.hpp"
#include "core/store/detail/state.hpp"
#include "core/store/migrations.hpp"

namespace waggle::store {
namespace {

using detail::clamped;
using detail::finite;
using detail::Statement;

// The peer book is filled by strangers' words. Larger costs disk and slow starts; smaller forgets
// who worked.
constexpr std::int64_t kMaxPeers = 4096;
constexpr std::array<std::string_view, 4> kStates = {"idle", "running", "paused", "finishing"};

KnownTask read_task(Statement const& row) {
  KnownTask task;
  task.operator_id = row.blob(0);
  task.prefix = row.text(1);
  task.version = std::bit_cast<std::uint64_t>(row.integer(2));
  task.envelope = row.blob(3);
  task.joined = row.integer(4) != 0;
  task.state = row.text(5);
  task.last_used = row.real(6);
  return task;
}

constexpr char kTaskColumns[] =
    "SELECT operator, prefix, version, envelope, joined, state, last_used FROM tasks ";

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(std::filesystem::path const& file) {
  WAGGLE_TRY(auto opened, detail::open_whole(file));
  auto state = std::make_unique<State>(std::move(opened.database));
  state->notice = std::move(opened.notice);
  return Store(std::move(state));
}

std::string const& Store::notice() const noexcept {
  return state_->notice;
}

int Store::schema_version() const noexcept {
  return migrations().back().version;
}

Status Store::put_task(KnownTask const& task) {
  if (std::find(kStates.begin(), kStates.end(), task.state) == kStates.end())
    return Error{Errc::invalid,
                 cat("task state \"", task.state, "\": idle, running, paused or finishing")};
  WAGGLE_TRY(
      auto put,
      state_->database.prepare(
          "INSERT INTO tasks (operator, prefix, version, envelope, joined, state, last_used) "
          "VALUES (?,?,?,?,?,?,?) ON CONFLICT (operator, prefix) DO UPDATE SET "
          "version = excluded.version, envelope = excluded.envelope, joined = excluded.joined, "
          "state = excluded.state, last_used = excluded.last_used"));
  put.bind(ByteView(task.operator_id))
      .bind(std::string_view(task.prefix))
      .bind(std::bit_cast<std::int64_t>(task.version));
  put.bind(ByteView(task.envelope))
      .bind(task.joined ? 1 : 0)
      .bind(std::string_view(task.state))
      .bind(finite(task.last_used));
  return put.run();
}

Result<std::optional<KnownTask>> Store::task(ByteView operator_id, std::string_view prefix) const {
  WAGGLE_TRY(auto get,
             state_->database.prepare(cat(kTaskColumns, "WHERE operator = ? AND prefix = ?")));
  get.bind(operator_id).bind(prefix);
  WAGGLE_TRY(bool const row, get.step());
  if (!row) return std::optional<KnownTask>{};
  return std::optional<KnownTask>(read_task(get));
}

Result<std::vector<KnownTask>> Store::tasks() const {
  WAGGLE_TRY(
      auto get,
      state_->database.prepare(cat(kTaskColumns, "ORDER BY last_used DESC, prefix, operator")));
  std::vector<KnownTask> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    all.push_back(read_task(get));
  }
}

Status Store::remove_task(ByteView operator_id, std::string_view prefix) {
  WAGGLE_TRY(auto remove,
             state_->database.prepare("DELETE FROM tasks WHERE operator = ? AND prefix = ?"));
  return remove.bind(operator_id).bind(prefix).run();
}

Status Store::put_peer(KnownPeer const& peer) {
  WAGGLE_TRY(auto put,
             state_->database.prepare(
                 "INSERT INTO peers (peer_id, address, last_seen, failures) VALUES (?,?,?,?) "
                 "ON CONFLICT (peer_id, address) DO UPDATE SET last_seen = excluded.last_seen, "
                 "failures = excluded.failures"));
  put.bind(ByteView(peer.peer_id))
      .bind(ByteView(peer.address))
      .bind(finite(peer.last_seen))
      .bind(peer.failures);
  WAGGLE_TRY_STATUS(put.run());
  WAGGLE_TRY(auto const count, state_->database.integer("SELECT count(*) FROM peers"));
  if (count <= kMaxPeers) return ok();
  WAGGLE_TRY(
      auto trim,
      state_->database.prepare(
          "DELETE FROM peers WHERE rowid IN (SELECT rowid FROM peers ORDER BY last_seen LIMIT ?)"));
  return trim.bind(count - kMaxPeers).run();
}

Result<std::vector<KnownPeer>> Store::peers(std::size_t limit) const {
  WAGGLE_TRY(auto get,
             state_->database.prepare("SELECT peer_id, address, last_seen, failures FROM peers "
                                      "ORDER BY last_seen DESC LIMIT ?"));
  get.bind(clamped(limit));
  std::vector<KnownPeer> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    all.push_back(
        {get.blob(0), get.blob(1), get.real(2), static_cast<std::uint32_t>(get.integer(3))});
  }
}

Status Store::put_manifest(ByteView blob_id, ByteView manifest) {
  WAGGLE_TRY(
      auto put,
      state_->database.prepare("INSERT INTO blobs (id, manifest) VALUES (?,?) "
                               "ON CONFLICT (id) DO UPDATE SET manifest = excluded.manifest"));
  return put.bind(blob_id).bind(manifest).run();
}

Result<std::optional<Bytes>> Store::manifest(ByteView blob_id) const {
  WAGGLE_TRY(auto get, state_->database.prepare("SELECT manifest FROM blobs WHERE id = ?"));
  get.bind(blob_id);
  WAGGLE_TRY(bool const row, get.step());
  if (!row) return std::optional<Bytes>{};
  return std::optional<Bytes>(get.blob(0));
}

Status Store::mark_chunk(ByteView blob_id, std::uint32_t chunk) {
  WAGGLE_TRY(auto put,
             state_->database.prepare("INSERT OR IGNORE INTO chunks (blob, chunk) VALUES (?,?)"));
  return put.bind(blob_id).bind(chunk).run();
}

Result<std::vector<std::uint32_t>> Store::chunks(ByteView blob_id) const {
  WAGGLE_TRY(auto get,
             state_->database.prepare("SELECT chunk FROM chunks WHERE blob = ? ORDER BY chunk"));
  get.bind(blob_id);
  std::vector<std::uint32_t> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    all.push_back(static_cast<std::uint32_t>(get.integer(0)));
  }
}

Status Store::remove_blob(ByteView blob_id) {
  WAGGLE_TRY_STATUS(state_->database.exec("BEGIN IMMEDIATE"));
  auto remove = [&]() -> Status {
    for (auto const* sql :
         {"DELETE FROM chunks WHERE blob = ?", "DELETE FROM blobs WHERE id = ?"}) {
      WAGGLE_TRY(auto statement, state_->database.prepare(sql));
      WAGGLE_TRY_STATUS(statement.bind(blob_id).run());
    }
    return state_->database.exec("COMMIT");
  };
  auto removed = remove();
  if (!removed) (void)state_->database.exec("ROLLBACK");
  return removed;
}

Result<std::vector<Bytes>> Store::blobs() const {
  WAGGLE_TRY(auto get, state_->database.prepare("SELECT id FROM blobs ORDER BY id"));
  std::vector<Bytes> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    all.push_back(get.blob(0));
  }
}

Status Store::put_checkpoint(ByteView operator_id,
                             std::string_view prefix,
                             CheckpointNote const& note) {
  WAGGLE_TRY(auto put,
             state_->database.prepare(
                 "INSERT OR REPLACE INTO checkpoints (operator, prefix, epoch, file, sha256, time) "
                 "VALUES (?,?,?,?,?,?)"));
  put.bind(operator_id).bind(prefix).bind(note.epoch).bind(std::string_view(note.file));
  return put.bind(std::string_view(note.sha256)).bind(finite(note.time)).run();
}

Result<std::vector<CheckpointNote>> Store::checkpoints(ByteView operator_id,
                                                       std::string_view prefix) const {
  WAGGLE_TRY(
      auto get,
      state_->database.prepare(
          "SELECT epoch, file, sha256, time FROM checkpoints WHERE operator = ? AND prefix = ? "
          "ORDER BY epoch DESC, time DESC"));
  get.bind(operator_id).bind(prefix);
  std::vector<CheckpointNote> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    all.push_back({get.integer(0), get.text(1), get.text(2), get.real(3)});
  }
}

Status Store::remove_checkpoint(ByteView operator_id,
                                std::string_view prefix,
                                std::string_view file) {
  WAGGLE_TRY(auto remove,
             state_->database.prepare(
                 "DELETE FROM checkpoints WHERE operator = ? AND prefix = ? AND file = ?"));
  return remove.bind(operator_id).bind(prefix).bind(file).run();
}

Status Store::put_setting(std::string_view key, std::string_view value) {
  WAGGLE_TRY(auto put,
             state_->database.prepare("INSERT INTO settings (key, value) VALUES (?,?) "
                                      "ON CONFLICT (key) DO UPDATE SET value = excluded.value"));
  return put.bind(key).bind(value).run();
}

Result<std::optional<std::string>> Store::setting(std::string_view key) const {
  WAGGLE_TRY(auto get, state_->database.prepare("SELECT value FROM settings WHERE key = ?"));
  get.bind(key);
  WAGGLE_TRY(bool const row, get.step());
  if (!row) return std::optional<std::string>{};
  return std::optional<std::string>(get.text(0));
}

Status Store::remove_setting(std::string_view key) {
  WAGGLE_TRY(auto remove, state_->database.prepare("DELETE FROM settings WHERE key = ?"));
  return remove.bind(key).run();
}

}  // namespace waggle::store
