// SPDX-License-Identifier: MIT
#include "core/store/detail/opening.hpp"

#include <system_error>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/store/detail/recovery.hpp"
#include "core/store/migrations.hpp"

namespace waggle::store::detail {
namespace {

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

struct Checked {
  Database database;
  int was_version;
  bool damaged;
};

/// Opens and checks. `damaged` tells the caller to move the file aside; an error is one that moving
/// would not help.
Result<Checked> open_checked(std::filesystem::path const& file) {
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
  return Checked{std::move(database), damaged ? -1 : *version, damaged};
}

}  // namespace

Result<Opened> open_whole(std::filesystem::path const& file) {
  WAGGLE_TRY(auto opened, open_checked(file));
  std::string notice;
  if (opened.damaged) {
    { auto const closed = std::move(opened.database); }
    WAGGLE_TRY(auto const torn, move_aside(file));
    WAGGLE_TRY(opened, open_checked(file));
    if (opened.damaged)
      return Error{Errc::io,
                   cat(file.string(), " cannot be written: a fresh database is damaged at once")};
    WAGGLE_TRY(auto const saved, salvage(torn, opened.database));
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
  return Opened{std::move(opened.database), std::move(notice)};
}

}  // namespace waggle::store::detail
