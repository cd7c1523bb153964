// SPDX-License-Identifier: MIT
#include "core/optim/swarm_metrics.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/dht/schema_validator.hpp"
#include "core/optim/progress.hpp"

namespace waggle::optim {
namespace {

constexpr std::size_t kFields = 5;
constexpr Duration kEvery = std::chrono::seconds(30);
// While no epoch of ours ends: what others say of theirs is read with ours alone.
constexpr Duration kSeldom = std::chrono::minutes(3);
constexpr Duration kTimeout = std::chrono::seconds(10);
// Counts in others' records are only divided by and compared; larger ones are no counts.
constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;

Error bad(std::string_view field, std::string_view expected) {
  return Error{Errc::malformed, cat("metrics record: ", field, " must be ", expected)};
}

Result<double> finite(wire::Msgpack const& map, std::string_view field) {
  auto const* found = map.find(field);
  auto const* number = found ? found->get<double>() : nullptr;
  if (!number || !std::isfinite(*number)) return bad(field, "a finite float64");
  return *number;
}

Result<std::int64_t> count(wire::Msgpack const& map, std::string_view field) {
  auto const* found = map.find(field);
  auto const* number = found ? found->get<std::int64_t>() : nullptr;
  if (!number || *number < 0 || *number > kMostCounted) return bad(field, "a count");
  return *number;
}

}  // namespace

wire::Msgpack LocalMetrics::to_msgpack() const {
  wire::Msgpack::Map map;
  map.emplace_back("step", step);
  map.emplace_back("samples_per_second", samples_per_second);
  map.emplace_back("samples_accumulated", samples_accumulated);
  map.emplace_back("loss", loss);
  map.emplace_back("mini_steps", mini_steps);
  return map;
}

Result<LocalMetrics> LocalMetrics::from_msgpack(wire::Msgpack const& value) {
  auto const* map = value.get<wire::Msgpack::Map>();
  if (!map || map->size() != kFields) return bad("value", "a map of exactly five fields");
  LocalMetrics m;
  WAGGLE_TRY(m.step, count(value, "step"));
  WAGGLE_TRY(m.samples_per_second, finite(value, "samples_per_second"));
  if (m.samples_per_second < 0) return bad("samples_per_second", "at least 0");
  WAGGLE_TRY(m.samples_accumulated, count(value, "samples_accumulated"));
  WAGGLE_TRY(m.loss, finite(value, "loss"));
  WAGGLE_TRY(m.mini_steps, count(value, "mini_steps"));
  return m;
}

std::optional<SwarmLoss> swarm_loss(std::span<LocalMetrics const> claims, std::int64_t our_epoch) {
  std::vector<double> means;
  for (auto const& claim : claims) {
    auto const apart = std::max(claim.step, our_epoch) - std::min(claim.step, our_epoch);
    // Nought mini-steps stand for an epoch without a sample of theirs.
    if (claim.mini_steps == 0 || apart > SwarmMetrics::kNearEpochs) continue;
    means.push_back(claim.loss / static_cast<double>(claim.mini_steps));
  }
  if (means.empty()) return std::nullopt;
  std::sort(means.begin(), means.end());
  auto const middle = means.size() / 2;
  bool const odd = means.size() % 2 == 1;
  return SwarmLoss{odd ? means[middle] : (means[middle - 1] + means[middle]) / 2, means.size()};
}

SwarmMetrics::SwarmMetrics(dht::Dht& dht, crypto::RecordKey const& key, std::string run_id)
    : dht_(dht),
      runtime_(dht.host().runtime()),
      key_(dht::Id::of_text(cat(run_id, "_metrics"))),
      subkey_(progress_subkey(key.openssh_public())),
      ended_(runtime_),
      scope_(runtime_) {
  std::vector<dht::KeySchema> schemas{dht::metrics_schema(run_id)};
  schema_ = dht_.add_validator(std::make_shared<dht::SchemaValidator>(std::move(schemas)));
  scope_.spawn("metrics", work());
}

SwarmMetrics::~SwarmMetrics() = default;

Co<void> SwarmMetrics::close() {
  co_await scope_.close();
  schema_.reset();
}

void SwarmMetrics::ended(LocalMetrics ours) {
  // An epoch to which we gave nothing says nothing.
  if (ours.mini_steps == 0 || !std::isfinite(ours.loss)) return;
  ours_ = ours;
  ended_.notify_all();
}

std::optional<SwarmLoss> SwarmMetrics::loss() const {
  if (!ours_) return std::nullopt;
  auto claims = claims_;
  claims.push_back(*ours_);
  return swarm_loss(claims, ours_->step);
}

Co<void> SwarmMetrics::work() {
  while (!ours_) {
    auto const woken = co_await ended_.wait();
    if (!woken) co_return;
  }
  for (;;) {
    // The others tell theirs about now, too: some of them after we have looked.
    bool const all_tell = news();
    auto const told = co_await tell();
    if (!told && told.error().code == Errc::cancelled) co_return;
    auto const seen = co_await look();
    if (!seen && seen.error().code == Errc::cancelled) co_return;
    if (!told) log::debug("optim", "metrics not stored: ", told.error().detail);
    if (!seen) log::debug("optim", "metrics not read: ", seen.error().detail);
    auto const began = runtime_.now();
    auto const next = [&] { return began + (all_tell || news() ? kEvery : kSeldom); };
    while (runtime_.now() < next()) {
      auto const woken = co_await ended_.wait(next());
      if (!woken && woken.error().code == Errc::cancelled) co_return;
    }
  }
}

bool SwarmMetrics::news() const {
  return ours_->step != told_;
}

Co<Status> SwarmMetrics::tell() {
  if (!news()) co_return ok();
  auto const step = ours_->step;
  dht::Record record;
  record.key = key_;
  record.subkey = subkey_;
  record.value = ours_->to_msgpack().encode();
  record.expiration = dht_.time() + kExpiration;
  auto const deadline = runtime_.now() + kTimeout;
  WAGGLE_CO_TRY(bool const stored, co_await dht_.store(std::move(record), deadline));
  if (!stored) co_return Error{Errc::refused, "no node took our metrics record"};
  told_ = step;
  co_return ok();
}

Co<Status> SwarmMetrics::look() {
  auto const deadline = runtime_.now() + kTimeout;
  WAGGLE_CO_TRY(auto const found, co_await dht_.get(key_, dht::Freshness::latest, deadline));
  std::vector<LocalMetrics> claims;
  if (found.dictionary)
    for (auto const& [subkey, timed] : *found.dictionary) {
      if (subkey == subkey_ || claims.size() >= kMostClaims) continue;
      auto const value = wire::Msgpack::decode(timed.value);
      if (!value) continue;
      if (auto claim = LocalMetrics::from_msgpack(*value)) claims.push_back(*claim);
    }
  claims_ = std::move(claims);
  co_return ok();
}

}  // namespace waggle::optim
