// SPDX-License-Identifier: MIT
#include "core/node/snapshot_json.hpp"

#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

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

// A window shows thousands of rows at most; a longer list is not from a node of ours.
constexpr std::size_t kMaxItems = 4096;
constexpr std::size_t kMaxSnapshotBytes = 8u << 20;

using In = nlohmann::json;

In const* find(In const& object, char const* key) {
  if (!object.is_object()) return nullptr;
  auto const at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

void read(In const& value, std::string& into) {
  if (value.is_string()) into = value.get_ref<std::string const&>();
}

void read(In const& value, bool& into) {
  if (value.is_boolean()) into = value.get<bool>();
}

void read(In const& value, double& into) {
  if (value.is_number()) into = value.get<double>();
}

template <class T>
requires std::is_integral_v<T>

void read(In const& value, T& into) {
  if constexpr (std::is_signed_v<T>) {
    if (value.is_number_integer()) into = value.get<T>();
  } else {
    if (value.is_number_unsigned()) into = value.get<T>();
  }
}

void read(In const& value, std::optional<double>& into) {
  if (value.is_number()) into = value.get<double>();
}

void read(In const& value, PeerView& into);
void read(In const& value, RoundView& into);
void read(In const& value, TaskView& into);
void read(In const& value, ContributionView& into);

void read(In const& value, std::optional<RoundView>& into) {
  if (value.is_object()) read(value, into.emplace());
}

template <class T>
void read(In const& value, std::vector<T>& into) {
  if (!value.is_array()) return;
  for (auto const& item : value) {
    if (into.size() >= kMaxItems) return;
    read(item, into.emplace_back());
  }
}

template <class T>
void field(In const& object, char const* key, T& into) {
  if (auto const* const value = find(object, key)) read(*value, into);
}

void read(In const& v, PeerView& p) {
  field(v, "id", p.id);
  field(v, "address", p.address);
  field(v, "agent", p.agent);
  field(v, "relayed", p.relayed);
  field(v, "inbound", p.inbound);
  field(v, "round_trip_ms", p.round_trip_ms);
  field(v, "bytes_in", p.bytes_in);
  field(v, "bytes_out", p.bytes_out);
  field(v, "connected_for", p.connected_for);
}

void read(In const& v, RoundView& r) {
  field(v, "epoch", r.epoch);
  field(v, "outcome", r.outcome);
  field(v, "why", r.why);
  field(v, "group", r.group);
  field(v, "seconds", r.seconds);
  field(v, "bytes_sent", r.bytes_sent);
  field(v, "bytes_received", r.bytes_received);
  field(v, "values_sent", r.values_sent);
}

void read(In const& v, TaskView& t) {
  field(v, "operator", t.operator_id);
  field(v, "prefix", t.prefix);
  field(v, "title", t.title);
  field(v, "link", t.link);
  field(v, "state", t.state);
  field(v, "phase", t.phase);
  field(v, "reason", t.reason);
  field(v, "epoch", t.epoch);
  field(v, "swarm_epoch", t.swarm_epoch);
  field(v, "samples_this_epoch", t.samples_this_epoch);
  field(v, "swarm_samples", t.swarm_samples);
  field(v, "target_batch_size", t.target_batch_size);
  field(v, "samples_per_second", t.samples_per_second);
  field(v, "swarm_samples_per_second", t.swarm_samples_per_second);
  field(v, "swarm_peers", t.swarm_peers);
  field(v, "eta", t.eta);
  field(v, "loss", t.loss);
  field(v, "learning_rate", t.learning_rate);
  field(v, "test_loss", t.test_loss);
  field(v, "test_accuracy", t.test_accuracy);
  field(v, "samples_given", t.samples_given);
  field(v, "fetch_done", t.fetch_done);
  field(v, "fetch_total", t.fetch_total);
  field(v, "last_round", t.last_round);
  field(v, "ignored_peers", t.ignored_peers);
}

void read(In const& v, ContributionView& c) {
  field(v, "samples", c.samples);
  field(v, "rounds", c.rounds);
  field(v, "credits", c.credits);
  field(v, "hours", c.hours);
}

}  // namespace

Result<Snapshot> snapshot_from_json(std::string_view text) {
  if (text.size() > kMaxSnapshotBytes)
    return Error{
        Errc::malformed,
        cat("a snapshot of ", text.size(), " bytes; at most ", kMaxSnapshotBytes, " are read")};
  auto const json = In::parse(text, nullptr, false);
  auto const* const schema = find(json, "schema");
  if (schema == nullptr || !schema->is_number_integer() || schema->get<int>() != Snapshot::kSchema)
    return Error{Errc::malformed, cat("no snapshot of schema ", Snapshot::kSchema)};
  Snapshot s;
  field(json, "version", s.version);
  field(json, "pid", s.pid);
  field(json, "time", s.time);
  field(json, "uptime", s.uptime);
  field(json, "peer_id", s.peer_id);
  field(json, "addresses", s.addresses);
  field(json, "peers", s.peers);
  field(json, "tasks", s.tasks);
  if (auto const* const contribution = find(json, "contribution")) {
    field(*contribution, "today", s.today);
    field(*contribution, "week", s.week);
    field(*contribution, "all", s.all_time);
  }
  field(json, "socket_bytes_in", s.socket_bytes_in);
  field(json, "socket_bytes_out", s.socket_bytes_out);
  field(json, "dht_table", s.dht_table);
  field(json, "dht_records", s.dht_records);
  field(json, "clock_offset", s.clock_offset);
  field(json, "notices", s.notices);
  return s;
}

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
