// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/dht/rsa_validator.hpp"
#include "core/optim/progress.hpp"

#include "tests/unit/optim/swarm.hpp"

/// What a liar says of itself.
namespace waggle::test {

using namespace std::chrono_literals;

struct Lie {
  char const* what;
  std::optional<std::int64_t> epoch;
  std::optional<std::uint64_t> samples;
  std::optional<double> rate;
};

// Stores a lie about itself three times a second, signed as it must be.
inline Co<void> lie_on(OptimSwarm& swarm,
                       OptimSwarm::Peer& liar,
                       crypto::RecordKey const& key,
                       Lie lie,
                       OptimSwarm::Peer& honest) {
  std::shared_ptr<crypto::RecordKey const> const borrowed(std::shared_ptr<void>(), &key);
  auto const rsa = std::make_shared<dht::RsaValidator>(borrowed);
  auto const signing = liar.dht->add_validator(rsa);
  for (;;) {
    optim::LocalProgress p;
    p.peer = liar.host->self();
    p.epoch = lie.epoch.value_or(honest.optimizer->status().epoch);
    p.samples_accumulated = lie.samples.value_or(16);
    p.samples_per_second = lie.rate.value_or(200);
    p.time = liar.dht->time();
    dht::Record record;
    record.key = dht::Id::of_text("toy_progress");
    record.subkey = optim::progress_subkey(key.openssh_public());
    record.value = p.to_msgpack().encode();
    record.expiration = p.time + 60;
    auto const stored = co_await liar.dht->store(std::move(record), swarm.world.now() + 5s);
    if (!stored && stored.error().code == Errc::cancelled) co_return;
    auto const slept = co_await swarm.world.sleep_for(333ms);
    if (!slept) co_return;
  }
}

}  // namespace waggle::test
