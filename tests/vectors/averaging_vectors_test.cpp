// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "core/averaging/gather.hpp"
#include "core/averaging/group_key.hpp"
#include "core/averaging/load_balance.hpp"
#include "core/averaging/messages.hpp"
#include "core/averaging/partition.hpp"
#include "core/averaging/schema.hpp"

#include "tests/support/vectors.hpp"

using namespace waggle;
using namespace waggle::averaging;
using nlohmann::json;

namespace {

json const& group(std::string const& name) {
  auto const& found = test::vectors("averaging").at(name);
  test::announce("averaging/" + name, found.size());
  return found;
}

Schema schema_of(json const& tensors) {
  Schema schema;
  for (auto const& t : tensors) {
    TensorSpec spec;
    spec.shape = t.at("shape").get<std::vector<std::int64_t>>();
    spec.requires_grad = t.value("requires_grad", false);
    schema.push_back(spec);
  }
  return schema;
}

compress::Policy policy_of(std::string const& name) {
  using compress::CompressionType;
  if (name == "SizeAdaptive(1000:FLOAT16/UNIFORM_8BIT)")
    return {1000, CompressionType::float16, CompressionType::uniform_8bit};
  if (name == "FLOAT16") return compress::Policy(CompressionType::float16);
  if (name == "UNIFORM_8BIT") return compress::Policy(CompressionType::uniform_8bit);
  REQUIRE(name == "NONE");
  return compress::Policy(CompressionType::none);
}

}  // namespace

TEST_CASE("schema_hash: equal to hivemind's for float32 tensors") {
  int replayed = 0;
  for (auto const& c : group("schema_hash")) {
    bool float32 = true;
    for (auto const& t : c["tensors"]) float32 = float32 && t["dtype"] == "float32";
    if (!float32) continue;  // our buffers are float32
    CAPTURE(c["name"]);
    auto const hash = schema_hash(schema_of(c["tensors"]));
    CHECK(to_hex(hash) == c["schema_hash_hex"].get<std::string>());
    ++replayed;
  }
  CHECK(replayed >= 8);
}

TEST_CASE("hagenbach_bischoff: splits as hivemind does") {
  for (auto const& c : group("hagenbach_bischoff")) {
    auto const scores = c["scores"].get<std::vector<double>>();
    CHECK(hagenbach_bischoff(c["vector_size"], scores) ==
          c["assignment"].get<std::vector<std::uint64_t>>());
  }
}

TEST_CASE("load_balance: scores and shares as hivemind computes them") {
  (void)group("load_balance_notes");
  for (auto const& c : group("load_balance_peers")) {
    CAPTURE(c.dump());
    std::vector<std::optional<double>> bandwidths;
    for (auto const& b : c["bandwidths"])
      bandwidths.push_back(b.is_null() ? std::nullopt : std::optional<double>(b.get<double>()));
    auto const shares = load_balance(c["vector_size"], bandwidths, c["min_size"]);
    if (c.contains("error")) {
      CHECK_FALSE(shares);
      continue;
    }
    REQUIRE(shares);
    CHECK(*shares == c["assignment"].get<std::vector<std::uint64_t>>());
    if (!c.contains("lp_scores")) continue;
    auto const resolved = c["resolved_bandwidths"].get<std::vector<double>>();
    auto const scores = optimal_scores(c["vector_size"], resolved, c["min_size"]);
    auto const expected = c["lp_scores"].get<std::vector<double>>();
    REQUIRE(scores.size() == expected.size());
    for (std::size_t i = 0; i < scores.size(); ++i) CHECK(std::abs(scores[i] - expected[i]) < 2e-9);
  }
}

TEST_CASE("make_partition: the layouts that hivemind makes") {
  for (auto const& c : group("partitions")) {
    CAPTURE(c["name"]);
    if (c["dtype"] != "float32") continue;
    Schema schema;
    for (auto const& shape : c["tensor_shapes"])
      schema.push_back({shape.get<std::vector<std::int64_t>>(), false});
    auto const fractions = c["peer_fractions"].get<std::vector<std::uint64_t>>();
    auto const partition =
        make_partition(schema, fractions, c["part_size_bytes"], policy_of(c["codec"]));
    CHECK(partition.total == c["total_size"].get<std::size_t>());
    CHECK(partition.pivots == c["pivots"].get<std::vector<std::size_t>>());
    std::vector<std::size_t> by_tensor(schema.size());
    std::vector<std::size_t> by_peer(fractions.size());
    std::vector<std::size_t> elements(fractions.size());
    for (auto const& part : partition.parts) {
      ++by_tensor[part.tensor];
      ++by_peer[part.peer];
      elements[part.peer] += part.numel;
    }
    CHECK(by_tensor == c["num_parts_by_tensor"].get<std::vector<std::size_t>>());
    CHECK(by_peer == c["num_parts_by_peer"].get<std::vector<std::size_t>>());
    CHECK(elements == c["elements_by_peer"].get<std::vector<std::size_t>>());
    if (c["parts"].is_null()) continue;
    REQUIRE(partition.parts.size() == c["parts"].size());
    for (std::size_t i = 0; i < partition.parts.size(); ++i) {
      CHECK(partition.parts[i].peer == c["parts"][i]["peer"].get<std::size_t>());
      CHECK(partition.parts[i].tensor == c["parts"][i]["tensor"].get<std::size_t>());
      CHECK(partition.parts[i].numel == c["parts"][i]["numel"].get<std::size_t>());
    }
  }
}

TEST_CASE("next_bits: samples and keys as Python draws them") {
  auto const& groups = group("group_keys");
  for (auto const& c : groups["cases"]) {
    CAPTURE(c.dump());
    auto const id = test::unhex(c["group_id_hex"]);
    std::size_t const size = c["group_size"];
    std::optional<std::size_t> target;
    if (!c["target_group_size"].is_null()) target = c["target_group_size"].get<std::size_t>();
    CHECK(bucket_count(size, target) == c["num_buckets"].get<std::size_t>());
    CHECK(python_sample(id, bucket_count(size, target), size) ==
          c["sample"].get<std::vector<std::uint32_t>>());
    for (auto const& r : c["results"]) {
      GroupKey key{
          "my_averager",
          next_bits(c["old_group_bits"].get<std::string>(), id, size, r["position"], target)};
      CHECK(key.bits == r["new_group_bits"].get<std::string>());
      CHECK(key.text() == r["new_key"].get<std::string>());
    }
  }
}

TEST_CASE("Gather: the bytes that hivemind gathers") {
  for (auto const& c : group("gather")) {
    auto const bytes = test::unhex(c["gather_hex"]);
    auto const gather = Gather::parse(bytes);
    REQUIRE(gather);
    CHECK(static_cast<int>(gather->mode) == c["mode_value"].get<int>());
    CHECK(to_hex(gather->user.encode()) == c["user_msgpack_hex"].get<std::string>());
    CHECK(gather->encode() == bytes);
  }
}

TEST_CASE("MessageCode: hivemind's numbers") {
  for (auto const& [text, number] : group("message_codes").items())
    CHECK(name(static_cast<MessageCode>(number.get<int>())) == text);
}

TEST_CASE("matchmaking messages: parse to what was meant, encode to the same bytes") {
  int joins = 0;
  for (auto const& c : group("matchmaking")) {
    for (auto const& m : c["transcript"]) {
      if (m.contains("op")) continue;
      auto const bytes = test::unhex(m["message_hex"]);
      if (m["type"] == "JoinRequest") {
        auto const join = parse_join_request(bytes);
        REQUIRE(join);
        CHECK(to_hex(join->schema_hash) == m["fields"]["schema_hash"].get<std::string>());
        CHECK(join->client_mode == m["fields"]["client_mode"].get<bool>());
        CHECK(join->group_key == m["fields"]["group_key"].get<std::string>());
        CHECK(encode(*join) == bytes);
        ++joins;
      } else {
        auto const message = parse_message_from_leader(bytes);
        REQUIRE(message);
        CHECK(name(message->code) == m["code"].get<std::string>());
        CHECK(encode(*message) == bytes);
      }
    }
  }
  CHECK(joins > 3);
}

TEST_CASE("download_state messages: parse to the tensors, and ours say the same") {
  for (auto const& c : group("download_state")) {
    CAPTURE(c["name"]);
    bool first = true;
    for (auto const& m : c["messages"]) {
      if (!m.contains("serialized_hex")) {
        first = false;
        continue;
      }
      auto const bytes = test::unhex(m["serialized_hex"]);
      auto const data = parse_download_data(bytes);
      REQUIRE(data);
      REQUIRE(data->tensor);
      CHECK(data->tensor->buffer.size() == m["buffer_len"].get<std::size_t>());
      CHECK(data->tensor->dtype == m["tensor_dtype"].get<std::string>());
      CHECK(data->tensor->chunks == m["chunks"].get<int>());
      CHECK(data->metadata.empty() == !first);
      if (first) CHECK(to_hex(data->metadata) == c["metadata_msgpack_hex"].get<std::string>());
      TensorHeader const header{data->tensor->size,
                                data->tensor->requires_grad,
                                data->tensor->dtype,
                                data->tensor->compression,
                                data->tensor->chunks};
      auto ours = download_head(data->metadata, header, data->tensor->buffer.size());
      append(ours, data->tensor->buffer);
      CHECK(ours.size() == bytes.size());
      auto const again = parse_download_data(ours);
      REQUIRE(again);
      CHECK(equal(again->tensor->buffer, data->tensor->buffer));
      CHECK(equal(again->metadata, data->metadata));
      CHECK(again->tensor->size == data->tensor->size);
      first = false;
    }
  }
}
