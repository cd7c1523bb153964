// SPDX-License-Identifier: MIT
#include "core/optim/belief.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::optim;

namespace {

constexpr std::uint64_t kTarget = 512;

PeerId peer(int n) {
  std::string const text = "peer" + std::to_string(n);
  return *PeerId::from_bytes(as_bytes(text));
}

LocalProgress us(std::int64_t epoch, std::uint64_t samples, double rate, double now) {
  return {peer(0), epoch, samples, rate, now, false};
}

Claim claim(int n, std::int64_t epoch, std::uint64_t samples, double rate, double time) {
  Claim c;
  c.progress = {peer(n), epoch, samples, rate, time, false};
  c.owner = to_bytes("owner" + std::to_string(n));
  c.seen = c.connected = true;
  return c;
}

Belief belief_at(std::int64_t epoch, double now) {
  Belief b(peer(0), kTarget, {});
  b.entered(epoch, now);
  return b;
}

// Three honest peers and ourselves at epoch 12, one second into it.
std::vector<Claim> honest() {
  return {claim(1, 12, 100, 100, 1001), claim(2, 12, 90, 90, 1001), claim(3, 12, 110, 110, 1001)};
}

}  // namespace

TEST_CASE("Belief: honest records give hivemind's estimate") {
  auto b = belief_at(12, 1000);
  auto const claims = honest();
  auto const view = b.judge(us(12, 100, 100, 1001.5), false, claims, 1001.5);
  CHECK(view.progress.epoch == 12);
  CHECK(view.progress.peers == 4);
  CHECK(view.progress.samples_accumulated == 400);
  CHECK(view.progress.samples_per_second == doctest::Approx(400));
  CHECK(view.estimated == doctest::Approx(550));
  CHECK(view.progress.ignored.empty());
}

TEST_CASE("Belief: the liars of the list change nothing for the others") {
  auto const now = 1001.5;
  auto const before = [&] {
    auto b = belief_at(12, 1000);
    auto const claims = honest();
    return b.judge(us(12, 100, 100, now), false, claims, now);
  }();
  std::vector<std::pair<char const*, Claim>> const liars = {
      {"epoch 10^9", claim(9, 1'000'000'000, 100, 100, 1001)},
      {"10^15 samples", claim(9, 12, 1'000'000'000'000'000, 100, 1001)},
      {"1e30 samples/s", claim(9, 12, 100, 1e30, 1001)},
      {"all of it", claim(9, 1'000'000'000, 1'000'000'000'000'000, 1e30, 1001)},
      {"the last epoch there is", claim(9, std::numeric_limits<std::int64_t>::max(), 0, 1, 1001)},
  };
  for (auto const& [what, liar] : liars) {
    CAPTURE(what);
    auto b = belief_at(12, 1000);
    auto claims = honest();
    claims.insert(claims.begin(), liar);
    auto const view = b.judge(us(12, 100, 100, now), false, claims, now);
    CHECK(view.progress.epoch == before.progress.epoch);
    CHECK(view.progress.samples_accumulated == before.progress.samples_accumulated);
    CHECK(view.estimated == doctest::Approx(before.estimated));
    CHECK(view.progress.eta == doctest::Approx(before.progress.eta));
    REQUIRE(view.progress.ignored.size() == 1);
    CHECK(view.progress.ignored[0].find("claims") != std::string::npos);
    // Neither for a newcomer, who has no rate of its own.
    Belief fresh(peer(0), kTarget, {});
    auto const joiner = fresh.judge(us(0, 0, 1e-20, now), true, claims, now);
    CHECK(joiner.swarm_epoch == 12);
  }
}

TEST_CASE("Belief: peers never met on a connection do not count, however many") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  for (int i = 0; i < 10; ++i) {
    auto invented = claim(20 + i, 13, 500, 100, 1001);
    invented.seen = invented.connected = false;
    claims.push_back(invented);
  }
  auto const view = b.judge(us(12, 100, 100, 1001.5), false, claims, 1001.5);
  CHECK(view.progress.epoch == 12);
  CHECK(view.progress.peers == 4);
  CHECK(view.estimated == doctest::Approx(550));
  CHECK(view.progress.ignored.size() == 10);
}

TEST_CASE("Belief: a second key cannot speak for a peer") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  (void)b.judge(us(12, 100, 100, 1001), false, claims, 1001);
  auto impostor = claim(1, 13, 500, 100, 1001.4);
  impostor.owner = to_bytes("another");
  claims.insert(claims.begin(), impostor);
  auto const view = b.judge(us(12, 100, 100, 1001.5), false, claims, 1001.5);
  CHECK(view.progress.samples_accumulated == 400);
  REQUIRE(view.progress.ignored.size() == 1);
  CHECK(view.progress.ignored[0].find("second key") != std::string::npos);
}

TEST_CASE("Belief: where half of the rates stands, one ahead, is followed") {
  auto b = belief_at(12, 1000);
  std::vector<Claim> const claims = {
      claim(1, 13, 3, 100, 1001), claim(2, 13, 5, 90, 1001), claim(3, 12, 110, 110, 1001)};
  auto const view = b.judge(us(12, 100, 100, 1001.5), false, claims, 1001.5);
  CHECK(view.progress.epoch == 12);  // 190 of 400
  std::vector<Claim> const half = {
      claim(1, 13, 3, 100, 1001), claim(2, 13, 5, 110, 1001), claim(3, 12, 110, 110, 1001)};
  auto const more = b.judge(us(12, 100, 100, 1001.5), false, half, 1001.5);
  CHECK(more.progress.epoch == 13);
  CHECK(more.progress.ignored.empty());
}

TEST_CASE("Belief: one honest peer ahead is not ignored, and loses nothing") {
  auto b = belief_at(12, 1000);
  std::vector<Claim> const claims = {
      claim(1, 13, 3, 100, 1001), claim(2, 12, 90, 90, 1001), claim(3, 12, 110, 110, 1001)};
  auto const view = b.judge(us(12, 100, 100, 1001.5), false, claims, 1001.5);
  CHECK(view.progress.epoch == 12);
  CHECK(view.progress.ignored.empty());
  CHECK(view.progress.peers == 4);
}

TEST_CASE("Belief: of two peers either is half") {
  auto b = belief_at(12, 1000);
  std::vector<Claim> const slow_ahead = {claim(1, 13, 0, 10, 1006)};
  auto const view = b.judge(us(12, 300, 100, 1006), false, slow_ahead, 1006);
  CHECK(view.progress.epoch == 13);
  std::vector<Claim> const liar = {claim(1, 1'000'000'000, 0, 100, 1006)};
  auto const ignored = b.judge(us(12, 300, 100, 1006), false, liar, 1006);
  CHECK(ignored.progress.epoch == 12);
  CHECK(!ignored.has_peers);
}

TEST_CASE("Belief: how far the swarm can be grows with the time since we were there") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  for (auto& c : claims) c.progress.epoch = 20;
  // 400 samples/s make 0.8 epochs a second: eight in two seconds are beyond three times that.
  auto const soon = b.judge(us(12, 0, 100, 1002), false, claims, 1002);
  CHECK(soon.progress.epoch == 12);
  auto const later = b.judge(us(12, 0, 100, 1010), false, claims, 1010);
  CHECK(later.progress.epoch == 20);
}

TEST_CASE("Belief: a newcomer takes where more than half of the others are") {
  Belief b(peer(0), kTarget, {});
  std::vector<Claim> claims = {
      claim(1, 500, 0, 100, 1000), claim(2, 500, 0, 90, 1000), claim(3, 501, 0, 110, 1000)};
  CHECK(b.judge(us(0, 0, 1e-20, 1000), true, claims, 1000).swarm_epoch == 500);
  // One liar whose claimed rate is as large as may be believed.
  claims.push_back(claim(4, 1'000'000'000, 0, 9e5, 1000));
  CHECK(b.judge(us(0, 0, 1e-20, 1000), true, claims, 1000).swarm_epoch <= 501);
  // Alone with an honest one and a liar it takes the lower.
  std::vector<Claim> const two = {claim(1, 500, 0, 100, 1000),
                                  claim(4, 1'000'000'000, 0, 100, 1000)};
  CHECK(b.judge(us(0, 0, 1e-20, 1000), true, two, 1000).swarm_epoch == 500);
  // With a single other there is nobody else to ask.
  std::vector<Claim> const one = {claim(1, 500, 0, 100, 1000)};
  CHECK(b.judge(us(0, 0, 1e-20, 1000), true, one, 1000).swarm_epoch == 500);
}

TEST_CASE("Belief: the very first epoch, where nobody has measured a rate") {
  Belief b(peer(0), kTarget, {});
  b.entered(0, 1000);
  std::vector<Claim> const claims = {claim(1, 0, 8, 1e-20, 1000.1), claim(2, 0, 8, 1e-20, 1000.1)};
  auto const view = b.judge(us(0, 0, 1e-20, 1000.2), false, claims, 1000.2);
  CHECK(view.progress.epoch == 0);
  CHECK(view.progress.peers == 3);
  CHECK(view.progress.samples_accumulated == 16);
  CHECK(b.weight_limit(peer(1), 1000.2) == static_cast<double>(kTarget));
}

TEST_CASE("Belief: sly claims are cut to what the others' median allows") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  claims.push_back(claim(9, 12, 512, 5000, 1001));
  auto const view = b.judge(us(12, 100, 100, 1001), false, claims, 1001);
  // 8 times the median of about 100 samples/s.
  CHECK(view.progress.samples_per_second < 400 + 900);
  CHECK(view.progress.samples_accumulated <= 400 + 512);
}

TEST_CASE("Belief: who promises samples and brings none is ignored, until it brings some") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  claims.push_back(claim(9, 12, 400, 400, 1001));
  std::vector<PeerId> const group{peer(0), peer(1), peer(2), peer(3), peer(9)};
  std::vector<double> const weights{100, 100, 90, 110, 1};
  std::int64_t epoch = 12;
  double now = 1001.5;
  for (int i = 0; i < 2; ++i) {
    (void)b.judge(us(epoch, 100, 100, now), false, claims, now);
    b.took_part(group, weights, 1.5);
    b.entered(++epoch, now);
    for (auto& c : claims) {
      c.progress.epoch = epoch;
      c.progress.time = now + 1;
    }
    now += 1.5;
  }
  auto const view = b.judge(us(epoch, 100, 100, now), false, claims, now);
  REQUIRE(view.progress.ignored.size() == 1);
  CHECK(view.progress.ignored[0].find(
            "brought 1 samples where it had announced more, 2 rounds running") !=
        std::string::npos);
  CHECK(view.progress.samples_accumulated == 400);
  std::vector<double> const honest_weights{100, 100, 90, 110, 400};
  b.took_part(group, honest_weights, 1.5);
  b.entered(++epoch, now);
  for (auto& c : claims) c.progress.epoch = epoch;
  CHECK(b.judge(us(epoch, 100, 100, now), false, claims, now).progress.ignored.empty());
}

TEST_CASE("Belief: who missed rounds is not accused of a lie") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  claims.push_back(claim(9, 12, 64, 60, 1001));
  std::vector<PeerId> const group{peer(0), peer(1), peer(2), peer(3)};
  std::vector<double> const weights{100, 100, 90, 110};
  std::int64_t epoch = 12;
  double now = 1001.5;
  for (int i = 0; i < 2; ++i) {
    (void)b.judge(us(epoch, 100, 100, now), false, claims, now);
    b.took_part(group, weights, 1.5);
    b.entered(++epoch, now);
    for (auto& c : claims) {
      c.progress.epoch = epoch;
      c.progress.time = now + 1;
    }
    now += 1.5;
  }
  auto const view = b.judge(us(epoch, 100, 100, now), false, claims, now);
  REQUIRE(view.progress.ignored.size() == 1);
  CHECK(view.progress.ignored[0].find("missed 2 rounds running; the 64 samples that it announces "
                                      "count once it brings some") != std::string::npos);
}

TEST_CASE("Belief: our place is by claimed rates, and none before we measured ours") {
  auto b = belief_at(12, 1000);
  auto const claims = honest();  // 100, 90 and 110 samples a second
  CHECK(b.judge(us(12, 0, 95, 1001.5), false, claims, 1001.5).progress.place == 3);
  CHECK(b.judge(us(12, 0, 120, 1001.5), false, claims, 1001.5).progress.place == 1);
  CHECK(b.judge(us(12, 0, kNoRate, 1001.5), false, claims, 1001.5).progress.place == 0);
}

TEST_CASE("Belief: the dead and the stale are not carried on") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  claims[0].connected = false;
  auto const view = b.judge(us(12, 100, 100, 1002), false, claims, 1002);
  CHECK(view.estimated == doctest::Approx(100 + 100 + 180 + 220));
  CHECK(view.progress.samples_per_second == doctest::Approx(300));
  // A record from before this epoch takes nothing away and is no lie.
  claims[1].progress.epoch = 9;
  auto const stale = b.judge(us(12, 100, 100, 1002), false, claims, 1002);
  CHECK(stale.progress.epoch == 12);
  CHECK(stale.progress.ignored.empty());
}

TEST_CASE("Belief: members of our last round are in this epoch before their record says so") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  (void)b.judge(us(12, 100, 100, 1001.5), false, claims, 1001.5);
  std::vector<PeerId> const group{peer(0), peer(1), peer(2)};
  std::vector<double> const weights{100, 100, 90};
  b.took_part(group, weights, 1.5);
  b.entered(13, 1002);
  auto const view = b.judge(us(13, 50, 100, 1002.5), false, claims, 1002.5);
  // Ours, and half a second of the two that came along; the third is not there yet.
  CHECK(view.estimated == doctest::Approx(50 + 50 + 45));
  CHECK(view.progress.samples_per_second == doctest::Approx(400));
}

TEST_CASE(
    "Belief: weights are held to the record, to the target, and to two equal shares at least") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  claims.push_back(claim(9, 12, 8, 10, 1001));
  (void)b.judge(us(12, 100, 100, 1001.5), false, claims, 1001.5);
  CHECK(b.weight_limit(peer(1), 1001.5) == doctest::Approx(2 * (100 + 150)));
  CHECK(b.weight_limit(peer(1), 1100) == static_cast<double>(kTarget));
  CHECK(b.weight_limit(peer(9), 1001.5) == doctest::Approx(2 * 512.0 / 5));
  CHECK(b.weight_limit(peer(77), 1001.5) == static_cast<double>(kTarget));
}

TEST_CASE("Belief: a round is judged by the records of its beginning, also from the next epoch") {
  auto b = belief_at(12, 1000);
  auto claims = honest();
  (void)b.judge(us(12, 100, 100, 1001.5), false, claims, 1001.5);
  b.round_begins();
  b.entered(13, 1001.5);
  // Records of the next epoch come while the last one's gradients are averaged.
  for (auto& c : claims) c.progress = {c.progress.peer, 13, 8, 100, 1001.6, false};
  (void)b.judge(us(13, 8, 100, 1001.7), false, claims, 1001.7);
  CHECK(b.weight_limit(peer(1), 1001.5) == doctest::Approx(2 * (100 + 150)));
  std::vector<PeerId> const group{peer(0), peer(1), peer(2), peer(3)};
  std::vector<double> const weights{100, 100, 90, 1};
  b.took_part(group, weights, 1.5);
  // What was promised for that epoch counts, not the samples of this one.
  CHECK(b.weight_limit(peer(1), 1001.7) == doctest::Approx(2 * 512.0 / 4));
  auto const view = b.judge(us(13, 8, 100, 1001.7), false, claims, 1001.7);
  CHECK(view.progress.ignored.empty());
}
