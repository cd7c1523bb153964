// SPDX-License-Identifier: MIT
#include "core/optim/progress.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"

namespace waggle::optim {

namespace {

constexpr std::size_t kFields = 6;

Error bad(std::string_view field, std::string_view expected) {
  return Error{Errc::malformed, cat("progress record: ", field, " must be ", expected)};
}

Result<double> finite_float(wire::Msgpack const& map, std::string_view field) {
  auto const* found = map.find(field);
  auto const* number = found ? found->get<double>() : nullptr;
  if (!number || !std::isfinite(*number)) return bad(field, "a finite float64");
  return *number;
}

Result<std::int64_t> natural(wire::Msgpack const& map, std::string_view field) {
  auto const* found = map.find(field);
  auto const* number = found ? found->get<std::int64_t>() : nullptr;
  if (!number || *number < 0) return bad(field, "an integer from 0");
  return *number;
}

}  // namespace

wire::Msgpack LocalProgress::to_msgpack() const {
  wire::Msgpack::Map map;
  map.emplace_back("peer_id", to_bytes(peer.bytes()));
  map.emplace_back("epoch", epoch);
  map.emplace_back("samples_accumulated", samples_accumulated);
  map.emplace_back("samples_per_second", samples_per_second);
  map.emplace_back("time", time);
  map.emplace_back("client_mode", client_mode);
  return map;
}

Result<LocalProgress> LocalProgress::from_msgpack(wire::Msgpack const& value) {
  auto const* map = value.get<wire::Msgpack::Map>();
  if (!map || map->size() != kFields) return bad("value", "a map of exactly six fields");
  LocalProgress p;
  auto const* id = value.find("peer_id");
  auto const* raw = id ? id->get<Bytes>() : nullptr;
  auto const peer = raw ? PeerId::from_bytes(*raw) : std::nullopt;
  if (!peer) return bad("peer_id", "the bytes of a PeerID");
  p.peer = *peer;
  WAGGLE_TRY(p.epoch, natural(value, "epoch"));
  WAGGLE_TRY(auto const samples, natural(value, "samples_accumulated"));
  p.samples_accumulated = static_cast<std::uint64_t>(samples);
  WAGGLE_TRY(p.samples_per_second, finite_float(value, "samples_per_second"));
  if (p.samples_per_second < 0) return bad("samples_per_second", "at least 0");
  WAGGLE_TRY(p.time, finite_float(value, "time"));
  auto const* client = value.find("client_mode");
  auto const* flag = client ? client->get<bool>() : nullptr;
  if (!flag) return bad("client_mode", "a boolean");
  p.client_mode = *flag;
  return p;
}

double refresh_after(double eta_seconds, std::size_t peers, RefreshLimits const& limits) noexcept {
  if (peers == 0) return limits.standard;
  auto const n = static_cast<double>(peers);
  auto const grown = std::max(n + limits.drift_peers, n * (1 + limits.drift_rate));
  return std::clamp(eta_seconds * n / grown, limits.min, limits.max);
}

GlobalProgress estimate_plain(LocalProgress const& local,
                              std::uint64_t target_batch_size,
                              std::span<std::optional<LocalProgress> const> entries,
                              double now,
                              RefreshLimits const& limits) {
  GlobalProgress global;
  global.target_batch_size = target_batch_size;
  global.epoch = local.epoch;
  double rate = kNoRate;
  for (auto const& e : entries) {
    if (!e) continue;
    ++global.peers;
    if (e->client_mode) ++global.clients;
    if (!e->client_mode) global.epoch = std::max(global.epoch, e->epoch);
    rate += e->samples_per_second;
  }
  double estimated = 0;
  if (global.peers == 0) {
    global.samples_accumulated = local.samples_accumulated;
    estimated = static_cast<double>(local.samples_accumulated);
    rate = local.samples_per_second;
  }
  for (auto const& e : entries) {
    if (!e || e->epoch != global.epoch) continue;
    global.samples_accumulated += e->samples_accumulated;
    estimated += static_cast<double>(e->samples_accumulated) +
                 std::max(0.0, now - e->time) * e->samples_per_second;
  }
  global.samples_per_second = rate;
  double const eta = std::max(0.0, static_cast<double>(target_batch_size) - estimated) / rate;
  global.eta = now + eta;
  global.next_fetch = now + refresh_after(eta, global.peers, limits);
  return global;
}

std::string progress_key(std::string_view run_id) {
  return cat(run_id, "_progress");
}

Bytes progress_subkey(std::string_view openssh_public) {
  return wire::Msgpack(to_bytes(cat("[owner:", openssh_public, "]"))).encode();
}

}  // namespace waggle::optim
