// SPDX-License-Identifier: MIT
// What an epoch of a session came to: on view, as events, in the swarm's metrics and in the ledger.
#include <algorithm>
#include <utility>

#include "core/crypto/peer_id.hpp"
#include "core/device/energy.hpp"
#include "core/node/session/detail/state.hpp"

namespace waggle::node {

void Session::State::epoch_ended(optim::EpochReport const& report) {
  double const flops = trainer->facts().training_flops_per_sample;
  given.samples += report.our_samples;
  given.credits += static_cast<double>(report.our_samples) * flops / 1e9;
  given.samples_per_second = optimizer->status().samples_per_second;
  view.epoch = report.epoch;
  view.loss = report.loss;
  view.learning_rate = report.learning_rate;
  view.samples_given = given.samples;
  view.last_round = round_view(report);
  tell_metrics(report);
  events(events::epoch(services, report, given));
  note_in_ledger(report, flops);
}

void Session::State::tell_metrics(optim::EpochReport const& report) {
  optim::LocalMetrics ours;
  ours.step = report.epoch;
  ours.samples_per_second = given.samples_per_second;
  ours.samples_accumulated = static_cast<std::int64_t>(report.our_samples);
  // A sample is a mini-step, so that whoever divides one sum by the other weighs samples alike.
  ours.mini_steps = ours.samples_accumulated;
  ours.loss = report.loss * static_cast<double>(report.our_samples);
  metrics->ended(ours);
}

RoundView Session::State::round_view(optim::EpochReport const& report) {
  RoundView view;
  view.epoch = report.epoch;
  view.outcome = report.averaged ? "averaged" : "local";
  view.why = report.why;
  view.seconds = to_seconds(report.took);
  if (report.gradients) {
    for (auto const& peer : report.gradients->group) view.group.push_back(crypto::to_text(peer));
    view.bytes_sent = report.gradients->bytes_sent;
    view.bytes_received = report.gradients->bytes_received;
    view.values_sent = report.gradients->values_sent;
  }
  return view;
}

void Session::State::note_in_ledger(optim::EpochReport const& report, double flops) {
  store::LedgerRow row;
  row.time = runtime().unix_time();
  row.operator_id = to_bytes(found.record.operator_id.bytes());
  row.prefix = found.record.prefix;
  row.epoch = report.epoch;
  row.samples = report.our_samples;
  row.gigaflop = static_cast<double>(report.our_samples) * flops / 1e9;
  row.group_size =
      report.gradients ? static_cast<std::uint32_t>(report.gradients->group.size()) : 1;
  for (auto const& round : {report.gradients, report.state})
    if (round) {
      row.bytes_sent += round->bytes_sent;
      row.bytes_received += round->bytes_received;
    }
  row.outcome = report.averaged ? "averaged" : "local";
  row.loss = report.loss;
  row.seconds = to_seconds(report.took);
  auto const cpu = trainer->cpu_time();
  row.kwh = device::kilowatt_hours(to_seconds(std::max(cpu - cpu_noted, Duration{})),
                                   services.watts_per_core());
  cpu_noted = cpu;
  if (options.gpu_joules) {
    auto const joules = options.gpu_joules();
    row.kwh += device::kilowatt_hours(joules - std::exchange(gpu_noted, joules));
  }
  ledger.add(std::move(row));
}

}  // namespace waggle::node
