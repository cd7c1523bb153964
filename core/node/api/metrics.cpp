// SPDX-License-Identifier: MIT
#include "core/node/api/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/text.hpp"

namespace waggle::node {
namespace {

constexpr std::string_view kStates[] = {
    "finding", "fetching", "starting", "training", "paused", "finishing", "done", "failed"};

std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return cat(value);
}

template <class T>

requires std::is_integral_v<T> std::string text_of(T value) {
  return cat(static_cast<std::int64_t>(value));
}

std::string text_of(std::uint64_t value) {
  return cat(value);
}

// A label's value may hold anything once these three are escaped.
std::string escaped(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// One metric family: its head, then its samples.
class Family {
 public:
  Family(std::string& out, std::string_view name, std::string_view type, std::string_view help)
      : out_(out), name_(name) {
    out_ += cat("# HELP waggle_", name, ' ', help, "\n# TYPE waggle_", name, ' ', type, '\n');
  }

  template <class T>
  void add(Labels labels, T value) {
    out_ += cat("waggle_", name_);
    char before = '{';
    for (auto const& [key, text] : labels) {
      out_ += cat(before, key, "=\"", escaped(text), '"');
      before = ',';
    }
    if (labels.size() > 0) out_ += '}';
    out_ += cat(' ', text_of(value), '\n');
  }

  template <class T>
  void add(Labels labels, std::optional<T> const& value) {
    if (value) add(labels, *value);
  }

 private:
  std::string& out_;
  std::string_view name_;
};

template <class T>
void single(std::string& out,
            std::string_view name,
            std::string_view type,
            std::string_view help,
            T value) {
  Family(out, name, type, help).add({}, value);
}

template <class T>
void known(std::string& out,
           std::string_view name,
           std::string_view help,
           std::optional<T> const& value) {
  if (value) single(out, name, "gauge", help, *value);
}

template <class F>
void by_task(std::string& out,
             Snapshot const& s,
             std::string_view name,
             std::string_view type,
             std::string_view help,
             F value) {
  Family family(out, name, type, help);
  for (auto const& t : s.tasks)
    family.add({{"prefix", t.prefix}, {"operator", t.operator_id}}, value(t));
}

void of_node(std::string& out, Snapshot const& s) {
  Family(out, "build_info", "gauge", "Always 1; its label tells the version.")
      .add({{"version", s.version}}, 1);
  single(out,
         "start_time_seconds",
         "gauge",
         "When the program started, in Unix time.",
         s.time - s.uptime);
  single(out, "uptime_seconds", "gauge", "Seconds since the program started.", s.uptime);
  single(
      out, "notices", "gauge", "Things a person should know; see waggle status.", s.notices.size());
}

void of_network(std::string& out, Snapshot const& s) {
  single(out, "peers", "gauge", "Live connections.", s.peers.size());
  auto const relayed =
      std::count_if(s.peers.begin(), s.peers.end(), [](PeerView const& p) { return p.relayed; });
  single(out, "peers_relayed", "gauge", "Live connections through a relay.", relayed);
  single(
      out, "socket_received_bytes_total", "counter", "Bytes read from sockets.", s.socket_bytes_in);
  single(
      out, "socket_sent_bytes_total", "counter", "Bytes written to sockets.", s.socket_bytes_out);
  single(out, "dht_table_peers", "gauge", "Peers in the routing table.", s.dht_table);
  single(out, "dht_records", "gauge", "Records held for the swarm.", s.dht_records);
  single(out, "clock_offset_seconds", "gauge", "The swarm's clock less ours.", s.clock_offset);
}

void of_contribution(std::string& out, Snapshot const& s) {
  single(out,
         "samples_total",
         "counter",
         "Samples contributed since the data directory began.",
         s.all_time.samples);
  single(out,
         "rounds_total",
         "counter",
         "Rounds taken part in since the data directory began.",
         s.all_time.rounds);
  single(
      out, "credits_total", "counter", "Training work contributed, in GFLOP.", s.all_time.credits);
  single(out,
         "training_seconds_total",
         "counter",
         "Time spent on rounds since the data directory began.",
         3600 * s.all_time.hours);
}

void of_tasks(std::string& out, Snapshot const& s) {
  Family state(out, "task_state", "gauge", "1 for the state that the task is in, else 0.");
  for (auto const& t : s.tasks)
    for (auto const one : kStates)
      state.add({{"prefix", t.prefix}, {"operator", t.operator_id}, {"state", one}},
                t.state == one ? 1 : 0);
  by_task(out, s, "task_epoch", "gauge", "Our epoch.", [](auto const& t) { return t.epoch; });
  by_task(out, s, "task_swarm_epoch", "gauge", "The swarm's epoch.", [](auto const& t) {
    return t.swarm_epoch;
  });
  by_task(out,
          s,
          "task_swarm_samples",
          "gauge",
          "Samples of the whole swarm in this epoch.",
          [](auto const& t) { return t.swarm_samples; });
  by_task(
      out, s, "task_target_batch_size", "gauge", "Samples that end an epoch.", [](auto const& t) {
        return t.target_batch_size;
      });
  by_task(out, s, "task_samples_per_second", "gauge", "Our training rate.", [](auto const& t) {
    return t.samples_per_second;
  });
  by_task(out,
          s,
          "task_swarm_samples_per_second",
          "gauge",
          "The whole swarm's training rate.",
          [](auto const& t) { return t.swarm_samples_per_second; });
  by_task(out, s, "task_swarm_peers", "gauge", "Peers with a live record.", [](auto const& t) {
    return t.swarm_peers;
  });
  by_task(out,
          s,
          "task_samples_total",
          "counter",
          "Samples given since the program started.",
          [](auto const& t) { return t.samples_given; });
  by_task(out,
          s,
          "task_loss",
          "gauge",
          "Our mean training loss over the last epoch.",
          [](auto const& t) { return t.loss; });
  by_task(out, s, "task_learning_rate", "gauge", "The learning rate.", [](auto const& t) {
    return t.learning_rate;
  });
  by_task(out, s, "task_test_loss", "gauge", "Loss on held-out data.", [](auto const& t) {
    return t.test_loss;
  });
  by_task(out,
          s,
          "task_test_accuracy_ratio",
          "gauge",
          "Share of held-out samples classified rightly.",
          [](auto const& t) { return t.test_accuracy; });
  by_task(out,
          s,
          "task_fetched_bytes",
          "gauge",
          "Bytes of the task's blobs that are here.",
          [](auto const& t) { return t.fetch_done; });
}

void of_machine(std::string& out, Snapshot const& s) {
  single(out,
         "guest_resting",
         "gauge",
         "1 while the rules of a good guest say: do not compute.",
         s.guest.resting ? 1 : 0);
  single(out,
         "guest_duty_ratio",
         "gauge",
         "Share of the trainer's threads' time that it takes.",
         s.guest.duty);
  auto const& m = s.machine;
  known(out, "machine_cpu_ratio", "Share of all processors in use.", m.cpu);
  known(out, "machine_temperature_celsius", "The hottest sensor that is looked at.", m.celsius);
  if (m.memory_total > 0) {
    single(out, "machine_memory_bytes", "gauge", "Memory of this machine.", m.memory_total);
    single(out,
           "machine_memory_available_bytes",
           "gauge",
           "Memory that programs could still have.",
           m.memory_available);
  }
  single(out,
         "machine_disk_available_bytes",
         "gauge",
         "Room on the data directory's volume.",
         m.disk_available);
  auto const by_gpu = [&](std::string_view name, std::string_view help, auto value) {
    Family family(out, name, "gauge", help);
    for (std::size_t i = 0; i < m.gpus.size(); ++i)
      family.add({{"gpu", cat(i)}, {"name", m.gpus[i].name}}, value(m.gpus[i]));
  };
  by_gpu("gpu_busy_ratio", "Load of the GPU.", [](GpuView const& g) { return g.busy; });
  by_gpu("gpu_memory_used_bytes", "Memory in use on the GPU.", [](GpuView const& g) {
    return g.memory_used;
  });
  by_gpu("gpu_memory_bytes", "Memory of the GPU.", [](GpuView const& g) { return g.memory_total; });
  by_gpu("gpu_temperature_celsius", "Temperature of the GPU.", [](GpuView const& g) {
    return g.celsius;
  });
  by_gpu("gpu_power_watts", "Power drawn by the GPU.", [](GpuView const& g) { return g.watts; });
}

}  // namespace

std::string to_metrics(Snapshot const& s) {
  std::string out;
  of_node(out, s);
  of_network(out, s);
  of_contribution(out, s);
  of_tasks(out, s);
  of_machine(out, s);
  return out;
}

}  // namespace waggle::node
