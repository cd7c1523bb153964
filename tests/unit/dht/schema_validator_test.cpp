// SPDX-License-Identifier: MIT
#include "core/dht/schema_validator.hpp"

#include <limits>

#include <doctest/doctest.h>

#include "core/dht/value.hpp"
#include "core/wire/msgpack.hpp"

using namespace waggle;
using namespace waggle::dht;
using wire::Msgpack;

namespace {

Bytes owned_subkey(std::string_view text = "[owner:ssh-rsa AAAA]") {
  return Msgpack(to_bytes(text)).encode();
}

Msgpack::Map progress() {
  return {{"peer_id", to_bytes("peer")},
          {"epoch", 3},
          {"samples_accumulated", 100},
          {"samples_per_second", 12.5},
          {"time", 1.7e9},
          {"client_mode", false}};
}

SchemaValidator schema() {
  std::vector<KeySchema> keys{progress_schema("run"), metrics_schema("run")};
  return SchemaValidator(std::move(keys));
}

bool accepted(Msgpack value, Bytes subkey = owned_subkey(), std::string_view key = "run_progress") {
  Bytes const bytes = value.encode();
  return schema().validate({Id::of_text(key), subkey, bytes, 1}).has_value();
}

Msgpack with(std::size_t field, Msgpack value) {
  auto map = progress();
  map[field].second = std::move(value);
  return map;
}

}  // namespace

TEST_CASE("a progress record has exactly its fields, in any order, or is nil") {
  CHECK(accepted(progress()));
  auto other_order = progress();
  std::swap(other_order[0], other_order[4]);
  CHECK(accepted(other_order));
  CHECK(accepted(Msgpack{}));
  auto missing = progress();
  missing.pop_back();
  CHECK_FALSE(accepted(missing));
  auto more = progress();
  more.emplace_back("extra", 1);
  CHECK_FALSE(accepted(more));
  auto doubled = progress();
  doubled[5] = doubled[1];
  CHECK_FALSE(accepted(doubled));
  CHECK_FALSE(accepted(Msgpack(5)));
  CHECK_FALSE(accepted(Msgpack(Msgpack::Array(6, Msgpack(1)))));
}

TEST_CASE("types are strict and ranges hold") {
  CHECK_FALSE(accepted(with(0, "text")));
  CHECK_FALSE(accepted(with(1, -1)));
  CHECK_FALSE(accepted(with(1, 1.0)));
  CHECK_FALSE(accepted(with(1, true)));
  CHECK_FALSE(accepted(with(2, Msgpack{})));
  CHECK_FALSE(accepted(with(3, 12)));
  CHECK_FALSE(accepted(with(3, -0.5)));
  CHECK_FALSE(accepted(with(3, std::numeric_limits<double>::quiet_NaN())));
  CHECK_FALSE(accepted(with(3, std::numeric_limits<double>::infinity())));
  CHECK_FALSE(accepted(with(5, 0)));
  CHECK(accepted(with(1, std::uint64_t{1} << 63)));
}

TEST_CASE("a progress record stands under bytes that name an owner") {
  CHECK(accepted(progress(), owned_subkey("before[owner:x]after")));
  CHECK_FALSE(accepted(progress(), owned_subkey("nobody")));
  CHECK_FALSE(accepted(progress(), owned_subkey("[owner:]")));
  CHECK_FALSE(accepted(progress(), owned_subkey("\n[owner:x]")));
  CHECK_FALSE(accepted(progress(), Msgpack("[owner:x]").encode()));
  CHECK_FALSE(accepted(progress(), to_bytes(regular_tag())));
  CHECK_FALSE(accepted(progress(), Bytes{std::byte{0xc1}}));
}

TEST_CASE("metrics may not be nil, keys of no schema pass") {
  Msgpack::Map const metrics{{"step", 1},
                             {"samples_per_second", 1.0},
                             {"samples_accumulated", 2},
                             {"loss", -3.5},
                             {"mini_steps", 4}};
  CHECK(accepted(metrics, owned_subkey(), "run_metrics"));
  CHECK_FALSE(accepted(Msgpack{}, owned_subkey(), "run_metrics"));
  CHECK(accepted(Msgpack(1), to_bytes(regular_tag()), "anything"));
}

TEST_CASE("values that do not decode or are too large are refused") {
  Bytes const garbage{std::byte{0xc1}};
  CHECK_FALSE(schema().validate({Id::of_text("run_progress"), owned_subkey(), garbage, 1}));
  CHECK_FALSE(accepted(Msgpack(Bytes(SchemaValidator::kMaxValueBytes))));
}
