// SPDX-License-Identifier: MIT
#include "core/node/tasks/blob_index.hpp"

#include <doctest/doctest.h>

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

TEST_CASE("held chunks are remembered across a restart, and forgotten on request") {
  test::Folder const folder;
  blob::Manifest manifest;
  manifest.size = 3 * blob::kChunkBytes;
  manifest.chunks.resize(3);
  auto const id = manifest.id();
  {
    auto store = store::Store::open(folder.path / "db");
    REQUIRE(store);
    ThreadPool disk("store", 1);
    auto index = BlobIndex::load(*store, disk);
    REQUIRE(index);
    (*index)->put_manifest(id, manifest.encode());
    (*index)->mark_held(id, 1);
    (*index)->mark_held(id, 77);  // beyond the blob: ignored
    CHECK((*index)->held(id) == std::vector<bool>{false, true, false});
  }
  auto store = store::Store::open(folder.path / "db");
  REQUIRE(store);
  InlineExecutor disk;
  auto index = BlobIndex::load(*store, disk);
  REQUIRE(index);
  CHECK((*index)->all() == std::vector<blob::BlobId>{id});
  CHECK((*index)->held(id) == std::vector<bool>{false, true, false});
  (*index)->forget(id);
  CHECK((*index)->all().empty());
  CHECK(!(*index)->manifest(id));
}
