// SPDX-License-Identifier: MIT
#include "core/blob/providers.hpp"

#include <doctest/doctest.h>

#include "core/wire/msgpack.hpp"

#include "tests/sim/memory_host.hpp"

using namespace waggle;
using namespace waggle::blob;

TEST_SUITE("blob providers") {
  TEST_CASE("their place and form never change") {
    BlobId id;
    id.hash.fill(std::byte{0xab});
    CHECK(provider_key(id) ==
          dht::Id::of_text("waggle/blob/" + std::string(32, 'x').replace(0, 32, id.text())));
    auto const record = provider_record(id, sim::peer(1), 5.0);
    CHECK(record.key == provider_key(id));
    REQUIRE(record.subkey);
    CHECK((*record.subkey)[0] == std::byte{0xc4});  // msgpack bin 8
    CHECK(record.value == Bytes{std::byte{0xc3}});  // msgpack true
  }

  TEST_CASE("only well-formed entries of others count, and a flood is cut") {
    dht::Found found;
    CHECK(providers_in(found, sim::peer(1), 0).empty());
    found.dictionary.emplace();
    auto put = [&](Bytes subkey, Bytes value) {
      (*found.dictionary)[std::move(subkey)] = dht::Timed{std::move(value), 1};
    };
    BlobId const id{};
    for (std::uint64_t n = 1; n <= 3; ++n) {
      auto record = provider_record(id, sim::peer(n), 1);
      put(*record.subkey, record.value);
    }
    put(*provider_record(id, sim::peer(4), 1).subkey, wire::Msgpack(false).encode());
    put(to_bytes("garbage"), wire::Msgpack(true).encode());
    put(wire::Msgpack("text").encode(), wire::Msgpack(true).encode());
    put(wire::Msgpack(Bytes(500)).encode(), wire::Msgpack(true).encode());
    put({}, {});
    auto const some = providers_in(found, sim::peer(1), 0);
    CHECK(some.size() == 2);
    for (std::uint64_t n = 10; n < 500; ++n) {
      auto record = provider_record(id, sim::peer(n), 1);
      put(*record.subkey, record.value);
    }
    CHECK(providers_in(found, sim::peer(1), 0).size() == kMaxListed);
    CHECK(providers_in(found, sim::peer(1), 0) != providers_in(found, sim::peer(1), 100));
  }
}
