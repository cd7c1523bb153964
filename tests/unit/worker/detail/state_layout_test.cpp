// SPDX-License-Identifier: MIT
#include "core/worker/detail/state_layout.hpp"

#include <limits>

#include <doctest/doctest.h>

namespace waggle::worker {
namespace {

using Values = std::vector<float>;

Facts adamw_facts() {
  Facts facts;
  facts.parameters = {{"a", {2}}, {"b", {1}}};
  facts.extras = {{"m", {1}}};
  facts.statistics = {"exp_avg", "exp_avg_sq"};
  facts.step_tensors = true;
  return facts;
}

TEST_CASE("state, goes out and comes back in both orders") {
  auto const facts = adamw_facts();
  Values p{1, 2, 3}, e{4}, s{10, 11, 12, 20, 21, 22};
  StateParts const parts{p, e, s};
  auto const averaged = pack_averaged(parts);
  CHECK(averaged == Values{1, 2, 3, 10, 11, 12, 20, 21, 22, 4});
  auto const download = pack_download(facts, parts, 7);
  CHECK(download == Values{1, 2, 3, 4, 10, 11, 20, 21, 7, 12, 22, 7});
  Values p2(3), e2(1), s2(6);
  StateParts const other{p2, e2, s2};
  auto const steps = unpack_download(facts, download, other);
  REQUIRE(steps);
  CHECK(*steps == 7);
  CHECK(p2 == p);
  CHECK(e2 == e);
  CHECK(s2 == s);
  std::fill(s2.begin(), s2.end(), 0.0f);
  REQUIRE(unpack_averaged(facts, averaged, other));
  CHECK(s2 == s);
}

TEST_CASE("a second moment below zero keeps the own value, and refuses a download") {
  auto const facts = adamw_facts();
  Values p{1, 2, 3}, e{4}, s{10, 11, 12, 20, 21, 22};
  StateParts const parts{p, e, s};
  auto averaged = pack_averaged(parts);
  averaged[6] = -1e-8f;  // exp_avg_sq of the first parameter's first value
  averaged[7] = 5;
  averaged[3] = -3;  // a first moment may be what it likes
  REQUIRE(unpack_averaged(facts, averaged, parts));
  CHECK(s == Values{-3, 11, 12, 20, 5, 22});
  auto download = pack_download(facts, parts, 7);
  download[6] = -1e-8f;
  auto const before = s;
  CHECK(!unpack_download(facts, download, parts));
  CHECK(s == before);
}

TEST_CASE("state, of another size or with a value that is not finite changes nothing") {
  auto const facts = adamw_facts();
  Values p{1, 2, 3}, e{4}, s(6);
  StateParts const parts{p, e, s};
  CHECK(!unpack_averaged(facts, Values(9), parts));
  CHECK(!unpack_download(facts, Values(13), parts));
  for (auto const bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Values averaged(10);
    averaged.back() = bad;
    CHECK(!unpack_averaged(facts, averaged, parts));
    Values download(12);
    download.back() = bad;
    CHECK(!unpack_download(facts, download, parts));
  }
  CHECK(p == Values{1, 2, 3});
  // A count of steps that makes no sense is bounded.
  Values download(12);
  download[8] = 1e30f;
  CHECK(*unpack_download(facts, download, parts) <= 1'000'000'000);
  download[8] = -5;
  CHECK(*unpack_download(facts, download, parts) == 0);
}

}  // namespace
}  // namespace waggle::worker
