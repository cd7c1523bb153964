// SPDX-License-Identifier: MIT
#include "core/node/snapshot_json.hpp"

#include <nlohmann/json.hpp>

namespace waggle::node {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(std::optional<T> const& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(PeerView const& p) {
  return {{"id", p.id},
          {"address", p.address},
          {"agent", p.agent},
          {"relayed", p.relayed},
          {"inbound", p.inbound},
          {"round_trip_ms", optional(p.round_trip_ms)},
          {"bytes_in", p.bytes_in},
          {"bytes_out", p.bytes_out},
          {"connected_for", p.connected_for}};
}

Json json_of(RoundView const& r) {
  return {{"epoch", r.epoch},
          {"outcome", r.outcome},
          {"why", r.why},
          {"group", r.group},
          {"seconds", r.seconds},
          {"bytes_sent", r.bytes_sent},
          {"bytes_received", r.bytes_received},
          {"values_sent", r.values_sent}};
}

Json json_of(TaskView const& t) {
  return {{"operator", t.operator_id},
          {"prefix", t.prefix},
          {"title", t.title},
          {"link", t.link},
          {"state", t.state},
          {"phase", t.phase},
          {"reason", t.reason},
          {"paused_by", t.paused_by},
          {"epoch", t.epoch},
          {"swarm_epoch", t.swarm_epoch},
          {"samples_this_epoch", t.samples_this_epoch},
          {"swarm_samples", t.swarm_samples},
          {"target_batch_size", t.target_batch_size},
          {"samples_per_second", t.samples_per_second},
          {"swarm_samples_per_second", t.swarm_samples_per_second},
          {"swarm_peers", t.swarm_peers},
          {"eta", t.eta},
          {"loss", optional(t.loss)},
          {"learning_rate", optional(t.learning_rate)},
          {"test_loss", optional(t.test_loss)},
          {"test_accuracy", optional(t.test_accuracy)},
          {"samples_given", t.samples_given},
          {"fetch_done", t.fetch_done},
          {"fetch_total", t.fetch_total},
          {"last_round", t.last_round ? json_of(*t.last_round) : Json(nullptr)},
          {"ignored_peers", t.ignored_peers}};
}

Json json_of(ContributionView const& c) {
  return {{"samples", c.samples}, {"rounds", c.rounds}, {"credits", c.credits}, {"hours", c.hours}};
}

Json json_of(GuestView const& g) {
  return {{"resting", g.resting},
          {"reason", g.reason},
          {"causes", g.causes},
          {"overridden", g.overridden},
          {"followed", g.followed},
          {"power", g.power},
          {"threads", g.threads},
          {"duty", g.duty}};
}

Json json_of(GpuView const& g) {
  return {{"name", g.name},
          {"busy", optional(g.busy)},
          {"memory_used", optional(g.memory_used)},
          {"memory_total", optional(g.memory_total)},
          {"celsius", optional(g.celsius)},
          {"watts", optional(g.watts)}};
}

template <class T>
Json list(std::vector<T> const& items) {
  Json out = Json::array();
  for (auto const& item : items) out.push_back(json_of(item));
  return out;
}

Json json_of(MachineView const& m) {
  return {{"cores", m.cores},
          {"cpu", optional(m.cpu)},
          {"cpu_others", optional(m.cpu_others)},
          {"celsius", optional(m.celsius)},
          {"memory_total", m.memory_total},
          {"memory_available", m.memory_available},
          {"disk_available", m.disk_available},
          {"has_battery", m.has_battery},
          {"on_battery", m.on_battery},
          {"battery_percent", optional(m.battery_percent)},
          {"idle_seconds", optional(m.idle_seconds)},
          {"metered", optional(m.metered)},
          {"gpus", list(m.gpus)}};
}

}  // namespace

std::string to_json(Snapshot const& s) {
  Json const json = {
      {"schema", Snapshot::kSchema},
      {"version", s.version},
      {"pid", s.pid},
      {"time", s.time},
      {"uptime", s.uptime},
      {"peer_id", s.peer_id},
      {"addresses", s.addresses},
      {"peers", list(s.peers)},
      {"tasks", list(s.tasks)},
      {"contribution",
       {{"today", json_of(s.today)}, {"week", json_of(s.week)}, {"all", json_of(s.all_time)}}},
      {"socket_bytes_in", s.socket_bytes_in},
      {"socket_bytes_out", s.socket_bytes_out},
      {"dht_table", s.dht_table},
      {"dht_records", s.dht_records},
      {"clock_offset", s.clock_offset},
      {"notices", s.notices},
      {"guest", json_of(s.guest)},
      {"machine", json_of(s.machine)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace waggle::node
