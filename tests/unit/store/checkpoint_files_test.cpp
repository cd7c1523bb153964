// SPDX-License-Identifier: MIT
#include "core/store/checkpoint_files.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"

#include "tests/support/temp_folder.hpp"

using namespace waggle;
using namespace waggle::store;

namespace {

std::string sha256(ByteView content) {
  return to_hex(crypto::sha256(content));
}

struct Fixture {
  test::TempFolder folder;
  Store store;
  CheckpointFiles files;
  Bytes self = to_bytes("operator");

  Fixture()
      : store([this] {
          auto opened = Store::open(folder / "s");
          REQUIRE(opened);
          return std::move(*opened);
        }()),
        files(store, folder / "checkpoints", sha256) {}

  CheckpointNote save(std::int64_t epoch, std::string_view content) {
    auto note = files.save(self, "p", epoch, static_cast<double>(epoch), as_bytes(content));
    REQUIRE_MESSAGE(note, note.error().detail);
    return *note;
  }

  std::size_t on_disk() const {
    std::size_t n = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder / "checkpoints"))
      n += entry.is_regular_file() ? 1 : 0;
    return n;
  }

  std::string newest() {
    auto const loaded = files.newest(self, "p");
    REQUIRE_MESSAGE(loaded, loaded.error().detail);
    auto const content = read_file(loaded->path, 1 << 20);
    REQUIRE(content);
    return to_string(*content);
  }
};

}  // namespace

TEST_SUITE("CheckpointFiles") {
  TEST_CASE_FIXTURE(Fixture, "keeps the two newest") {
    for (int epoch = 1; epoch <= 5; ++epoch) save(epoch, cat("state ", epoch));
    CHECK(newest() == "state 5");
    CHECK(on_disk() == 2);
    CHECK(store.checkpoints(self, "p")->size() == 2);
  }

  TEST_CASE_FIXTURE(Fixture,
                    "falls back to the older one when the newest is damaged, and says so") {
    save(1, "older");
    auto const note = save(2, "newer");
    REQUIRE(write_file(folder / "checkpoints" / note.file, as_bytes("newfr"), FileMode::secret));
    auto const loaded = files.newest(self, "p");
    REQUIRE(loaded);
    CHECK(loaded->note.epoch == 1);
    CHECK(loaded->notice.find(note.file) != std::string::npos);
    CHECK(newest() == "older");
    CHECK(on_disk() == 1);
  }

  TEST_CASE_FIXTURE(Fixture, "a missing and a truncated file are damage too") {
    auto const first = save(1, "a state");
    auto const second = save(2, "another");
    std::filesystem::remove(folder / "checkpoints" / second.file);
    REQUIRE(::truncate((folder / "checkpoints" / first.file).c_str(), 3) == 0);
    auto const loaded = files.newest(self, "p");
    REQUIRE(!loaded);
    CHECK(loaded.error().code == Errc::not_found);
    CHECK(loaded.error().detail.find(first.file) != std::string::npos);
    CHECK(store.checkpoints(self, "p")->empty());
  }

  TEST_CASE_FIXTURE(Fixture, "a failed write leaves the older ones and no temporary file") {
    save(1, "good");
    CheckpointFiles::Writer const fails = [](int fd) -> Status {
      (void)!::write(fd, "half", 4);
      return Error{Errc::closed, "the trainer died"};
    };
    auto const note = files.save(self, "p", 2, 2, 0, fails);
    REQUIRE(!note);
    CHECK(note.error().code == Errc::closed);
    CHECK(newest() == "good");
    CHECK(on_disk() == 1);
  }

  TEST_CASE_FIXTURE(Fixture, "refuses ahead what the disk cannot hold") {
    CheckpointFiles::Writer const nothing = [](int) { return ok(); };
    auto const note = files.save(self, "p", 1, 1, std::uint64_t{1} << 60, nothing);
    REQUIRE(!note);
    CHECK(note.error().code == Errc::too_large);
    for (std::string const part : {"needs 1152921504606846976", "free", "checkpoints"})
      CHECK(note.error().detail.find(part) != std::string::npos);
  }

  TEST_CASE_FIXTURE(Fixture, "after a roll-back the lower epoch is the newest") {
    save(8, "eight");
    save(9, "nine");
    save(7, "seven again");
    CHECK(newest() == "seven again");
  }

  TEST_CASE_FIXTURE(Fixture, "sweep removes only files that no row names") {
    auto const note = save(1, "kept");
    REQUIRE(write_file(folder / "checkpoints" / cat(note.file, ".tmp"),
                       as_bytes("left by a kill"),
                       FileMode::secret));
    REQUIRE(files.save(as_bytes("other"), "p", 1, 1, as_bytes("another operator's")));
    CHECK(files.sweep(self, "p") == 1);
    CHECK(on_disk() == 2);
    CHECK(newest() == "kept");
    auto const freed = files.remove(self, "p");
    REQUIRE(freed);
    CHECK(*freed == 4);
    CHECK(on_disk() == 1);
  }

  TEST_CASE_FIXTURE(Fixture,
                    "a row that names a path outside the folder is dropped, not followed") {
    REQUIRE(write_file(folder / "secret", as_bytes("x"), FileMode::secret));
    REQUIRE(
        store.put_checkpoint(self, "p", CheckpointNote{9, "../secret", sha256(as_bytes("x")), 1}));
    CHECK(!files.newest(self, "p"));
    CHECK(std::filesystem::exists(folder / "secret"));
    CHECK(!files.save(self, "../p", 1, 1, as_bytes("x")));
  }
}
