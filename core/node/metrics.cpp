// SPDX-License-Identifier: MIT
#include "core/node/metrics.hpp"

#include <string_view>

#include "core/base/text.hpp"

namespace waggle::node {
namespace {

void metric(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out += cat("# HELP waggle_", name, ' ', help, "\n# TYPE waggle_", name, ' ', type, '\n');
}

template <class T>
void single(std::string& out,
            std::string_view name,
            std::string_view type,
            std::string_view help,
            T value) {
  metric(out, name, type, help);
  out += cat("waggle_", name, ' ', value, '\n');
}

template <class F>
void by_task(std::string& out,
             Snapshot const& s,
             std::string_view name,
             std::string_view type,
             std::string_view help,
             F value) {
  metric(out, name, type, help);
  // A prefix is [a-z0-9_-], so it needs no escaping.
  for (auto const& t : s.tasks)
    out += cat("waggle_", name, "{prefix=\"", t.prefix, "\"} ", value(t), '\n');
}

}  // namespace

std::string to_metrics(Snapshot const& s) {
  std::string out;
  single(out, "uptime_seconds", "gauge", "Seconds since the program started.", s.uptime);
  single(out, "peers", "gauge", "Live connections.", s.peers.size());
  single(out, "socket_bytes_in_total", "counter", "Bytes read from sockets.", s.socket_bytes_in);
  single(out, "socket_bytes_out_total", "counter", "Bytes written to sockets.", s.socket_bytes_out);
  single(out, "dht_table_peers", "gauge", "Peers in the routing table.", s.dht_table);
  single(out, "dht_records", "gauge", "Records held for the swarm.", s.dht_records);
  single(out, "clock_offset_seconds", "gauge", "The swarm's clock less ours.", s.clock_offset);
  single(out,
         "samples_total",
         "counter",
         "Samples contributed since the data directory began.",
         s.all_time.samples);
  single(
      out, "credits_total", "counter", "Training work contributed, in GFLOP.", s.all_time.credits);
  by_task(out, s, "task_epoch", "gauge", "Our epoch.", [](TaskView const& t) { return t.epoch; });
  by_task(out, s, "task_swarm_epoch", "gauge", "The swarm's epoch.", [](TaskView const& t) {
    return t.swarm_epoch;
  });
  by_task(out, s, "task_samples_per_second", "gauge", "Our training rate.", [](TaskView const& t) {
    return t.samples_per_second;
  });
  by_task(out, s, "task_swarm_peers", "gauge", "Peers with a live record.", [](TaskView const& t) {
    return t.swarm_peers;
  });
  by_task(out,
          s,
          "task_loss",
          "gauge",
          "Our mean training loss over the last epoch.",
          [](TaskView const& t) { return t.loss.value_or(0); });
  return out;
}

}  // namespace waggle::node
