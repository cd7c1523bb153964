// SPDX-License-Identifier: MIT
#include "core/store/store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/store/detail/database.hpp"
#include "core/store/detail/recovery.hpp"
#include "core/store/migrations.hpp"

namespace waggle::store {
namespace {

using detail::Database;
using detail::OpenMode;
using detail::Statement;

// The peer book is filled by strangers' words. Larger costs disk and slow starts; smaller forgets
// who worked.
constexpr std::int64_t kMaxPeers = 4096;
constexpr std::array<std::string_view, 4> kStates = {"idle", "running", "paused", "finishing"};

std::int64_t clamped(std::uint64_t value) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

double finite(double value) {
  return std::isfinite(value) ? value : 0.0;
}

/// Runs the migrations that `database` lacks. Returns the version it had.
Result<int> migrate(Database const& database) {
  WAGGLE_TRY(auto const found, database.integer("PRAGMA user_version"));
  int const newest = migrations().back().version;
  if (found > newest)
    return Error{Errc::refused,
                 cat(database.file().string(),
                     " was written by a newer waggle (schema ",
                     found,
                     ", this one knows ",
                     newest,
                     "); use that one or another data directory")};
  for (auto const& step : migrations()) {
    if (step.version <= found) continue;
    auto const sql = cat("BEGIN IMMEDIATE;",
                         step.sql,
                         ";PRAGMA user_version = ",
                         step.version,
                         ";PRAGMA application_id = ",
                         kApplicationId,
                         ";COMMIT");
    WAGGLE_TRY_STATUS(database.exec(sql.c_str()));
  }
  return static_cast<int>(found);
}

Result<bool> is_whole(Database const& database) {
  WAGGLE_TRY(auto check, database.prepare("PRAGMA integrity_check(1)"));
  WAGGLE_TRY(bool const row, check.step());
  return row && check.text(0) == "ok";
}

struct Opened {
  Database database;
  int was_version;
  bool damaged;
};

/// Opens and checks. `damaged` tells the caller to move the file aside; an error is one that moving
/// would not help.
Result<Opened> open_checked(std::filesystem::path const& file) {
  WAGGLE_TRY(auto database, Database::open(file, OpenMode::create));
  auto prepare = [&database]() -> Result<int> {
    WAGGLE_TRY_STATUS(database.exec(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON"));
    WAGGLE_TRY(bool const whole, is_whole(database));
    if (!whole) return -1;
    return migrate(database);
  };
  auto version = prepare();
  bool const damaged = database.damaged() || (version && *version < 0);
  if (!version && !damaged) return std::move(version).error();
  return Opened{std::move(database), damaged ? -1 : *version, damaged};
}

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

struct Store::State {
  explicit State(Database d) : database(std::move(d)) {}

  Database database;
  std::string notice;
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(std::filesystem::path const& file) {
  WAGGLE_TRY(auto opened, open_checked(file));
  std::string notice;
  if (opened.damaged) {
    { auto const closed = std::move(opened.database); }
    WAGGLE_TRY(auto const torn, detail::move_aside(file));
    WAGGLE_TRY(opened, open_checked(file));
    if (opened.damaged)
      return Error{Errc::io,
                   cat(file.string(), " cannot be written: a fresh database is damaged at once")};
    WAGGLE_TRY(auto const saved, detail::salvage(torn, opened.database));
    notice = cat(file.string(),
                 " was damaged; it was moved to ",
                 torn.string(),
                 " and begun anew (",
                 saved,
                 ")");
    log::warning("store", notice);
  } else if (opened.was_version > 0 && opened.was_version < migrations().back().version) {
    notice = cat(file.string(),
                 " was brought from schema ",
                 opened.was_version,
                 " to ",
                 migrations().back().version);
    log::info("store", notice);
  }
  std::error_code ignored;
  std::filesystem::permissions(
      file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
  auto state = std::make_unique<State>(std::move(opened.database));
  state->notice = std::move(notice);
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

namespace {

Status insert(Database& database, LedgerRow const& row) {
  WAGGLE_TRY(
      auto put,
      database.prepare(
          "INSERT INTO ledger (time, operator, prefix, epoch, samples, gigaflop, bytes_sent, "
          "bytes_received, group_size, outcome, loss, seconds, kwh) VALUES "
          "(?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  put.bind(finite(row.time))
      .bind(ByteView(row.operator_id))
      .bind(std::string_view(row.prefix))
      .bind(row.epoch);
  put.bind(clamped(row.samples))
      .bind(finite(row.gigaflop))
      .bind(clamped(row.bytes_sent))
      .bind(clamped(row.bytes_received));
  // SQLite turns NaN into NULL, which is what a loss that is none should be.
  put.bind(row.group_size)
      .bind(std::string_view(row.outcome))
      .bind(row.loss)
      .bind(finite(row.seconds))
      .bind(finite(row.kwh));
  return put.run();
}

}  // namespace

Status Store::add_ledger(std::span<LedgerRow const> rows) {
  WAGGLE_TRY_STATUS(state_->database.exec("BEGIN IMMEDIATE"));
  Status added = ok();
  for (auto const& row : rows)
    if (added) added = insert(state_->database, row);
  if (added) added = state_->database.exec("COMMIT");
  if (!added) (void)state_->database.exec("ROLLBACK");
  return added;
}

Result<LedgerSum> Store::ledger_sum(std::string_view prefix, double since) const {
  // total() and not sum(): a stranger's numbers may have passed what an int64 sum holds, and sum()
  // then fails.
  WAGGLE_TRY(
      auto get,
      state_->database.prepare(
          "SELECT count(*), total(samples), total(gigaflop), total(seconds), total(bytes_sent), "
          "total(bytes_received), total(kwh) FROM ledger WHERE time >= ?1 AND (?2 = '' OR prefix = "
          "?2)"));
  get.bind(since).bind(prefix);
  WAGGLE_TRY(bool const row, get.step());
  LedgerSum sum;
  if (!row) return sum;
  auto whole = [&get](int column) {
    double const value = get.real(column);
    return value >= 9.2e18 ? std::uint64_t{1} << 63
                           : static_cast<std::uint64_t>(std::max(value, 0.0));
  };
  sum.rounds = static_cast<std::uint64_t>(get.integer(0));
  sum.samples = whole(1);
  sum.gigaflop = get.real(2);
  sum.seconds = get.real(3);
  sum.bytes_sent = whole(4);
  sum.bytes_received = whole(5);
  sum.kwh = get.real(6);
  return sum;
}

Result<std::vector<LedgerSpan>> Store::ledger_spans(double since,
                                                    double width,
                                                    std::size_t limit) const {
  WAGGLE_TRY(auto get,
             state_->database.prepare(
                 "SELECT CAST((time - ?1) / ?2 AS INTEGER) AS span, total(samples), "
                 "total(seconds), total(kwh) FROM ledger WHERE time >= ?1 GROUP BY span "
                 "ORDER BY span LIMIT ?3"));
  get.bind(since).bind(std::max(width, 1.0)).bind(clamped(limit));
  std::vector<LedgerSpan> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    LedgerSpan span;
    span.begin = since + std::max(width, 1.0) * static_cast<double>(get.integer(0));
    span.samples = static_cast<std::uint64_t>(std::clamp(get.real(1), 0.0, 9e18));
    span.seconds = get.real(2);
    span.kwh = get.real(3);
    all.push_back(span);
  }
}

Result<std::optional<double>> Store::ledger_begin() const {
  WAGGLE_TRY(
      auto get,
      state_->database.prepare("SELECT time FROM ledger WHERE time > 0 ORDER BY time LIMIT 1"));
  WAGGLE_TRY(bool const row, get.step());
  if (!row) return std::optional<double>();
  return std::optional<double>(get.real(0));
}

Result<std::vector<LedgerRow>> Store::ledger(std::string_view prefix,
                                             double since,
                                             std::size_t limit) const {
  WAGGLE_TRY(
      auto get,
      state_->database.prepare(
          "SELECT time, operator, prefix, epoch, samples, gigaflop, bytes_sent, bytes_received, "
          "group_size, outcome, loss, seconds, kwh FROM ledger WHERE time >= ?1 AND "
          "(?2 = '' OR prefix = ?2) ORDER BY time DESC, id DESC LIMIT ?3"));
  get.bind(since).bind(prefix).bind(clamped(limit));
  std::vector<LedgerRow> all;
  for (;;) {
    WAGGLE_TRY(bool const row, get.step());
    if (!row) return all;
    LedgerRow entry;
    entry.time = get.real(0);
    entry.operator_id = get.blob(1);
    entry.prefix = get.text(2);
    entry.epoch = get.integer(3);
    entry.samples = static_cast<std::uint64_t>(get.integer(4));
    entry.gigaflop = get.real(5);
    entry.bytes_sent = static_cast<std::uint64_t>(get.integer(6));
    entry.bytes_received = static_cast<std::uint64_t>(get.integer(7));
    entry.group_size = static_cast<std::uint32_t>(get.integer(8));
    entry.outcome = get.text(9);
    entry.loss = get.real(10);
    entry.seconds = get.real(11);
    entry.kwh = get.real(12);
    all.push_back(std::move(entry));
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

}  // namespace waggle::store
