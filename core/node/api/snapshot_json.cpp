// SPDX-License-Identifier: MIT
#include "core/node/api/snapshot_json.hpp"

#include <concepts>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

namespace waggle::node {
namespace {

template <class T, class View>
concept Of = std::same_as<std::remove_const_t<T>, View>;

// Every field once, by its name in JSON; the writer and the reader below walk the same lists.

void each_field(auto& v, Of<PeerView> auto& p) {
  v("id", p.id);
  v("address", p.address);
  v("agent", p.agent);
  v("relayed", p.relayed);
  v("inbound", p.inbound);
  v("round_trip_ms", p.round_trip_ms);
  v("bytes_in", p.bytes_in);
  v("bytes_out", p.bytes_out);
  v("connected_for", p.connected_for);
}

void each_field(auto& v, Of<RoundView> auto& r) {
  v("epoch", r.epoch);
  v("outcome", r.outcome);
  v("why", r.why);
  v("group", r.group);
  v("seconds", r.seconds);
  v("bytes_sent", r.bytes_sent);
  v("bytes_received", r.bytes_received);
  v("values_sent", r.values_sent);
}

void each_field(auto& v, Of<VolunteerView> auto& p) {
  v("id", p.id);
  v("samples_per_second", p.samples_per_second);
  v("samples", p.samples);
  v("epoch", p.epoch);
  v("age", p.age);
  v("connected", p.connected);
  v("reason", p.reason);
}

void each_field(auto& v, Of<TaskView> auto& t) {
  v("operator", t.operator_id);
  v("prefix", t.prefix);
  v("title", t.title);
  v("link", t.link);
  v("state", t.state);
  v("phase", t.phase);
  v("reason", t.reason);
  v("paused_by", t.paused_by);
  v("epoch", t.epoch);
  v("swarm_epoch", t.swarm_epoch);
  v("samples_this_epoch", t.samples_this_epoch);
  v("swarm_samples", t.swarm_samples);
  v("target_batch_size", t.target_batch_size);
  v("samples_per_second", t.samples_per_second);
  v("swarm_samples_per_second", t.swarm_samples_per_second);
  v("swarm_peers", t.swarm_peers);
  v("place", t.place);
  v("eta", t.eta);
  v("loss", t.loss);
  v("learning_rate", t.learning_rate);
  v("test_loss", t.test_loss);
  v("test_accuracy", t.test_accuracy);
  v("samples_given", t.samples_given);
  v("fetch_done", t.fetch_done);
  v("fetch_total", t.fetch_total);
  v("last_round", t.last_round);
  v("ignored_peers", t.ignored_peers);
  v("volunteers", t.volunteers);
  v("choices", t.choices);
  v("swarm_loss", t.swarm_loss);
  v("swarm_loss_peers", t.swarm_loss_peers);
}

void each_field(auto& v, Of<KnownTaskView> auto& k) {
  v("operator", k.operator_id);
  v("prefix", k.prefix);
  v("link", k.link);
  v("source", k.source);
  v("state", k.state);
  v("reason", k.reason);
  v("choices", k.choices);
  v("title", k.title);
  v("description", k.description);
  v("licence", k.licence);
  v("model", k.model);
  v("data", k.data);
  v("download", k.download);
  v("parameters", k.parameters);
  v("memory_needed", k.memory_needed);
  v("disk_needed", k.disk_needed);
  v("fits", k.fits);
  v("missing", k.missing);
  v("joined", k.joined);
}

void each_field(auto& v, Of<ContributionView> auto& c) {
  v("samples", c.samples);
  v("rounds", c.rounds);
  v("credits", c.credits);
  v("hours", c.hours);
  v("kwh", c.kwh);
}

void each_field(auto& v, Of<SpanView> auto& s) {
  v("begin", s.begin);
  v("samples", s.samples);
  v("hours", s.hours);
  v("kwh", s.kwh);
}

void each_field(auto& v, Of<GuestView> auto& g) {
  v("resting", g.resting);
  v("reason", g.reason);
  v("causes", g.causes);
  v("overridden", g.overridden);
  v("followed", g.followed);
  v("power", g.power);
  v("threads", g.threads);
  v("duty", g.duty);
  v("on_gpu", g.on_gpu);
}

void each_field(auto& v, Of<GpuView> auto& g) {
  v("name", g.name);
  v("busy", g.busy);
  v("memory_used", g.memory_used);
  v("memory_total", g.memory_total);
  v("celsius", g.celsius);
  v("watts", g.watts);
}

void each_field(auto& v, Of<MachineView> auto& m) {
  v("cores", m.cores);
  v("watts_per_core", m.watts_per_core);
  v("watts_measured", m.watts_measured);
  v("cpu", m.cpu);
  v("cpu_others", m.cpu_others);
  v("celsius", m.celsius);
  v("memory_total", m.memory_total);
  v("memory_available", m.memory_available);
  v("disk_available", m.disk_available);
  v("has_battery", m.has_battery);
  v("on_battery", m.on_battery);
  v("battery_percent", m.battery_percent);
  v("idle_seconds", m.idle_seconds);
  v("metered", m.metered);
  v("traffic_today", m.traffic_today);
  v("kept_awake", m.kept_awake);
  v("gpus", m.gpus);
}

void each_field(auto& v, Of<SettingView> auto& s) {
  v("name", s.name);
  v("value", s.value);
  v("standard", s.standard);
  v("from", s.from);
  v("live", s.live);
  v("why", s.why);
}

void each_field(auto& v, Of<WatcherView> auto& w) {
  v("peer_id", w.peer_id);
  v("name", w.name);
  v("right", w.right);
  v("since", w.since);
  v("connected", w.connected);
  v("last_seen", w.last_seen);
}

void each_field(auto& v, Of<ControlView> auto& c) {
  v("served", c.served);
  v("paired", c.paired);
  v("pairing_until", c.pairing_until);
  v("pairing_tries", c.pairing_tries);
}

/// Where JSON groups what the struct holds flat.
template <class S>
struct Contributions {
  S& snapshot;
};

template <class S>
void each_field(auto& v, Contributions<S> const& c) {
  v("today", c.snapshot.today);
  v("week", c.snapshot.week);
  v("all", c.snapshot.all_time);
  v("by_hour", c.snapshot.by_hour);
  v("by_day", c.snapshot.by_day);
  v("by_week", c.snapshot.by_week);
}

void each_field(auto& v, Of<Snapshot> auto& s) {
  v("version", s.version);
  v("pid", s.pid);
  v("time", s.time);
  v("uptime", s.uptime);
  v("peer_id", s.peer_id);
  v("addresses", s.addresses);
  v("peers", s.peers);
  v("tasks", s.tasks);
  Contributions<std::remove_reference_t<decltype(s)>> const contributions{s};
  v("contribution", contributions);
  v("socket_bytes_in", s.socket_bytes_in);
  v("socket_bytes_out", s.socket_bytes_out);
  v("dht_table", s.dht_table);
  v("dht_records", s.dht_records);
  v("clock_offset", s.clock_offset);
  v("notices", s.notices);
  v("guest", s.guest);
  v("machine", s.machine);
  v("control", s.control);
  v("settings", s.settings);
  v("known_tasks", s.known_tasks);
}

struct Ignored {
  void operator()(char const*, auto const&) const {}
};

template <class T>
concept View = requires(T& view, Ignored& v) {
  each_field(v, view);
};

struct Writer {
  using Json = nlohmann::ordered_json;
  Json out = Json::object();

  void operator()(char const* name, auto const& value) { out[name] = json_of(value); }

  template <class T>
  [[nodiscard]] static Json json_of(T const& value) {
    if constexpr (View<T const>) {
      Writer nested;
      each_field(nested, value);
      return std::move(nested.out);
    } else {
      return value;
    }
  }

  template <class T>
  [[nodiscard]] static Json json_of(std::optional<T> const& value) {
    return value ? json_of(*value) : Json(nullptr);
  }

  template <class T>
  [[nodiscard]] static Json json_of(std::vector<T> const& items) {
    Json list = Json::array();
    for (auto const& item : items) list.push_back(json_of(item));
    return list;
  }
};

// A window shows thousands of rows at most; a longer list is not from a node of ours.
constexpr std::size_t kMaxItems = 4096;
constexpr std::size_t kMaxSnapshotBytes = 8u << 20;

/// Takes what is there and of the right type; everything else keeps its default.
struct Reader {
  using Json = nlohmann::json;
  Json const& in;

  void operator()(char const* name, auto&& into) {
    if (auto const at = in.find(name); at != in.end()) read(*at, into);
  }

  static void read(Json const& value, std::string& into) {
    if (value.is_string()) into = value.get_ref<std::string const&>();
  }

  static void read(Json const& value, bool& into) {
    if (value.is_boolean()) into = value.get<bool>();
  }

  static void read(Json const& value, double& into) {
    if (value.is_number()) into = value.get<double>();
  }

  static void read(Json const& value, std::signed_integral auto& into) {
    if (value.is_number_integer()) value.get_to(into);
  }

  static void read(Json const& value, std::unsigned_integral auto& into) {
    if (value.is_number_unsigned()) value.get_to(into);
  }

  static void read(Json const& value, View auto& into) {
    if (!value.is_object()) return;
    Reader nested{value};
    each_field(nested, into);
  }

  template <class T>
  static void read(Json const& value, std::optional<T>& into) {
    if (value.is_null()) return;
    T inner{};
    read(value, inner);
    into = std::move(inner);
  }

  template <class T>
  static void read(Json const& value, std::vector<T>& into) {
    if (!value.is_array()) return;
    for (auto const& item : value) {
      if (into.size() >= kMaxItems) return;
      read(item, into.emplace_back());
    }
  }
};

}  // namespace

Result<Snapshot> snapshot_from_json(std::string_view text) {
  if (text.size() > kMaxSnapshotBytes)
    return Error{
        Errc::malformed,
        cat("a snapshot of ", text.size(), " bytes; at most ", kMaxSnapshotBytes, " are read")};
  auto const json = Reader::Json::parse(text, nullptr, false);
  int schema = 0;
  if (json.is_object()) Reader{json}("schema", schema);
  if (schema != Snapshot::kSchema)
    return Error{Errc::malformed, cat("no snapshot of schema ", Snapshot::kSchema)};
  Snapshot s;
  Reader::read(json, s);
  return s;
}

std::string to_json(Snapshot const& s) {
  Writer writer;
  writer("schema", Snapshot::kSchema);
  each_field(writer, s);
  return writer.out.dump(-1, ' ', false, Writer::Json::error_handler_t::replace);
}

}  // namespace waggle::node
