// SPDX-License-Identifier: MIT
#include "core/blob/disk.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "core/base/file.hpp"

#include "tests/support/small_disk.hpp"
#include "tests/support/temp_folder.hpp"

using namespace waggle;
using namespace waggle::blob;

namespace {

struct Content {
  std::vector<Bytes> chunks;
  Manifest manifest;
  BlobId id;

  explicit Content(std::vector<std::size_t> const& sizes) {
    int n = 0;
    for (auto const size : sizes) {
      chunks.emplace_back(size, static_cast<std::byte>(++n));
      manifest.size += size;
      manifest.chunks.push_back(crypto::sha256(chunks.back()));
    }
    id = manifest.id();
  }
};

}  // namespace

TEST_SUITE("Disk") {
  TEST_CASE("chunks written in any order make the plain file") {
    test::TempFolder folder;
    Disk const disk(folder / "blobs");
    Content const content({kChunkBytes, kChunkBytes, 100});
    for (std::size_t const i : {2u, 0u, 1u}) REQUIRE(disk.write(content.id, i, content.chunks[i]));
    REQUIRE(disk.finish(content.id, content.manifest.size));
    auto const path = disk.path_of(content.id);
    CHECK(path == folder / "blobs" / content.id.text().substr(0, 2) / content.id.text());
    auto const file = read_file(path, 1u << 24);
    REQUIRE(file);
    CHECK(file->size() == content.manifest.size);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(*disk.read(content.id, i, content.manifest.chunk_size(i), content.manifest.chunks[i]) ==
            content.chunks[i]);
    CHECK(disk.verify(content.id, content.manifest, {true, true, true}) ==
          std::vector<bool>{true, true, true});
    CHECK(disk.remove(content.id));
    CHECK(!disk.remove(content.id));
  }

  TEST_CASE("torn, short and missing files are noticed chunk by chunk") {
    test::TempFolder folder;
    Disk const disk(folder / "blobs");
    Content const content({kChunkBytes, kChunkBytes, 100});
    CHECK(disk.read(content.id, 0, kChunkBytes, content.manifest.chunks[0]).error().code ==
          Errc::not_found);
    CHECK(disk.verify(content.id, content.manifest, {true, true, true}) ==
          std::vector<bool>{false, false, false});
    for (std::size_t i = 0; i < 3; ++i) REQUIRE(disk.write(content.id, i, content.chunks[i]));
    auto bytes = Bytes{std::byte{99}};
    auto file = *read_file(disk.path_of(content.id), 1u << 24);
    file[kChunkBytes + 5] ^= std::byte{1};
    file.pop_back();
    REQUIRE(write_file(disk.path_of(content.id), file, FileMode::shared));
    CHECK(disk.verify(content.id, content.manifest, {true, true, true}) ==
          std::vector<bool>{true, false, false});
    CHECK(disk.verify(content.id, content.manifest, {true}) ==
          std::vector<bool>{true, false, false});
    for (std::size_t const i : {1u, 2u})
      CHECK(disk.read(content.id, i, content.manifest.chunk_size(i), content.manifest.chunks[i])
                .error()
                .code == Errc::malformed);
  }

  TEST_CASE("a link in a blob's place is not followed") {
    test::TempFolder folder;
    Disk const disk(folder / "blobs");
    Content const content({10});
    REQUIRE(write_file(folder / "victim", as_bytes("precious"), FileMode::shared));
    std::filesystem::create_directories(disk.path_of(content.id).parent_path());
    std::filesystem::create_symlink(folder / "victim", disk.path_of(content.id));
    CHECK(!disk.write(content.id, 0, content.chunks[0]));
    CHECK(to_string(*read_file(folder / "victim", 100)) == "precious");
  }

  TEST_CASE("finish cuts off what a torn write left behind the end") {
    test::TempFolder folder;
    Disk const disk(folder / "blobs");
    Content const content({10});
    REQUIRE(disk.write(content.id, 0, Bytes(500)));
    REQUIRE(disk.write(content.id, 0, content.chunks[0]));
    REQUIRE(disk.finish(content.id, 10));
    CHECK(std::filesystem::file_size(disk.path_of(content.id)) == 10);
  }

  TEST_CASE("drafts become blobs, and those of a killed process are swept") {
    test::TempFolder folder;
    Disk const disk(folder / "blobs");
    Content const content({10});
    REQUIRE(disk.append(disk.draft(1), 0, content.chunks[0]));
    REQUIRE(disk.adopt(disk.draft(1), content.id));
    REQUIRE(disk.append(disk.draft(2), 0, content.chunks[0]));
    disk.sweep();
    CHECK(!std::filesystem::exists(disk.draft(2)));
    CHECK(disk.verify(content.id, content.manifest, {true}) == std::vector<bool>{true});
    CHECK(disk.last_used(content.id) > 0);
    CHECK(disk.last_used(BlobId{}) == 0);
  }

  TEST_CASE("a full disk is too_large with need, have and path") {
    test::TempFolder folder;
    auto const body = [&]() -> int {
      Disk const disk(folder / "blobs");
      Content const content({kChunkBytes, kChunkBytes, kChunkBytes});
      if (!disk.room_for(kChunkBytes)) return 1;
      auto const none = disk.room_for(3 * kChunkBytes);
      if (none || none.error().code != Errc::too_large) return 2;
      if (!disk.write(content.id, 0, content.chunks[0])) return 3;
      if (!disk.write(content.id, 1, content.chunks[1])) return 4;
      auto const full = disk.write(content.id, 2, content.chunks[2]);
      if (full || full.error().code != Errc::too_large) return 5;
      for (std::string const part : {"disk full", "needs 1048576 bytes", "free", "blobs"})
        if (full.error().detail.find(part) == std::string::npos) return 6;
      return disk.verify(content.id, content.manifest, {true, true, true}) ==
                     std::vector<bool>{true, true, false}
                 ? 0
                 : 7;
    };
    int const outcome = test::on_small_disk(folder.path(), (2u << 20) + (200u << 10), body);
    if (outcome == -1)
      MESSAGE("skipped: this system allows no mount namespace");
    else
      CHECK(outcome == 0);
  }
}
