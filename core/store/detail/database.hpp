// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace waggle::store::detail {

class Database;

/// One prepared statement. Binds copy; columns are read between a step() that said true and the
/// next.
class Statement {
 public:
  Statement(Database const& database, sqlite3_stmt* statement) noexcept;
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  template <std::integral T>
  Statement& bind(T value) {
    return bind_integer(static_cast<std::int64_t>(value));
  }

  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind(ByteView blob);
  /// Binds column `column` of a row of another statement, whatever its type.
  Statement& bind_column(Statement const& row, int column);

  /// True: a row is there. Errors as Database.
  [[nodiscard]] Result<bool> step();
  /// Steps to the end, ignores rows.
  [[nodiscard]] Status run();
  /// Makes it ready to be bound and stepped again.
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] Bytes blob(int column) const;

 private:
  Statement& bind_integer(std::int64_t value);

  Database const* database_;
  sqlite3_stmt* statement_;
  int next_ = 1;
  std::size_t bound_bytes_ = 0;
};

enum class OpenMode : std::uint8_t { create, read_only };

/// One SQLite connection, its codes turned into Results. Errors: too_large (no room on the disk:
/// need, have, path), io.
class Database {
 public:
  [[nodiscard]] static Result<Database> open(std::filesystem::path const& file, OpenMode mode);
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  [[nodiscard]] Status exec(char const* sql) const;
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const;
  /// The single integer that `sql` asks for.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql) const;

  /// Whether SQLite ever said that the file is torn or no database. Callers who get an error ask
  /// this.
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

  [[nodiscard]] std::filesystem::path const& file() const noexcept { return file_; }

  /// The error that the connection reports for `code`; `need` are the bytes that were to be
  /// written.
  [[nodiscard]] Error error(int code, std::size_t need) const;

 private:
  Database(sqlite3* handle, std::filesystem::path file) noexcept;

  sqlite3* handle_;
  std::filesystem::path file_;
  mutable bool damaged_ = false;
};

/// The error for a disk without room: need, have and path, as every front end shows it.
[[nodiscard]] Error disk_full(std::filesystem::path const& path, std::uint64_t need);

}  // namespace waggle::store::detail
