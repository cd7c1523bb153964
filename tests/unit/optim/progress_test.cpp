// SPDX-License-Identifier: MIT
#include "core/optim/progress.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::optim;

namespace {

LocalProgress sample() {
  LocalProgress p;
  p.peer = *PeerId::from_bytes(as_bytes("0123456789"));
  p.epoch = 12;
  p.samples_accumulated = 34;
  p.samples_per_second = 5.5;
  p.time = 1000.25;
  return p;
}

wire::Msgpack with(std::string_view field, wire::Msgpack value) {
  auto map = *sample().to_msgpack().get<wire::Msgpack::Map>();
  for (auto& [key, v] : map)
    if (*key.get<std::string>() == field) v = value;
  return map;
}

}  // namespace

TEST_CASE("LocalProgress: what was written is read") {
  auto const back = LocalProgress::from_msgpack(sample().to_msgpack());
  REQUIRE(back);
  CHECK(*back == sample());
}

TEST_CASE("LocalProgress: a field of the wrong type or range names itself") {
  double const inf = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::string, wire::Msgpack>> const bad = {
      {"epoch", -1},
      {"epoch", 1.0},
      {"epoch", true},
      {"epoch", std::uint64_t{1} << 63U},
      {"samples_accumulated", -5},
      {"samples_accumulated", 5.0},
      {"samples_per_second", 5},
      {"samples_per_second", -0.5},
      {"samples_per_second", std::nan("")},
      {"samples_per_second", inf},
      {"time", 1000},
      {"time", inf},
      {"client_mode", 1},
      {"peer_id", "text"},
      {"peer_id", Bytes{}},
      {"peer_id", Bytes(43)},
  };
  for (auto const& [field, value] : bad) {
    CAPTURE(field);
    auto const read = LocalProgress::from_msgpack(with(field, value));
    REQUIRE(!read);
    CHECK(read.error().code == Errc::malformed);
    CHECK(read.error().detail.find(field) != std::string::npos);
  }
}

TEST_CASE("LocalProgress: fields more, fewer or twice are refused, and so is what is no map") {
  auto map = *sample().to_msgpack().get<wire::Msgpack::Map>();
  auto more = map;
  more.emplace_back("extra", 1);
  CHECK(!LocalProgress::from_msgpack(more));
  auto fewer = map;
  fewer.pop_back();
  CHECK(!LocalProgress::from_msgpack(fewer));
  auto twice = fewer;
  twice.push_back(twice.front());
  CHECK(!LocalProgress::from_msgpack(twice));
  CHECK(!LocalProgress::from_msgpack(wire::Msgpack()));
  CHECK(!LocalProgress::from_msgpack(wire::Msgpack::Array{}));
}

TEST_CASE("refresh_after: within its limits for every ETA") {
  RefreshLimits const limits;
  CHECK(refresh_after(1e300, 4, limits) == limits.max);
  CHECK(refresh_after(0, 4, limits) == limits.min);
  CHECK(refresh_after(7, 0, limits) == limits.standard);
  CHECK(refresh_after(7, 4, limits) == doctest::Approx(4.0));
}
