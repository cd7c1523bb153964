// SPDX-License-Identifier: MIT
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "core/crypto/record_key.hpp"
#include "core/dht/rsa_validator.hpp"
#include "core/dht/schema_validator.hpp"
#include "core/optim/gradient_mean.hpp"
#include "core/optim/performance_ema.hpp"
#include "core/optim/progress.hpp"

#include "tests/support/vectors.hpp"

using namespace waggle;
using namespace waggle::optim;

namespace {

nlohmann::json const& group(char const* name) {
  return test::vectors("averaging").at(name);
}

LocalProgress progress_of(nlohmann::json const& j) {
  LocalProgress p;
  p.epoch = j.at("epoch").get<std::int64_t>();
  p.samples_accumulated = j.at("samples_accumulated").get<std::uint64_t>();
  p.samples_per_second = j.at("samples_per_second").get<double>();
  p.time = j.value("time", 0.0);
  p.client_mode = j.value("client_mode", false);
  return p;
}

}  // namespace

TEST_CASE("hivemind's progress values are written and read byte for byte") {
  std::size_t replayed = 0;
  for (auto const& c : group("local_training_progress")) {
    auto expected = progress_of(c.at("fields"));
    auto const id = test::unhex(c.at("fields").at("peer_id_hex"));
    expected.peer = *PeerId::from_bytes(id);
    auto const bytes = test::unhex(c.at("msgpack_hex"));
    CHECK(expected.to_msgpack().encode() == bytes);
    auto const decoded = wire::Msgpack::decode(bytes);
    REQUIRE(decoded);
    auto const read = LocalProgress::from_msgpack(*decoded);
    REQUIRE(read);
    CHECK(*read == expected);
    ++replayed;
  }
  test::announce("averaging/local_training_progress", replayed);
  CHECK(replayed == 3);
}

TEST_CASE("hivemind's signed progress record stands where we look and passes our validators") {
  auto const& c = group("signed_progress_record");
  auto const key = dht::Id::of_text(progress_key("run"));
  CHECK(equal(key.bytes, test::unhex(c.at("key_hex"))));
  auto const subkey = progress_subkey(c.at("public_key_openssh").get<std::string>());
  CHECK(subkey == test::unhex(c.at("subkey_msgpack_hex")));
  auto value = test::unhex(c.at("signed_value_hex"));
  double const expiration = c.at("expiration_time").get<double>();
  dht::RsaValidator const rsa;
  dht::SchemaValidator const schema({dht::progress_schema("run")});
  dht::RecordView const record{key, subkey, value, expiration};
  CHECK(rsa.validate(record));
  auto const plain = rsa.strip(record);
  CHECK(plain == test::unhex(c.at("unsigned_value_hex")));
  CHECK(schema.validate({key, subkey, plain, expiration}));
  auto const nil = wire::Msgpack().encode();
  CHECK(schema.validate({key, subkey, nil, expiration}));
  value[10] ^= std::byte{1};
  CHECK(!rsa.validate({key, subkey, value, expiration}));
  test::announce("averaging/signed_progress_record", 1);
}

TEST_CASE("what records say is estimated as hivemind does, before anybody is doubted") {
  std::size_t replayed = 0;
  for (auto const& c : group("global_progress")) {
    CAPTURE(c.at("name").get<std::string>());
    std::vector<std::optional<LocalProgress>> entries;
    if (!c.at("entries").is_null())
      for (auto const& e : c.at("entries"))
        entries.push_back(e.is_null() ? std::nullopt : std::optional(progress_of(e)));
    auto const target = c.at("target_batch_size").get<std::uint64_t>();
    // This case was made with the albert example's limit.
    RefreshLimits limits;
    if (c.at("name") == "many") limits.max = 30;
    auto const got = estimate_plain(
        progress_of(c.at("local")), target, entries, c.at("now").get<double>(), limits);
    auto const& r = c.at("result");
    CHECK(got.epoch == r.at("epoch").get<std::int64_t>());
    CHECK(got.samples_accumulated == r.at("samples_accumulated").get<std::uint64_t>());
    CHECK(got.target_batch_size == r.at("target_batch_size").get<std::uint64_t>());
    CHECK(got.peers == r.at("num_peers").get<std::size_t>());
    CHECK(got.clients == r.at("num_clients").get<std::size_t>());
    CHECK(got.eta == doctest::Approx(r.at("eta_next_epoch").get<double>()).epsilon(1e-12));
    CHECK(got.next_fetch == doctest::Approx(r.at("next_fetch_time").get<double>()).epsilon(1e-12));
    ++replayed;
  }
  test::announce("averaging/global_progress", replayed);
  CHECK(replayed >= 9);
}

TEST_CASE("rates are averaged as hivemind does") {
  auto const& c = group("performance_ema");
  PerformanceEma ema(c.at("alpha").get<double>());
  std::size_t replayed = 0;
  for (auto const& s : c.at("steps")) {
    ema.update(s.at("task_size").get<std::uint64_t>(), s.at("interval").get<double>());
    CHECK(ema.samples_per_second() ==
          doctest::Approx(s.at("samples_per_second").get<double>()).epsilon(1e-12));
    CHECK(ema.seconds_per_sample_biased() ==
          doctest::Approx(s.at("ema_seconds_per_sample").get<double>()).epsilon(1e-12));
    ++replayed;
  }
  test::announce("averaging/performance_ema", replayed);
  CHECK(replayed == 4);
}

TEST_CASE("unequal batches weigh by their samples, where hivemind's accumulation does not") {
  std::size_t replayed = 0;
  std::size_t wrong_there = 0;
  for (auto const& c : group("gradient_accumulation")) {
    auto const sizes = c.at("batch_sizes").get<std::vector<std::uint64_t>>();
    auto const gradients = c.at("gradients").get<std::vector<std::vector<double>>>();
    auto const truth = c.at("true_sample_weighted_mean").get<std::vector<double>>();
    auto const theirs = c.at("averaged_input").get<std::vector<double>>();
    std::vector<float> sum(truth.size());
    std::uint64_t samples = 0;
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      samples += sizes[b];
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] += static_cast<float>(gradients[b][i] * static_cast<double>(sizes[b]));
    }
    mean_of_sum(sum, samples);
    CHECK(static_cast<double>(samples) == c.at("weight").get<double>());
    for (std::size_t i = 0; i < sum.size(); ++i)
      CHECK(static_cast<double>(sum[i]) == doctest::Approx(truth[i]).epsilon(1e-6));
    if (std::abs(theirs[0] - truth[0]) > 0.1) ++wrong_there;
    ++replayed;
  }
  test::announce("averaging/gradient_accumulation", replayed);
  CHECK(replayed == 4);
  CHECK(wrong_there == 3);
}
