// SPDX-License-Identifier: MIT
#include "core/store/migrations.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include "core/base/text.hpp"
#include "core/store/store.hpp"

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using namespace waggle::store;

namespace {

void exec(sqlite3* db, std::string const& sql) {
  char* error = nullptr;
  int const code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error);
  REQUIRE_MESSAGE(code == SQLITE_OK, cat(sql, ": ", error ? error : ""));
}

/// A database as the program of schema `version` left it.
void make_at(std::filesystem::path const& file, int version) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
  for (auto const& step : migrations())
    if (step.version <= version) exec(db, step.sql);
  exec(db, cat("PRAGMA user_version = ", version));
  if (version >= 1) {
    exec(db,
         "INSERT INTO tasks (operator, prefix, version, envelope, joined, last_used) VALUES "
         "(x'01', 'p', 4, x'0203', 1, 5.0)");
    exec(db,
         "INSERT INTO ledger (time, operator, prefix, epoch, samples, gigaflop, bytes_sent, "
         "bytes_received, group_size, outcome, loss, seconds) "
         "VALUES (1.0, x'01', 'p', 2, 3, 4.0, 5, 6, 7, 'averaged', 0.5, 8.0)");
  }
  sqlite3_close(db);
}

}  // namespace

TEST_SUITE("migrations") {
  TEST_CASE("are numbered 1, 2, 3 without a gap") {
    int expected = 1;
    for (auto const& step : migrations()) CHECK(step.version == expected++);
  }

  TEST_CASE("every older version opens, says so, and keeps its rows") {
    int const newest = migrations().back().version;
    for (int version = 0; version <= newest; ++version) {
      CAPTURE(version);
      test::TempFolder folder;
      auto const file = folder / "s";
      make_at(file, version);
      auto store = Store::open(file);
      REQUIRE_MESSAGE(store, store.error().detail);
      CHECK(store->schema_version() == newest);
      CHECK(store->notice().empty() == (version == 0 || version == newest));
      if (version == 0) continue;
      auto const task = store->task(Bytes{std::byte{1}}, "p");
      REQUIRE(task);
      REQUIRE(task->has_value());
      CHECK((*task)->version == 4);
      CHECK((*task)->joined);
      CHECK((*task)->state == "idle");
      CHECK(store->ledger_sum("p", 0)->samples == 3);
      // What later steps brought works too.
      CHECK(store->put_manifest(Bytes(32), as_bytes("m")));
      CHECK(store->put_checkpoint(as_bytes("o"), "p", CheckpointNote{1, "f", "s", 2}));
    }
  }

  TEST_CASE("a newer program's database is refused and left alone") {
    test::TempFolder folder;
    auto const file = folder / "s";
    make_at(file, migrations().back().version);
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    exec(db, cat("PRAGMA user_version = ", migrations().back().version + 1));
    sqlite3_close(db);
    auto const store = Store::open(file);
    REQUIRE(!store);
    CHECK(store.error().code == Errc::refused);
    CHECK(store.error().detail.find("newer") != std::string::npos);
    CHECK(std::filesystem::exists(file));
  }
}
