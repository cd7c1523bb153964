// SPDX-License-Identifier: MIT
#include "core/store/detail/recovery.hpp"

#include <array>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/text.hpp"

namespace waggle::store::detail {
namespace {

constexpr int kTornKept = 9;
// A torn b-tree may point into itself; a loop in it ends here.
constexpr std::size_t kMaxRows = 4'000'000;

struct Table {
  char const* name;
  char const* called;
  char const* newest_last;  // an order that walks the other way than the default, to reach beyond a
                            // torn page
};

constexpr std::array<Table, 7> kTables = {{
    {"tasks", "tasks", "rowid DESC"},
    {"ledger", "ledger rows", "id DESC"},
    {"settings", "settings", "rowid DESC"},
    {"checkpoints", "checkpoints", "rowid DESC"},
    {"blobs", "blobs", "rowid DESC"},
    {"chunks", "chunks", "blob DESC, chunk DESC"},
    {"peers", "peers", "rowid DESC"},
}};

/// The table's columns in this database; empty if it has none or cannot be read.
std::vector<std::string> columns(Database const& database, char const* table) {
  std::vector<std::string> names;
  auto info = database.prepare(cat("SELECT name FROM pragma_table_info('", table, "')"));
  if (!info) return names;
  for (;;) {
    auto const row = info->step();
    if (!row || !*row) return names;
    names.push_back(info->text(0));
  }
}

std::vector<std::string> common(std::vector<std::string> const& a,
                                std::vector<std::string> const& b) {
  std::vector<std::string> both;
  for (auto const& name : a)
    for (auto const& other : b)
      if (name == other) both.push_back(name);
  return both;
}

/// Copies in one direction until the end or the first damage. Rows that are there already are left
/// alone.
Status copy(Database const& torn,
            Database const& fresh,
            std::string const& select,
            std::string const& insert,
            std::size_t width) {
  auto rows = torn.prepare(select);
  if (!rows) return ok();
  WAGGLE_TRY(auto writer, fresh.prepare(insert));
  for (std::size_t n = 0; n < kMaxRows; ++n) {
    auto const row = rows->step();
    if (!row || !*row) return ok();
    for (std::size_t i = 0; i < width; ++i) writer.bind_column(*rows, static_cast<int>(i));
    WAGGLE_TRY_STATUS(writer.run());
    writer.reset();
  }
  return ok();
}

}  // namespace

Result<std::filesystem::path> move_aside(std::filesystem::path const& file) {
  auto named = [&file](int n) {
    auto path = file;
    path += cat(".torn-", n);
    return path;
  };
  std::error_code failed;
  int n = 1;
  while (n < kTornKept && std::filesystem::exists(named(n), failed)) ++n;
  auto const target = named(n);
  // The log first: a kill in between leaves a database without its log, which is torn and moved
  // again.
  for (auto const* suffix : {"-wal", "-shm", ""}) {
    auto from = file;
    from += suffix;
    auto to = target;
    to += suffix;
    std::filesystem::remove(to, failed);
    std::filesystem::rename(from, to, failed);
    if (failed && failed != std::errc::no_such_file_or_directory)
      return Error{Errc::io, cat("cannot move ", from.string(), " aside: ", failed.message())};
  }
  return target;
}

Result<std::string> salvage(std::filesystem::path const& torn, Database const& fresh) {
  auto old = Database::open(torn, OpenMode::read_only);
  if (!old) return std::string("nothing could be saved");
  (void)old->exec("PRAGMA cell_size_check = ON; PRAGMA query_only = ON");
  std::string saved;
  WAGGLE_TRY_STATUS(fresh.exec("BEGIN IMMEDIATE"));
  for (auto const& table : kTables) {
    auto const names = common(columns(fresh, table.name), columns(*old, table.name));
    if (names.empty()) continue;
    std::string list;
    std::string marks;
    for (auto const& name : names) {
      list += cat(list.empty() ? "" : ",", name);
      marks += marks.empty() ? "?" : ",?";
    }
    auto const insert =
        cat("INSERT OR IGNORE INTO ", table.name, " (", list, ") VALUES (", marks, ")");
    // NOT INDEXED reads the table itself; an index may be the torn part.
    auto const select = cat("SELECT ", list, " FROM ", table.name, " NOT INDEXED");
    WAGGLE_TRY_STATUS(copy(*old, fresh, select, insert, names.size()));
    WAGGLE_TRY_STATUS(
        copy(*old, fresh, cat(select, " ORDER BY ", table.newest_last), insert, names.size()));
    WAGGLE_TRY(auto const rows, fresh.integer(cat("SELECT count(*) FROM ", table.name)));
    if (rows > 0) saved += cat(saved.empty() ? "saved " : ", ", rows, " ", table.called);
  }
  WAGGLE_TRY_STATUS(fresh.exec("COMMIT"));
  return saved.empty() ? std::string("nothing could be saved") : saved;
}

}  // namespace waggle::store::detail
