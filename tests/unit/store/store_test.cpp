// SPDX-License-Identifier: MIT
#include "core/store/store.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"

#include "tests/support/small_disk.hpp"
#include "tests/support/temp_folder.hpp"

using namespace waggle;
using namespace waggle::store;

namespace {

Store open(std::filesystem::path const& file) {
  auto store = Store::open(file);
  REQUIRE_MESSAGE(store, store.error().detail);
  return std::move(*store);
}

KnownTask example_task() {
  KnownTask task;
  task.operator_id = to_bytes("operator");
  task.prefix = "fashion";
  task.version = std::numeric_limits<std::uint64_t>::max();
  task.envelope = Bytes(70'000, std::byte{7});
  task.joined = true;
  task.state = "running";
  task.last_used = 12.5;
  return task;
}

}  // namespace

TEST_SUITE("Store") {
  TEST_CASE("keeps tasks by operator and prefix, across a restart") {
    test::TempFolder folder;
    auto const file = folder / "waggle.sqlite3";
    {
      auto store = open(file);
      CHECK(store.notice().empty());
      REQUIRE(store.put_task(example_task()));
      auto other = example_task();
      other.operator_id = to_bytes("somebody else");
      other.version = 3;
      other.last_used = 99;
      REQUIRE(store.put_task(other));
    }
    auto store = open(file);
    CHECK(store.notice().empty());
    auto const found = store.task(as_bytes("operator"), "fashion");
    REQUIRE(found);
    REQUIRE(found->has_value());
    CHECK((*found)->version == std::numeric_limits<std::uint64_t>::max());
    CHECK((*found)->envelope.size() == 70'000);
    CHECK((*found)->joined);
    CHECK((*found)->state == "running");
    auto const all = store.tasks();
    REQUIRE(all);
    REQUIRE(all->size() == 2);
    CHECK(all->front().version == 3);  // used last
    REQUIRE(store.remove_task(as_bytes("operator"), "fashion"));
    CHECK(store.tasks()->size() == 1);
    CHECK(!store.task(as_bytes("operator"), "fashion")->has_value());

    struct stat info {};

    REQUIRE(::stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
  }

  TEST_CASE("put_task replaces and refuses an unknown state") {
    test::TempFolder folder;
    auto store = open(folder / "s");
    auto task = example_task();
    REQUIRE(store.put_task(task));
    task.state = "paused";
    task.joined = false;
    REQUIRE(store.put_task(task));
    CHECK(store.tasks()->size() == 1);
    CHECK(store.tasks()->front().state == "paused");
    task.state = "flying";
    auto const refused = store.put_task(task);
    REQUIRE(!refused);
    CHECK(refused.error().code == Errc::invalid);
    CHECK(store.tasks()->front().state == "paused");
  }

  TEST_CASE("the peer book gives the most recently seen first and stays bounded") {
    test::TempFolder folder;
    auto store = open(folder / "s");
    for (int i = 0; i < 40; ++i) {
      auto const seen = static_cast<double>(i % 20);
      REQUIRE(store.put_peer({to_bytes(cat("peer", i % 20)), to_bytes(cat("addr", i)), seen, 1}));
    }
    auto const some = store.peers(6);
    REQUIRE(some);
    REQUIRE(some->size() == 6);
    CHECK(some->front().last_seen == 19);
    CHECK(some->back().last_seen == 17);
    CHECK(store.peers(1000)->size() == 40);
  }

  TEST_CASE("the blob index notes each chunk once and forgets a blob whole") {
    test::TempFolder folder;
    auto store = open(folder / "s");
    Bytes const id(32, std::byte{1});
    Bytes const other(32, std::byte{2});
    REQUIRE(store.put_manifest(id, as_bytes("manifest")));
    REQUIRE(store.put_manifest(other, as_bytes("another")));
    for (std::uint32_t chunk : {5u, 0u, 5u, 4294967295u}) REQUIRE(store.mark_chunk(id, chunk));
    CHECK(*store.chunks(id) == std::vector<std::uint32_t>{0, 5, 4294967295u});
    CHECK(store.chunks(other)->empty());
    CHECK(store.blobs()->size() == 2);
    REQUIRE(store.remove_blob(id));
    CHECK(store.chunks(id)->empty());
    CHECK(!store.manifest(id)->has_value());
    CHECK(store.manifest(other)->has_value());
    CHECK(!store.put_manifest(as_bytes("short id"), as_bytes("x")));
  }

  TEST_CASE("the ledger sums by task and time, whatever the numbers") {
    test::TempFolder folder;
    auto store = open(folder / "s");
    LedgerRow row;
    row.operator_id = to_bytes("o");
    row.prefix = "a";
    row.samples = 100;
    row.gigaflop = 1.5;
    row.seconds = 2;
    row.bytes_sent = 10;
    row.outcome = "averaged";
    row.loss = 0.25;
    row.kwh = 0.25;
    for (int i = 0; i < 5; ++i) {
      row.time = i;
      row.epoch = i;
      REQUIRE(store.add_ledger(row));
    }
    row.prefix = "b";
    row.loss = std::nan("");
    row.gigaflop = std::numeric_limits<double>::infinity();
    row.samples = std::numeric_limits<std::uint64_t>::max();
    REQUIRE(store.add_ledger(row));
    REQUIRE(store.add_ledger(row));
    auto const a = store.ledger_sum("a", 1);
    REQUIRE(a);
    CHECK(a->rounds == 4);
    CHECK(a->samples == 400);
    CHECK(a->gigaflop == doctest::Approx(6));
    CHECK(store.ledger_sum("", 0)->rounds == 7);
    CHECK(store.ledger_sum("", 0)->samples >= std::uint64_t{1} << 62);
    CHECK(store.ledger_sum("none", 0)->rounds == 0);
    CHECK(store.ledger_sum("a", 1)->kwh == doctest::Approx(1));
    CHECK(store.ledger("a", 4, 9)->front().kwh == 0.25);
    // Spans of two seconds from one on: the rows of 1 and 2, of 3 and 4 with the huge ones.
    auto const spans = store.ledger_spans(1, 2, 9);
    REQUIRE(spans);
    REQUIRE(spans->size() == 2);
    CHECK(spans->front().begin == 1);
    CHECK(spans->front().samples == 200);
    CHECK(spans->front().seconds == doctest::Approx(2 * row.seconds));
    CHECK(spans->front().kwh == doctest::Approx(0.5));
    CHECK(spans->back().begin == 3);
    CHECK(store.ledger_spans(1, 2, 1)->size() == 1);
    CHECK(store.ledger_spans(100, 2, 9)->empty());
    CHECK(**store.ledger_begin() == 1);
    auto const newest = store.ledger("a", 0, 2);
    REQUIRE(newest);
    REQUIRE(newest->size() == 2);
    CHECK(newest->front().epoch == 4);
    CHECK(newest->front().loss == 0.25);
  }

  TEST_CASE("settings are kept and replaced") {
    test::TempFolder folder;
    auto store = open(folder / "s");
    CHECK(!store.setting("port")->has_value());
    REQUIRE(store.put_setting("port", "31337"));
    REQUIRE(store.put_setting("port", "31338"));
    CHECK(**store.setting("port") == "31338");
  }

  TEST_CASE("a file that cannot be opened is an error with its path, not moved") {
    test::TempFolder folder;
    std::filesystem::create_directory(folder / "s");
    auto const store = Store::open(folder / "s");
    REQUIRE(!store);
    CHECK(store.error().code == Errc::io);
    CHECK(store.error().detail.find((folder / "s").string()) != std::string::npos);
    CHECK(std::filesystem::is_directory(folder / "s"));
  }

  TEST_CASE("a full disk is too_large with need, have and path, and nothing is lost") {
    test::TempFolder folder;
    auto const file = folder / "waggle.sqlite3";
    auto const body = [&]() -> int {
      auto store = Store::open(file);
      if (!store) return 1;
      if (!store->put_setting("kept", "yes")) return 2;
      Bytes const much(100'000, std::byte{1});
      bool full = false;
      for (int i = 0; i < 40 && !full; ++i) {
        Bytes id(32, static_cast<std::byte>(i));
        auto const put = store->put_manifest(id, much);
        if (put) continue;
        full = true;
        if (put.error().code != Errc::too_large) return 3;
        for (std::string const part : {"needs", "free", "waggle.sqlite3"})
          if (put.error().detail.find(part) == std::string::npos) return 4;
      }
      if (!full) return 5;
      auto const kept = store->setting("kept");
      if (!kept || !*kept || **kept != "yes") return 6;
      auto const before = store->blobs();
      if (!before) return 7;
      { auto const closed = std::move(*store); }
      auto again = Store::open(file);
      if (!again) return again.error().code == Errc::too_large ? 0 : 8;
      if (!again->notice().empty()) return 9;
      return again->blobs()->size() == before->size() ? 0 : 10;
    };
    int const outcome = test::on_small_disk(folder.path(), 1 << 20, body);
    if (outcome == -1)
      MESSAGE("skipped: this system allows no mount namespace");
    else
      CHECK(outcome == 0);
  }
}

TEST_SUITE("DirectoryLock") {
  TEST_CASE("the second process is told who holds it, and gets it after the first is gone") {
    test::TempFolder folder;
    auto const directory = folder / "data";
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_t const child = ::fork();
    if (child == 0) {
      auto const lock = DirectoryLock::take(directory);
      char const told = lock ? 'y' : 'n';
      (void)!::write(ready[1], &told, 1);
      ::sleep(30);
      ::_exit(0);
    }
    char told = 0;
    REQUIRE(::read(ready[0], &told, 1) == 1);
    REQUIRE(told == 'y');
    auto const refused = DirectoryLock::take(directory);
    REQUIRE(!refused);
    CHECK(refused.error().code == Errc::refused);
    CHECK(refused.error().detail == cat("data directory ",
                                        directory.string(),
                                        " is used by process ",
                                        static_cast<std::int64_t>(child)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    {
      auto held = DirectoryLock::take(directory);
      REQUIRE(held);
      CHECK(!DirectoryLock::take(directory));
      auto const moved = std::move(*held);
      CHECK(!DirectoryLock::take(directory));
    }
    CHECK(DirectoryLock::take(directory));
    ::close(ready[0]);
    ::close(ready[1]);
  }

  TEST_CASE("a file in the directory's place is an error with its path") {
    test::TempFolder folder;
    REQUIRE(write_file(folder / "data", as_bytes("x"), FileMode::shared));
    auto const lock = DirectoryLock::take(folder / "data");
    REQUIRE(!lock);
    CHECK(lock.error().code == Errc::io);
    CHECK(lock.error().detail.find("data") != std::string::npos);
  }
}
