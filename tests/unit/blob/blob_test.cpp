// SPDX-License-Identifier: MIT
#include "core/blob/blob.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "core/base/scope.hpp"
#include "core/base/text.hpp"

#include "tests/support/small_disk.hpp"
#include "tests/unit/blob/swarm.hpp"

using namespace waggle;
using namespace waggle::test;
using namespace std::chrono_literals;
using blob::BlobId;
using blob::kChunkBytes;

TEST_SUITE("BlobService") {
  TEST_CASE("what one adds, another fetches, and it is the same file") {
    BlobSwarm swarm;
    auto& a = swarm.add();
    auto& b = swarm.add();
    auto const content = noise(3 * kChunkBytes + 777, 5);
    BlobId id;
    swarm.world.run(add_into(a, content, id));
    CHECK(a.blobs->complete(id));
    CHECK(!b.blobs->complete(id));
    a.blobs->serve_only({id});
    Fetched got;
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 5min, got));
    REQUIRE_MESSAGE(got.good(), got.detail());
    CHECK(**got.result == b.blobs->path_of(id));
    CHECK(b.content(id) == content);
    CHECK(got.last.done == content.size());
    CHECK(got.last.total == content.size());
    CHECK(b.blobs->bytes_fetched() == content.size());
    CHECK(a.blobs->bytes_served() >= content.size());
    CHECK(b.blobs->complete(id));
    // Once more: from the disk.
    auto const served = a.blobs->bytes_served();
    swarm.world.run(fetch_into(b, id, {}, 1s, got));
    CHECK(got.good());
    CHECK(a.blobs->bytes_served() == served);
  }

  TEST_CASE("empty and one-byte blobs work, from memory and from files") {
    BlobSwarm swarm;
    auto& a = swarm.add();
    auto& b = swarm.add();
    for (std::size_t const n : {std::size_t{0}, std::size_t{1}, kChunkBytes}) {
      CAPTURE(n);
      auto const content = noise(n, 3);
      BlobId id;
      swarm.world.run(add_into(a, content, id));
      REQUIRE(write_file(b.folder / "file", content, FileMode::shared));
      std::optional<Result<BlobId>> same;
      auto add_file = [](BlobPeer& peer, std::optional<Result<BlobId>>& out) -> Co<void> {
        auto added = co_await peer.blobs->add_file(peer.folder / "file");
        out.emplace(std::move(added));
      };
      swarm.world.run(add_file(b, same));
      REQUIRE(*same);
      CHECK(**same == id);
      CHECK(b.content(id) == content);
      b.blobs->remove(id);
      CHECK(!b.blobs->complete(id));
      a.blobs->serve_only({id});
      Fetched got;
      swarm.world.run(fetch_into(b, id, {a.host.self()}, 1min, got));
      REQUIRE_MESSAGE(got.good(), got.detail());
      CHECK(b.content(id) == content);
    }
  }

  TEST_CASE(
      "five fetchers feed each other, found through the DHT, and outlive a seeder that leaves "
      "half-way") {
    BlobSwarm swarm(sim::links::residential(3), 11);
    auto& seeder = swarm.add();
    std::vector<BlobPeer*> fetchers;
    for (int i = 0; i < 5; ++i) fetchers.push_back(&swarm.add());
    for (auto& peer : swarm.peers) swarm.world.run(join_dht(*peer, seeder.host.self()));
    auto const content = noise(12 * kChunkBytes + 5, 9);
    BlobId id;
    swarm.world.run(add_into(seeder, content, id));
    for (auto& peer : swarm.peers) peer->blobs->serve_only({id});

    std::vector<Fetched> got(fetchers.size());
    bool left = false;
    auto scenario = [](BlobSwarm& s,
                       BlobPeer& first,
                       std::vector<BlobPeer*>& all,
                       std::vector<Fetched>& out,
                       BlobId blob,
                       bool& gone) -> Co<void> {
      Scope scope(s.world);
      std::vector<PeerId> none;
      for (std::size_t i = 0; i < all.size(); ++i)
        scope.spawn("fetch", fetch_into(*all[i], blob, none, 2h, out[i]));
      while (scope.size() > 0 && !gone) {
        (void)co_await s.world.sleep_for(100ms);
        // Every chunk is somewhere among the fetchers: the seeder is not needed any more.
        std::vector<bool> somewhere(13);
        bool all_done = true;
        for (auto* peer : all) {
          auto const held = peer->index.held(blob);
          for (std::size_t c = 0; c < held.size(); ++c)
            if (held[c]) somewhere[c] = true;
          all_done &= peer->blobs->complete(blob);
        }
        if (std::find(somewhere.begin(), somewhere.end(), false) == somewhere.end() && !all_done) {
          first.host.kill();
          gone = true;
        }
      }
      (void)co_await scope.join();
    };
    swarm.world.run(scenario(swarm, seeder, fetchers, got, id, left));
    CHECK(left);
    std::uint64_t given = 0;
    for (std::size_t i = 0; i < fetchers.size(); ++i) {
      CAPTURE(i);
      REQUIRE_MESSAGE(got[i].good(), got[i].detail());
      CHECK(fetchers[i]->content(id) == content);
      given += fetchers[i]->blobs->bytes_served();
    }
    CHECK(given > 2 * content.size());
    CHECK(seeder.blobs->bytes_served() < 4 * content.size());
  }

  TEST_CASE("what was fetched before a kill is not fetched again; what is torn is") {
    BlobSwarm swarm(sim::links::residential(1), 3);
    auto& a = swarm.add();
    auto& b = swarm.add();
    auto const content = noise(10 * kChunkBytes, 4);
    BlobId id;
    swarm.world.run(add_into(a, content, id));
    a.blobs->serve_only({id});
    Fetched got;
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 3s, got));
    REQUIRE(got.result);
    REQUIRE(!*got.result);
    CHECK(got.result->error().code == Errc::timeout);
    swarm.world.run(b.restart());
    auto held = b.index.held(id);
    auto const before = static_cast<std::size_t>(std::count(held.begin(), held.end(), true));
    REQUIRE(before >= 2);
    REQUIRE(before < 10);
    // One of the held chunks is damaged while nobody looks.
    auto const torn =
        static_cast<std::size_t>(std::find(held.begin(), held.end(), true) - held.begin());
    auto file = b.content(id);
    file[torn * kChunkBytes + 17] ^= std::byte{4};
    REQUIRE(write_file(b.blobs->path_of(id), file, FileMode::shared));
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 10min, got));
    REQUIRE_MESSAGE(got.good(), got.detail());
    CHECK(b.content(id) == content);
    CHECK(b.blobs->bytes_fetched() == (10 - before + 1) * kChunkBytes);
    // A complete file that is cut short afterwards is noticed at the next start.
    REQUIRE(::truncate(b.blobs->path_of(id).c_str(), kChunkBytes + 5) == 0);
    swarm.world.run(b.restart());
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 10min, got));
    REQUIRE(got.good());
    CHECK(b.content(id) == content);
    CHECK(b.blobs->bytes_fetched() == 9 * kChunkBytes);
  }

  TEST_CASE("a torn chunk is never served, and is fetched again") {
    BlobSwarm swarm;
    auto& a = swarm.add();
    auto& b = swarm.add();
    auto& c = swarm.add();
    auto const content = noise(4 * kChunkBytes, 6);
    BlobId id;
    swarm.world.run(add_into(a, content, id));
    swarm.world.run(add_into(c, content, id));
    a.blobs->serve_only({id});
    c.blobs->serve_only({id});
    auto file = a.content(id);
    file[2 * kChunkBytes] ^= std::byte{1};
    REQUIRE(write_file(a.blobs->path_of(id), file, FileMode::shared));
    Fetched got;
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 20s, got));
    CHECK(!got.good());
    CHECK(got.last.done == 3 * kChunkBytes);
    CHECK(!a.blobs->complete(id));
    swarm.world.run(fetch_into(a, id, {c.host.self()}, 1min, got));
    REQUIRE_MESSAGE(got.good(), got.detail());
    CHECK(a.content(id) == content);
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 1min, got));
    CHECK(got.good());
  }

  TEST_CASE("only blobs of joined tasks are served") {
    BlobSwarm swarm;
    auto& a = swarm.add();
    auto& b = swarm.add();
    BlobId id;
    swarm.world.run(add_into(a, noise(1000, 1), id));
    Fetched got;
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 30s, got));
    REQUIRE(got.result);
    REQUIRE(!*got.result);
    CHECK(got.result->error().code == Errc::not_found);
    CHECK(got.result->error().detail.find(id.text()) != std::string::npos);
    a.blobs->serve_only({id});
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 2min, got));
    CHECK(got.good());
    a.blobs->serve_only({});
    b.blobs->remove(id);
    swarm.world.run(fetch_into(b, id, {a.host.self()}, 30s, got));
    CHECK(!got.good());
  }

  TEST_CASE("waits for the first provider, who comes ten minutes later and is found in the DHT") {
    BlobSwarm swarm;
    auto& a = swarm.add();
    auto& b = swarm.add();
    for (auto& peer : swarm.peers) swarm.world.run(join_dht(*peer, a.host.self()));
    auto const content = noise(kChunkBytes + 1, 2);
    BlobId id;
    Fetched got;
    auto scenario =
        [](BlobSwarm& s, BlobPeer& holder, BlobPeer& asker, Bytes bytes, BlobId& blob, Fetched& out)
        -> Co<void> {
      co_await add_into(asker, bytes, blob);  // only to learn the id
      asker.blobs->remove(blob);
      Scope scope(s.world);
      std::vector<PeerId> none;
      scope.spawn("fetch", fetch_into(asker, blob, none, 2h, out));
      (void)co_await s.world.sleep_for(10min);
      CHECK(!out.result);
      BlobId same;
      co_await add_into(holder, std::move(bytes), same);
      CHECK(same == blob);
      holder.blobs->serve_only({blob});
      (void)co_await scope.join();
    };
    auto const start = swarm.world.now();
    swarm.world.run(scenario(swarm, a, b, content, id, got));
    REQUIRE_MESSAGE(got.good(), got.detail());
    CHECK(b.content(id) == content);
    CHECK(got.at - start < 13min);
  }

  TEST_CASE("over the disk limit the least recently used blob that nobody joined goes first") {
    BlobSwarm swarm;
    auto& a = swarm.add();
    auto& b = swarm.add(5 * kChunkBytes);
    BlobId oldest;
    BlobId joined;
    BlobId recent;
    BlobId wanted;
    swarm.world.run(add_into(b, noise(kChunkBytes, 1), oldest));
    swarm.world.run(add_into(b, noise(2 * kChunkBytes, 2), joined));
    swarm.world.run(add_into(b, noise(kChunkBytes, 3), recent));
    b.blobs->serve_only({joined});
    swarm.world.run(add_into(a, noise(2 * kChunkBytes, 4), wanted));
    a.blobs->serve_only({wanted});
    Fetched got;
    swarm.world.run(fetch_into(b, wanted, {a.host.self()}, 1min, got));
    REQUIRE_MESSAGE(got.good(), got.detail());
    CHECK(!b.blobs->complete(oldest));
    CHECK(!std::filesystem::exists(b.blobs->path_of(oldest)));
    CHECK(b.blobs->complete(joined));
    CHECK(b.blobs->complete(recent));
    // All joined: nothing may go, and the error says need, have and where.
    b.blobs->serve_only({joined, recent, wanted});
    BlobId more;
    swarm.world.run(add_into(a, noise(kChunkBytes, 5), more));
    a.blobs->serve_only({more});
    swarm.world.run(fetch_into(b, more, {a.host.self()}, 1min, got));
    REQUIRE(!got.good());
    CHECK(got.result->error().code == Errc::too_large);
    for (auto const& part :
         {cat("needs ", kChunkBytes), std::string("0 of the 5242880"), b.options.folder.string()})
      CHECK_MESSAGE(got.detail().find(part) != std::string::npos, got.detail());
    for (auto const& id : {joined, recent, wanted}) CHECK(b.blobs->complete(id));
    // Room again: the same fetch goes through.
    b.blobs->remove(recent);
    swarm.world.run(fetch_into(b, more, {a.host.self()}, 1min, got));
    CHECK_MESSAGE(got.good(), got.detail());
  }

  TEST_CASE("a full disk ends the fetch with need, have and path, and what came stays whole") {
    TempFolder place;
    auto const body = [&]() -> int {
      BlobSwarm swarm;
      auto& a = swarm.add();
      auto& b = swarm.add();
      b.options.folder = place / "blobs";
      swarm.world.run(b.restart());
      BlobId small;
      BlobId large;
      swarm.world.run(add_into(a, noise(2 * kChunkBytes, 1), small));
      swarm.world.run(add_into(a, noise(6 * kChunkBytes, 2), large));
      a.blobs->serve_only({small, large});
      b.blobs->serve_only({small, large});
      Fetched got;
      swarm.world.run(fetch_into(b, small, {a.host.self()}, 1min, got));
      if (!got.good()) return 1;
      swarm.world.run(fetch_into(b, large, {a.host.self()}, 1min, got));
      if (got.good() || got.result->error().code != Errc::too_large) return 2;
      for (std::string const part : {"disk full", "needs 6291456", "free", "blobs"})
        if (got.detail().find(part) == std::string::npos) return 3;
      if (b.content(small) != noise(2 * kChunkBytes, 1)) return 4;
      b.blobs->remove(small);
      return 0;
    };
    int const outcome = on_small_disk(place.path(), 4 << 20, body);
    if (outcome == -1)
      MESSAGE("skipped: this system allows no mount namespace");
    else
      CHECK(outcome == 0);
  }

  TEST_CASE("two who wait for one blob share the fetch; one may leave") {
    BlobSwarm swarm(sim::links::residential(1), 3);
    auto& a = swarm.add();
    auto& b = swarm.add();
    auto const content = noise(6 * kChunkBytes, 4);
    BlobId id;
    swarm.world.run(add_into(a, content, id));
    a.blobs->serve_only({id});
    Fetched patient;
    Fetched hasty;
    auto scenario =
        [](BlobSwarm& s, BlobPeer& from, BlobPeer& to, BlobId blob, Fetched& x, Fetched& y)
        -> Co<void> {
      Scope scope(s.world);
      std::vector<PeerId> hints{from.host.self()};
      scope.spawn("patient", fetch_into(to, blob, hints, 10min, x));
      scope.spawn("hasty", fetch_into(to, blob, hints, 500ms, y));
      (void)co_await scope.join();
    };
    swarm.world.run(scenario(swarm, a, b, id, patient, hasty));
    CHECK(!hasty.good());
    REQUIRE_MESSAGE(patient.good(), patient.detail());
    CHECK(b.content(id) == content);
    CHECK(b.blobs->bytes_fetched() == content.size());
  }

  TEST_CASE("a blob that is larger than wanted is refused before it is on the disk") {
    BlobSwarm swarm(sim::links::residential(1), 3);
    auto& a = swarm.add();
    auto& b = swarm.add();
    BlobId id;
    swarm.world.run(add_into(a, noise(6 * kChunkBytes, 5), id));
    a.blobs->serve_only({id});
    Fetched refused;
    auto scenario = [](BlobPeer& from, BlobPeer& to, BlobId blob, Fetched& out) -> Co<void> {
      std::vector<PeerId> hints{from.host.self()};
      std::function<void(blob::FetchProgress const&)> const silent;
      auto const deadline = to.host.runtime().now() + 10min;
      auto got = co_await to.blobs->fetch(blob, std::move(hints), silent, deadline, kChunkBytes);
      out.result.emplace(std::move(got));
    };
    swarm.world.run(scenario(a, b, id, refused));
    REQUIRE_FALSE(refused.good());
    CHECK(refused.detail() == "the blob holds 6291456 bytes, at most 1048576 are taken");
    CHECK(refused.result->error().code == Errc::refused);
    CHECK(b.blobs->bytes_fetched() < 3 * kChunkBytes);
  }

  TEST_CASE("cancelling the waiter and closing the service both end a fetch at once") {
    BlobSwarm swarm(sim::links::residential(1), 3);
    auto& a = swarm.add();
    auto& b = swarm.add();
    BlobId id;
    swarm.world.run(add_into(a, noise(20 * kChunkBytes, 4), id));
    a.blobs->serve_only({id});
    Fetched got;
    auto cancel =
        [](BlobSwarm& s, BlobPeer& from, BlobPeer& to, BlobId blob, Fetched& out) -> Co<void> {
      Scope scope(s.world);
      std::vector<PeerId> hints{from.host.self()};
      scope.spawn("fetch", fetch_into(to, blob, std::move(hints), 1h, out));
      (void)co_await s.world.sleep_for(1500ms);
      co_await scope.close();
    };
    swarm.world.run(cancel(swarm, a, b, id, got));
    REQUIRE(got.result);
    REQUIRE(!*got.result);
    CHECK(got.result->error().code == Errc::cancelled);
    auto close =
        [](BlobSwarm& s, BlobPeer& from, BlobPeer& to, BlobId blob, Fetched& out) -> Co<void> {
      Scope scope(s.world);
      std::vector<PeerId> hints{from.host.self()};
      scope.spawn("fetch", fetch_into(to, blob, std::move(hints), 1h, out));
      (void)co_await s.world.sleep_for(1500ms);
      co_await to.restart();
      (void)co_await scope.join();
    };
    got.result.reset();
    swarm.world.run(close(swarm, a, b, id, got));
    REQUIRE(got.result);
    REQUIRE(!*got.result);
    CHECK(got.result->error().code == Errc::cancelled);
  }
}
