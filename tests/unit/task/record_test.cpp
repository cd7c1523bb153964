// SPDX-License-Identifier: MIT
#include "core/task/record.hpp"

#include <limits>
#include <random>

#include <doctest/doctest.h>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/wire/envelope.hpp"
#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::task;

namespace {

crypto::Identity identity(int n) {
  std::array<std::byte, 32> seed{};
  seed[0] = static_cast<std::byte>(n);
  return crypto::Identity::from_seed(seed);
}

TaskRecord example() {
  TaskRecord record;
  record.prefix = "p";
  record.version = std::numeric_limits<std::uint64_t>::max() - 1;
  record.valid_until = 2e9;
  record.toml = "[task]\nprefix = \"p\"\n";
  BlobRef ref;
  ref.name = "train/a.gz";
  ref.id.hash.fill(std::byte{9});
  ref.size = 12'345'678'901;
  record.blobs.push_back(ref);
  ref.name = "weights.safetensors";
  record.blobs.push_back(ref);
  return record;
}

Bytes sealed_payload(crypto::Identity const& key, ByteView payload) {
  return wire::Envelope::seal(key, "waggle-record", as_bytes("waggle/task/1"), payload);
}

}  // namespace

TEST_SUITE("TaskRecord") {
  TEST_CASE("opens as it was sealed") {
    auto const key = identity(1);
    auto const record = example();
    auto const envelope = record.seal(key);
    CHECK(envelope == record.seal(key));
    auto const opened = TaskRecord::open(envelope, key.peer_id(), "p");
    REQUIRE_MESSAGE(opened, opened.error().detail);
    CHECK(opened->prefix == "p");
    CHECK(opened->version == record.version);
    CHECK(opened->valid_until == record.valid_until);
    CHECK(opened->toml == record.toml);
    CHECK(opened->blobs == record.blobs);
    CHECK(!opened->ended);
    CHECK(opened->operator_id == key.peer_id());
  }

  TEST_CASE("is refused under another operator or prefix") {
    auto const key = identity(1);
    auto const envelope = example().seal(key);
    auto const other = TaskRecord::open(envelope, identity(2).peer_id(), "p");
    REQUIRE(!other);
    CHECK(other.error().code == Errc::refused);
    auto const moved = TaskRecord::open(envelope, key.peer_id(), "q");
    REQUIRE(!moved);
    CHECK(moved.error().code == Errc::refused);
  }

  TEST_CASE("any changed byte is noticed") {
    auto const key = identity(1);
    auto const envelope = example().seal(key);
    for (std::size_t i = 0; i < envelope.size(); ++i) {
      auto changed = envelope;
      changed[i] ^= std::byte{1};
      CHECK(!TaskRecord::open(changed, key.peer_id(), "p"));
    }
    for (std::size_t n = 0; n < envelope.size(); ++n)
      CHECK(!TaskRecord::open(ByteView(envelope).first(n), key.peer_id(), "p"));
  }

  TEST_CASE("a signed record that breaks a limit or a rule is refused all the same") {
    auto const key = identity(1);
    auto const code = [&](TaskRecord const& record) {
      auto const opened = TaskRecord::open(record.seal(key), key.peer_id(), record.prefix);
      REQUIRE(!opened);
      return opened.error().code;
    };
    auto record = example();
    record.toml = std::string(TaskRecord::kMaxBytes, 'x');
    CHECK(code(record) == Errc::too_large);
    record = example();
    record.prefix = "not a prefix";
    CHECK(code(record) == Errc::malformed);
    record = example();
    record.valid_until = std::numeric_limits<double>::quiet_NaN();
    CHECK(code(record) == Errc::malformed);
    for (std::string const name :
         {"", "../x", "a/../b", "/a", "a//b", "a/", ".x", "a\nb", "\xff", "a\\b"}) {
      record = example();
      record.blobs[0].name = name;
      CAPTURE(name);
      CHECK(code(record) == Errc::malformed);
    }
    record = example();
    record.blobs[1].name = record.blobs[0].name;
    CHECK(code(record) == Errc::malformed);
    record = example();
    record.blobs[0].size = blob::kMaxBlobBytes + 1;
    CHECK(code(record) == Errc::too_large);
    record = example();
    for (int i = 0; i < 1030; ++i) {
      BlobRef ref;
      ref.name = cat(i);
      record.blobs.push_back(ref);
    }
    CHECK(code(record) == Errc::too_large);
  }

  TEST_CASE("random payloads under a good signature never crash") {
    auto const key = identity(1);
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
      Bytes payload(random() % 200);
      for (auto& byte : payload) byte = static_cast<std::byte>(random());
      (void)TaskRecord::open_any(sealed_payload(key, payload));
    }
  }

  TEST_CASE("its key text names operator and prefix") {
    auto const id = identity(1).peer_id();
    CHECK(TaskRecord::key_text(id, "p") == cat("waggle/task/", crypto::to_text(id), "/p"));
  }
}
