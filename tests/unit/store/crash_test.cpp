// SPDX-License-Identifier: MIT
// What a kill and a bad disk do to core/store/store.hpp.
#include <random>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/store/store.hpp"

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using namespace waggle::store;

namespace {

constexpr std::uint64_t kMaxFile = 64 << 20;

/// Writes rows until killed, and tells each that the store acknowledged through `acknowledged`.
[[noreturn]] void write_for_ever(std::filesystem::path const& file, int acknowledged) {
  auto store = Store::open(file);
  if (!store) ::_exit(1);
  auto const start = store->ledger_sum("", -1);
  std::uint64_t n = start ? start->rounds : 0;
  for (;; ++n) {
    LedgerRow row;
    row.prefix = "p";
    row.outcome = "averaged";
    row.epoch = static_cast<std::int64_t>(n);
    row.samples = 1;
    Bytes const id(32, static_cast<std::byte>(n % 7));
    if (n % 5 == 0 && !store->put_manifest(id, Bytes(20'000, std::byte{1}))) ::_exit(2);
    if (n % 7 == 3 && !store->remove_blob(id)) ::_exit(3);
    if (!store->add_ledger(row)) ::_exit(4);
    std::uint64_t const done = n + 1;
    if (::write(acknowledged, &done, sizeof done) != sizeof done) ::_exit(5);
  }
}

std::uint64_t last_acknowledged(int fd) {
  std::uint64_t last = 0;
  std::uint64_t value = 0;
  while (::read(fd, &value, sizeof value) == sizeof value) last = value;
  return last;
}

void fill(std::filesystem::path const& file, int rows) {
  auto store = Store::open(file);
  REQUIRE_MESSAGE(store, store.error().detail);
  for (int i = 0; i < rows; ++i) {
    LedgerRow row;
    row.prefix = "p";
    row.operator_id = to_bytes("operator");
    row.outcome = "averaged";
    row.samples = 1;
    row.time = i;
    REQUIRE(store->add_ledger(row));
    if (i % 20) continue;
    KnownTask task;
    task.operator_id = to_bytes("operator");
    task.prefix = cat("task", i);
    task.envelope = Bytes(1000, std::byte{9});
    REQUIRE(store->put_task(task));
  }
}

/// Calls everything; results may be errors, never a crash.
void use(Store& store) {
  (void)store.tasks();
  (void)store.task(as_bytes("operator"), "task0");
  (void)store.peers(10);
  (void)store.ledger("p", 0, 10'000);
  (void)store.ledger_sum("", 0);
  (void)store.blobs();
  (void)store.setting("x");
  (void)store.put_setting("x", "y");
  LedgerRow row;
  row.prefix = "p";
  row.outcome = "local";
  (void)store.add_ledger(row);
}

}  // namespace

TEST_SUITE("Store, after a bad end") {
  TEST_CASE("a writer killed at random moments loses nothing it was told is there") {
    test::TempFolder folder;
    auto const file = folder / "s";
    std::mt19937 random(7);
    for (int round = 0; round < 12; ++round) {
      CAPTURE(round);
      int pipe_ends[2];
      REQUIRE(::pipe(pipe_ends) == 0);
      pid_t const child = ::fork();
      if (child == 0) {
        ::close(pipe_ends[0]);
        write_for_ever(file, pipe_ends[1]);
      }
      ::close(pipe_ends[1]);
      ::usleep(static_cast<useconds_t>(3000 + random() % 60'000));
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      CHECK(WIFSIGNALED(status));  // it ended by our hand, not by an error
      auto const acknowledged = last_acknowledged(pipe_ends[0]);
      ::close(pipe_ends[0]);
      auto store = Store::open(file);
      REQUIRE_MESSAGE(store, store.error().detail);
      CHECK(store->notice().find("damaged") == std::string::npos);
      CHECK(store->ledger_sum("p", -1)->rounds >= acknowledged);
    }
  }

  TEST_CASE("damage at random bytes: it opens, works, and says what it moved aside") {
    test::TempFolder folder;
    fill(folder / "whole", 400);
    auto const whole = read_file(folder / "whole", kMaxFile);
    REQUIRE(whole);
    REQUIRE(whole->size() > 40'000);
    std::mt19937 random(11);
    int moved = 0;
    for (int round = 0; round < 60; ++round) {
      CAPTURE(round);
      auto const file = folder / cat("torn", round);
      auto damaged = *whole;
      auto const hits = round < 30 ? 1 : 1u + random() % 2000;
      for (std::size_t i = 0; i < hits; ++i)
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      if (round % 10 == 9) damaged.resize(random() % damaged.size());
      REQUIRE(write_file(file, damaged, FileMode::secret));
      auto store = Store::open(file);
      REQUIRE_MESSAGE(store, store.error().detail);
      use(*store);
      if (!store->notice().empty()) {
        ++moved;
        CHECK(std::filesystem::exists(file.string() + ".torn-1"));
        CHECK(store->notice().find(".torn-1") != std::string::npos);
      }
      auto again = Store::open(file);
      CHECK_MESSAGE(again, again.error().detail);
    }
    CHECK(moved >= 20);
  }

  TEST_CASE("tasks and ledger rows outside the torn page are saved") {
    test::TempFolder folder;
    auto const file = folder / "s";
    fill(file, 400);
    auto content = read_file(file, kMaxFile);
    REQUIRE(content);
    constexpr std::size_t kPage = 4096;
    auto const rows_before = 400u;
    // A page in the middle of the file, wiped as a bad sector would.
    auto const page = content->size() / kPage / 2;
    for (std::size_t i = 0; i < kPage; ++i) (*content)[page * kPage + i] = std::byte{0xa5};
    REQUIRE(write_file(file, *content, FileMode::secret));
    auto store = Store::open(file);
    REQUIRE_MESSAGE(store, store.error().detail);
    REQUIRE(store->notice().find("saved") != std::string::npos);
    auto const rounds = store->ledger_sum("p", -1)->rounds;
    auto const tasks = store->tasks()->size();
    CHECK(rounds + tasks * 20 >= rows_before / 2);
    CHECK(rounds >= 200);
    CHECK(tasks >= 5);
  }

  TEST_CASE("a file of garbage and an empty file begin anew") {
    test::TempFolder folder;
    REQUIRE(write_file(folder / "garbage", Bytes(10'000, std::byte{0x5a}), FileMode::secret));
    auto garbage = Store::open(folder / "garbage");
    REQUIRE_MESSAGE(garbage, garbage.error().detail);
    CHECK(garbage->notice().find("nothing could be saved") != std::string::npos);
    CHECK(garbage->put_setting("a", "b"));
    REQUIRE(write_file(folder / "empty", {}, FileMode::secret));
    auto empty = Store::open(folder / "empty");
    REQUIRE(empty);
    CHECK(empty->notice().empty());
  }

  TEST_CASE("a torn log loses at most its own rows") {
    test::TempFolder folder;
    auto const file = folder / "s";
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    pid_t const child = ::fork();
    if (child == 0) {
      ::close(pipe_ends[0]);
      write_for_ever(file, pipe_ends[1]);
    }
    ::close(pipe_ends[1]);
    ::usleep(150'000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[0]);
    auto const log = file.string() + "-wal";
    REQUIRE(std::filesystem::exists(log));
    auto content = read_file(log, kMaxFile);
    REQUIRE(content);
    for (std::size_t i = content->size() / 2; i < content->size(); i += 97)
      (*content)[i] ^= std::byte{0xff};
    REQUIRE(write_file(log, *content, FileMode::secret));
    auto store = Store::open(file);
    REQUIRE_MESSAGE(store, store.error().detail);
    use(*store);
  }
}
