// SPDX-License-Identifier: MIT
#include "core/node/tasks/forget.hpp"

#include <algorithm>
#include <fstream>

#include <doctest/doctest.h>

#include "core/task/record.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

blob::BlobId blob_of(int n) {
  blob::BlobId id;
  id.hash[0] = static_cast<std::byte>(n);
  return id;
}

PeerId put(store::Store& store, std::string const& prefix, std::vector<int> const& blobs) {
  auto const key = crypto::Identity::generate();
  task::TaskRecord record;
  record.prefix = prefix;
  record.version = 1;
  record.toml = "# a task";
  for (int const n : blobs) record.blobs.push_back({std::to_string(n), blob_of(n), 100});
  store::KnownTask known;
  known.operator_id = to_bytes(key.peer_id().bytes());
  known.prefix = prefix;
  known.version = 1;
  known.envelope = record.seal(key);
  known.joined = true;
  REQUIRE(store.put_task(known));
  return key.peer_id();
}

}  // namespace

TEST_SUITE("forget_task") {
  TEST_CASE("takes the record and the saved states, and names the blobs that no other task needs") {
    test::Folder const folder;
    auto opened = store::Store::open(folder.path / "waggle.sqlite3");
    REQUIRE(opened);
    auto& store = *opened;
    auto const first = put(store, "first", {1, 2, 3});
    auto const second = put(store, "second", {3, 4});
    std::filesystem::create_directories(folder.path / "checkpoints");
    std::ofstream(folder.path / "checkpoints/state") << std::string(1000, 'x');
    REQUIRE(store.put_checkpoint(
        first.bytes(), "first", {.epoch = 5, .file = "state", .sha256 = "", .time = 1}));

    auto const forgotten = forget_task(store, folder.path, first, "first");
    REQUIRE(forgotten);
    CHECK(forgotten->freed == 1000);
    CHECK(!std::filesystem::exists(folder.path / "checkpoints/state"));
    CHECK(forgotten->blobs == std::vector<blob::BlobId>{blob_of(1), blob_of(2)});
    CHECK(!*store.task(first.bytes(), "first"));
    CHECK(*store.task(second.bytes(), "second"));

    auto const again = forget_task(store, folder.path, first, "first");
    REQUIRE(!again);
    CHECK(again.error().code == Errc::not_found);
    // Only the operator and the prefix together name a task.
    CHECK(!forget_task(store, folder.path, first, "second"));
    CHECK(forget_task(store, folder.path, second, "second")->blobs.size() == 2);
  }
}
