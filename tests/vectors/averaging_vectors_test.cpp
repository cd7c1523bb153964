// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "core/averaging/gather.hpp"
#include "core/averaging/group_key.hpp"
#include "core/averaging/load_balance.hpp"
#include "core/averaging/matchmaking.hpp"
#include "core/averaging/messages.hpp"
#include "core/averaging/partition.hpp"
#include "core/averaging/reducer.hpp"
#include "core/averaging/schema.hpp"
#include "core/averaging/state_stream.hpp"

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

namespace {

std::vector<float> flat(json const& tensors) {
  std::vector<float> values;
  for (auto const& t : tensors)
    for (auto const& v : t["values"]) values.push_back(v.get<float>());
  return values;
}

std::vector<float> decoded(TensorView const& tensor) {
  std::vector<float> values(tensor.numel().value());
  REQUIRE(compress::decode(tensor.compression, tensor.buffer, values));
  return values;
}

}  // namespace

TEST_CASE("all-reduce transcripts: our reducer gives hivemind's replies and results") {
  for (auto const& c : group("allreduce")) {
    CAPTURE(c["name"]);
    bool const nan =
        c["name"] == "all_zero_weight";  // hivemind's replies are NaN there; ours change nothing
    auto const fractions = c["peer_fractions"].get<std::vector<std::uint64_t>>();
    auto const weights = c["weights"].get<std::vector<double>>();
    auto const schema = schema_of(c["local_tensors"][0]);
    auto const codec = policy_of(c["codec"]);
    auto const partition = make_partition(schema, fractions, c["part_size_bytes"], codec);
    auto const n = fractions.size();
    std::vector<std::size_t> by_peer;
    for (auto const& parts : partition.by_peer) by_peer.push_back(parts.size());
    CHECK(by_peer == c["num_parts_by_peer"].get<std::vector<std::size_t>>());

    std::vector<std::vector<float>> values;
    for (std::size_t p = 0; p < n; ++p) values.push_back(flat(c["local_tensors"][p]));
    auto results = values;
    for (std::size_t r = 0; r < n; ++r) {
      std::vector<std::size_t> numels;
      for (auto const part : partition.by_peer[r]) numels.push_back(partition.parts[part].numel);
      Reducer reducer(numels, n);
      std::map<std::pair<std::size_t, std::size_t>, Bytes> sent;  // (sender, part) → message
      std::map<std::size_t, std::vector<Bytes>> replies;
      for (auto const& m : c["messages"]) {
        auto const bytes = test::unhex(m["message_hex"]);
        auto const message = parse_averaging_data(bytes);
        REQUIRE(message);
        REQUIRE(message->tensor);
        if (m["direction"] == "response" && m["from"] == r) {
          CHECK(message->code == MessageCode::averaged_part);
          replies[m["to"]].push_back(bytes);
        }
        if (m["direction"] != "request" || m["to"] != r) continue;
        std::size_t const from = m["from"];
        std::size_t part = 0;
        while (sent.contains({from, part})) ++part;
        CHECK(message->code ==
              (part == 0 ? MessageCode::part_for_averaging : MessageCode::no_code));
        CHECK(message->weight == weights[from]);
        auto const& where = partition.parts[partition.by_peer[r][part]];
        CHECK(message->tensor->numel() == where.numel);
        CHECK(message->tensor->compression == where.codec);
        // What we would have sent says the same.
        Bytes encoded;
        auto const slice = std::span(values[from]).subspan(where.offset, where.numel);
        REQUIRE(compress::encode(where.codec, slice, encoded));
        TensorHeader header;
        header.size = {static_cast<std::uint32_t>(where.numel)};
        header.compression = where.codec;
        auto ours = averaging_head(
            message->code, message->group_id, message->weight, header, encoded.size());
        append(ours, encoded);
        CHECK(ours.size() == bytes.size());
        auto const again = parse_averaging_data(ours);
        REQUIRE(again);
        if (where.codec != compress::CompressionType::uniform_8bit)
          CHECK(equal(again->tensor->buffer, message->tensor->buffer));
        sent[{from, part}] = bytes;
      }
      for (std::size_t part = 0; part < numels.size(); ++part) {
        auto const& where = partition.parts[partition.by_peer[r][part]];
        auto const own = std::span(values[r]).subspan(where.offset, where.numel);
        reducer.add_own(part, own, weights[r]);
        reducer.counted(part, r, weights[r]);
        for (std::size_t s = 0; s < n; ++s) {
          if (s == r) continue;
          auto const message = parse_averaging_data(sent.at({s, part}));
          REQUIRE(reducer.add(
              part, message->tensor->compression, message->tensor->buffer, message->weight));
          reducer.counted(part, s, message->weight);
        }
        REQUIRE(reducer.ready());
        reducer.finish(part);
        reducer.advance();
        for (std::size_t i = 0; i < where.numel && !nan; ++i)
          results[r][where.offset + i] = reducer.average(part)[i];
        for (std::size_t s = 0; s < n; ++s) {
          if (s == r) continue;
          auto const message = parse_averaging_data(sent.at({s, part}));
          Bytes reply;
          REQUIRE(
              reducer.reply(part, message->tensor->compression, message->tensor->buffer, reply));
          std::vector<float> difference(where.numel);
          REQUIRE(compress::decode(message->tensor->compression, reply, difference));
          for (std::size_t i = 0; i < where.numel; ++i)
            results[s][where.offset + i] += difference[i];
          if (nan) {
            for (auto const d : difference) CHECK(d == 0);
            continue;
          }
          auto const theirs = parse_averaging_data(replies.at(s).at(part));
          auto const expected = decoded(*theirs->tensor);
          for (std::size_t i = 0; i < where.numel; ++i)
            CHECK(difference[i] == doctest::Approx(expected[i]).epsilon(1e-3));
        }
      }
      CHECK(reducer.done());
    }
    if (nan) continue;
    for (std::size_t p = 0; p < n; ++p) {
      std::vector<float> expected;
      for (auto const& t : c["outputs"][p])
        for (auto const& v : t["result"]) expected.push_back(v.get<float>());
      REQUIRE(expected.size() == results[p].size());
      double const tolerance = c["codec"] == "NONE" ? 2e-6 : c["codec"] == "FLOAT16" ? 2e-3 : 2e-2;
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(std::abs(results[p][i] - expected[i]) <= tolerance);
    }
  }
}

TEST_CASE(
    "reducer_sender_failure: a sender that fails keeps its submitted parts in the mean and is not "
    "waited for") {
  auto const& v = group("reducer_sender_failure");
  Reducer reducer({2, 2}, 3);
  std::vector<double> const weights{1, 1, 2};
  // Chosen to give the recorded means: (2 + 4 + 2 · 7) / 4 = 5 and (10 + 30) / 2 = 20.
  std::vector<std::vector<float>> const inputs{{2, 10}, {4, 30}, {7, 99}};
  auto const submit = [&](std::size_t sender, std::size_t part) {
    std::vector<float> const values(2, inputs[sender][part]);
    reducer.add_own(part, values, weights[sender]);
    reducer.counted(part, sender, weights[sender]);
  };
  for (std::size_t s = 0; s < 3; ++s) submit(s, 0);
  REQUIRE(reducer.ready());
  reducer.finish(0);
  reducer.advance();
  submit(0, 1);
  submit(1, 1);
  CHECK_FALSE(reducer.ready());
  CHECK(reducer.missing() == std::vector<std::size_t>{2});
  reducer.ban(2);
  REQUIRE(reducer.ready());
  reducer.finish(1);
  reducer.advance();
  CHECK(reducer.done());
  for (std::size_t part = 0; part < 2; ++part) {
    auto const mean = reducer.average(part);
    CHECK(std::vector<float>(mean.begin(), mean.end()) ==
          v["sender0"][part].get<std::vector<float>>());
    CHECK(std::vector<float>(mean.begin(), mean.end()) ==
          v["sender1"][part].get<std::vector<float>>());
  }
}

TEST_CASE("optimizer_state_dump: metadata of real optimizers survives our encoding") {
  for (auto const& c : group("optimizer_state_dump")["cases"]) {
    CAPTURE(c["optimizer"]);
    auto const bytes = test::unhex(c["metadata_msgpack_hex"]);
    auto const metadata = wire::Msgpack::decode(bytes);
    REQUIRE(metadata);
    StateSnapshot state;
    state.epoch = metadata->find("epoch")->integer().value();
    state.optimizer_metadata = *metadata->find("optimizer_metadata");
    CHECK(state.optimizer_metadata.items()->size() == c["flat_metadata"].size());
    CHECK(encode_state_metadata(state) == bytes);
    // A whole download of it.
    StateSnapshot whole = state;
    whole.schema = schema_of(c["tensors"]);
    whole.values = flat(c["tensors"]);
    if (whole.schema.empty()) continue;
    StateAssembler assembler(whole.schema);
    std::size_t offset = 0;
    auto head = bytes;
    for (auto const& tensor : whole.schema) {
      auto const raw = std::as_bytes(std::span(whole.values).subspan(offset, tensor.numel()));
      for (auto const& m : split_tensor(head, tensor, compress::CompressionType::none, raw)) {
        auto item = m.head;
        append(item, m.tail);
        REQUIRE(assembler.feed(item));
      }
      head.clear();
      offset += tensor.numel();
    }
    auto const got = assembler.finish();
    REQUIRE(got);
    CHECK(got->epoch == state.epoch);
    CHECK(got->values == whole.values);
    CHECK(got->optimizer_metadata == state.optimizer_metadata);
  }
}

TEST_CASE("download_state: split as hivemind splits") {
  for (auto const& c : group("download_state")) {
    CAPTURE(c["name"]);
    auto metadata = test::unhex(c["metadata_msgpack_hex"]);
    std::size_t at = 0;
    for (auto const& t : c["tensors"]) {
      auto spec = schema_of(json::array({t}))[0];
      auto const& described = c["messages"][at];
      std::vector<float> values(spec.numel());
      if (t["values"].is_null()) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
      } else {
        values = t["values"].get<std::vector<float>>();
      }
      auto codec = compress::CompressionType::none;
      if (described.contains("serialized_hex")) {
        auto const bytes = test::unhex(described["serialized_hex"]);
        auto const parsed = parse_download_data(bytes);
        codec = parsed->tensor->compression;
        spec.requires_grad = parsed->tensor->requires_grad;
      }
      Bytes buffer;
      REQUIRE(compress::encode(codec, values, buffer));
      for (auto const& m : split_tensor(metadata, spec, codec, buffer)) {
        auto item = m.head;
        append(item, m.tail);
        auto const& expected = c["messages"][at++];
        CHECK(item.size() == expected["serialized_len"].get<std::size_t>());
        auto const ours = parse_download_data(item);
        REQUIRE(ours);
        CHECK(ours->metadata.empty() == !expected["has_metadata"].get<bool>());
        CHECK(ours->tensor->chunks == expected["chunks"].get<int>());
        CHECK(ours->tensor->buffer.size() == expected["buffer_len"].get<std::size_t>());
        if (expected.contains("serialized_hex")) {
          auto const theirs_bytes = test::unhex(expected["serialized_hex"]);
          auto const theirs = parse_download_data(theirs_bytes);
          CHECK(equal(ours->tensor->buffer, theirs->tensor->buffer));
          CHECK(ours->tensor->size == theirs->tensor->size);
        }
      }
      metadata.clear();
    }
    CHECK(at == c["messages"].size());
  }
}

TEST_CASE(
    "matchmaking transcripts: our rules answer as hivemind did, and come to the same group and "
    "key") {
  int accepted = 0;
  for (auto const& c : group("matchmaking")) {
    CAPTURE(c["name"]);
    std::vector<PeerId> peers;
    for (auto const& id : c["peer_ids_hex"]) peers.push_back(*PeerId::from_bytes(test::unhex(id)));
    std::optional<std::size_t> target;
    if (!c["target_group_size"].is_null()) target = c["target_group_size"].get<std::size_t>();
    std::map<std::size_t, Matchmaking> rules;  // of those who declared
    std::map<std::pair<std::size_t, std::size_t>, JoinRequest> asked;
    double t0 = 0;
    for (auto const& m : c["transcript"]) {
      if (m.contains("op")) {
        if (m["value"] != true || rules.contains(m["by"])) continue;
        Matchmaking::Settings settings;
        settings.self = peers[m["by"].get<std::size_t>()];
        settings.target_group_size = target;
        rules.emplace(m["by"].get<std::size_t>(), Matchmaking(settings));
        rules.at(m["by"]).declare(m["expiration_minus_t0"].get<double>());  // after begin(), below
        continue;
      }
      auto const bytes = test::unhex(m["message_hex"]);
      std::size_t const from = m["from"];
      std::size_t const to = m["to"];
      if (m["type"] == "JoinRequest") {
        auto request = *parse_join_request(bytes);
        if (t0 == 0) t0 = request.expiration - m["fields"]["expiration_minus_t0"].get<double>();
        asked[{from, to}] = request;
        continue;
      }
      auto const message = *parse_message_from_leader(bytes);
      if (message.code == MessageCode::accepted) {
        auto const& request = asked.at({to, from});
        Matchmaking::Settings settings;
        settings.self = peers[from];
        settings.schema_hash = request.schema_hash;
        settings.target_group_size = target;
        auto const exp = rules.at(from).declared();
        Matchmaking leader(settings);
        leader.begin(request.group_key, request.gather);
        leader.declare(t0 + exp);
        if (exp <= request.expiration - t0 + 1e-3) {
          CHECK(leader.check_join(peers[to], request, false) == MessageCode::accepted);
          ++accepted;
        }
        auto wrong = request;
        wrong.group_key += "1";
        CHECK(leader.check_join(peers[to], wrong, false) == MessageCode::bad_group_key);
      }
      if (message.code == MessageCode::begin_allreduce) {
        Matchmaking::Settings settings;
        settings.self = peers[to];
        Matchmaking follower(settings);
        follower.begin("golden.0b0", {});
        follower.follow(peers[from]);
        auto const joined = follower.joined(message);
        REQUIRE(joined);
        auto const& result = c["results"][to];
        if (result["group_id_hex"] != to_hex(message.group_id)) continue;
        std::vector<std::size_t> order;
        for (auto const& peer : (*joined)->members)
          order.push_back(static_cast<std::size_t>(std::find(peers.begin(), peers.end(), peer) -
                                                   peers.begin()));
        CHECK(order == result["ordered_peers"].get<std::vector<std::size_t>>());
        CHECK(next_bits("0", (*joined)->id, (*joined)->size(), (*joined)->self, target) ==
              result["new_group_bits"].get<std::string>());
      }
    }
  }
  CHECK(accepted >= 2);
}
