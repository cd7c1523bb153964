// SPDX-License-Identifier: MIT
#include "core/store/detail/database.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <sqlite3.h>

#include "core/base/text.hpp"

namespace waggle::store::detail {
namespace {

constexpr int kBusyMilliseconds = 5000;  // a backup program may read; longer would freeze the node
constexpr std::size_t kPageBytes = 64 << 10;  // a few pages and their copies in the log

bool means_damage(int code) {
  int const primary = code & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

}  // namespace

Error disk_full(std::filesystem::path const& path, std::uint64_t need) {
  std::error_code failed;
  auto const folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  auto const space = std::filesystem::space(folder, failed);
  std::uint64_t const have = failed ? 0 : space.available;
  return Error{Errc::too_large,
               cat("disk full: ", path.string(), " needs ", need, " bytes, ", have, " are free")};
}

Statement::Statement(Database const& database, sqlite3_stmt* statement) noexcept
    : database_(&database), statement_(statement) {
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      next_(other.next_),
      bound_bytes_(other.bound_bytes_) {
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::bind_integer(std::int64_t value) {
  sqlite3_bind_int64(statement_, next_++, value);
  return *this;
}

Statement& Statement::bind(double value) {
  sqlite3_bind_double(statement_, next_++, value);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  // A null pointer would bind NULL.
  char const* data = text.data() ? text.data() : "";
  sqlite3_bind_text64(statement_, next_++, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  bound_bytes_ += text.size();
  return *this;
}

Statement& Statement::bind(ByteView blob) {
  void const* data = blob.data() ? static_cast<void const*>(blob.data()) : "";
  sqlite3_bind_blob64(statement_, next_++, data, blob.size(), SQLITE_TRANSIENT);
  bound_bytes_ += blob.size();
  return *this;
}

Statement& Statement::bind_column(Statement const& row, int column) {
  sqlite3_bind_value(statement_, next_++, sqlite3_column_value(row.statement_, column));
  return *this;
}

Result<bool> Statement::step() {
  int const code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->error(code, bound_bytes_);
}

Status Statement::run() {
  for (;;) {
    WAGGLE_TRY(bool const more, step());
    if (!more) return ok();
  }
}

void Statement::reset() {
  sqlite3_reset(statement_);
  next_ = 1;
  bound_bytes_ = 0;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  auto const* data = reinterpret_cast<char const*>(sqlite3_column_text(statement_, column));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Bytes Statement::blob(int column) const {
  auto const* data = static_cast<std::byte const*>(sqlite3_column_blob(statement_, column));
  if (!data) return {};
  return {data, data + sqlite3_column_bytes(statement_, column)};
}

Database::Database(sqlite3* handle, std::filesystem::path file) noexcept
    : handle_(handle), file_(std::move(file)) {
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      file_(std::move(other.file_)),
      damaged_(other.damaged_) {
}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(file_, other.file_);
  std::swap(damaged_, other.damaged_);
  return *this;
}

Database::~Database() {
  sqlite3_close(handle_);
}

Result<Database> Database::open(std::filesystem::path const& file, OpenMode mode) {
  sqlite3* handle = nullptr;
  int const flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == OpenMode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                              : SQLITE_OPEN_READWRITE);
  int const code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  Database database(handle, file);
  if (code != SQLITE_OK) return database.error(code, 0);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  // The file is ours, but a disk or another program may have written into it.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

Error Database::error(int code, std::size_t need) const {
  if (means_damage(code)) damaged_ = true;
  int const primary = code & 0xff;
  bool const no_room =
      primary == SQLITE_FULL ||
      (handle_ && primary != SQLITE_CONSTRAINT && sqlite3_system_errno(handle_) == ENOSPC &&
       (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN));
  if (no_room) return disk_full(file_, need + kPageBytes);
  char const* text = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  return Error{
      Errc::io,
      cat(file_.string(), ": ", text, means_damage(code) ? " (rebuilt at the next start)" : "")};
}

Status Database::exec(char const* sql) const {
  int const code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code, 0);
  return ok();
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  int const code =
      sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return error(code, 0);
  return Statement(*this, statement);
}

Result<std::int64_t> Database::integer(std::string_view sql) const {
  WAGGLE_TRY(auto statement, prepare(sql));
  WAGGLE_TRY(bool const row, statement.step());
  if (!row) return Error{Errc::io, cat(file_.string(), ": no answer to ", sql)};
  return statement.integer(0);
}

}  // namespace waggle::store::detail
