// SPDX-License-Identifier: MIT
#include "core/optim/donor_trust.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::optim;
using namespace std::chrono_literals;

namespace {

PeerId peer(std::size_t n) {
  std::string const text = "peer" + std::to_string(n);
  return *PeerId::from_bytes(as_bytes(text));
}

}  // namespace

TEST_CASE("DonorTrust: who failed rests a second, then longer, at most a minute") {
  DonorTrust trust;
  TimePoint now{};
  CHECK(trust.may_ask(peer(1), now));
  trust.failed(peer(1), now);
  CHECK(!trust.may_ask(peer(1), now));
  CHECK(trust.may_ask(peer(2), now));
  CHECK(trust.may_ask(peer(1), now += 1s));
  trust.failed(peer(1), now);
  CHECK(!trust.may_ask(peer(1), now + 1s));
  CHECK(trust.may_ask(peer(1), now + 2s));
  for (int i = 0; i < 100; ++i) trust.failed(peer(1), now);
  CHECK(!trust.may_ask(peer(1), now + 59s));
  CHECK(trust.may_ask(peer(1), now + 1min));
  CHECK(trust.refusals(now).empty());
  trust.gave(peer(1));
  CHECK(trust.may_ask(peer(1), now));
  trust.failed(peer(1), now);
  CHECK(trust.may_ask(peer(1), now + 1s));
}

TEST_CASE("DonorTrust: who gave a wrong state is named, and asked again after a while") {
  DonorTrust trust;
  TimePoint now{};
  trust.refused(peer(1), "of another epoch", now);
  trust.failed(peer(1), now);  // does not shorten it
  CHECK(!trust.may_ask(peer(1), now + 59s));
  CHECK(trust.refusals(now + 59s).at(peer(1)) == "of another epoch");
  CHECK(trust.may_ask(peer(1), now + 1min));
  CHECK(trust.refusals(now + 1min).empty());
  for (int i = 0; i < 100; ++i) trust.refused(peer(1), "again", now);
  CHECK(!trust.may_ask(peer(1), now + 59min));
  CHECK(trust.may_ask(peer(1), now + 1h));
}

TEST_CASE("DonorTrust: remembers so many, not more") {
  DonorTrust trust;
  TimePoint const now{};
  for (std::size_t n = 0; n < 3 * DonorTrust::kMostRemembered; ++n) {
    trust.refused(peer(n), "wrong", now);
    REQUIRE(trust.refusals(now).size() <= DonorTrust::kMostRemembered);
    REQUIRE(!trust.may_ask(peer(n), now));
  }
}
