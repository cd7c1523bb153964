// SPDX-License-Identifier: MIT
#include "app/demo/volunteer.hpp"

#include <fstream>

namespace waggle::app::demo {
namespace {

using nlohmann::json;

std::optional<double> number(json const& event, char const* key) {
  auto const found = event.find(key);
  if (found == event.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

template <class T>
void take(json const& event, char const* key, T& into) {
  if (auto const value = number(event, key)) into = static_cast<T>(*value);
}

void add_round(json const& event, char const* key, std::uint64_t& bytes, std::uint64_t& values) {
  auto const found = event.find(key);
  if (found == event.end() || !found->is_object()) return;
  bytes += found->value("bytes_sent", std::uint64_t{0});
  values += found->value("values_sent", std::uint64_t{0});
}

void take_epoch(Volunteer& v, json const& event) {
  v.state = "training";
  take(event, "epoch", v.epoch);
  take(event, "group_size", v.group);
  if (auto const loss = number(event, "loss")) v.loss = loss;
  ++(event.value("averaged", false) ? v.rounds_averaged : v.rounds_local);
  add_round(event, "gradients", v.gradient_bytes, v.gradient_values);
  add_round(event, "state", v.state_bytes, v.state_values);
  if (auto const time = number(event, "time")) v.epoch_times.push_back(*time);
}

void take_evaluation(Volunteer& v, json const& event) {
  auto const accuracy = number(event, "accuracy");
  auto const figure = accuracy ? accuracy : number(event, "loss");
  if (!event.value("final", false)) {
    (event.value("whole", false) ? v.whole_figure : v.sample_figure) = figure;
    take(event, "epoch", v.measured_at);
    return;
  }
  v.accuracy = accuracy;
  v.test_loss = number(event, "loss");
  take(event, "samples", v.evaluated_on);
}

}  // namespace

void Volunteer::listen() {
  std::ofstream kept(data_dir.string() + ".jsonl", std::ios::app);
  for (auto const& event : process.take_events()) {
    kept << event.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
    auto const kind = event.value("event", "");
    take(event, "samples_per_second", samples_per_second);
    take(event, "samples_given", samples_given);
    take(event, "credits", credits);
    take(event, "socket_bytes_out", socket_bytes);
    if (kind == "started")
      peer_id = event.value("peer_id", "");
    else if (kind == "published")
      link = event.value("link", "");
    else if (kind == "state")
      state = event.value("state", "");
    else if (kind == "fetch")
      state = "fetching";
    else if (kind == "epoch")
      take_epoch(*this, event);
    else if (kind == "evaluation")
      take_evaluation(*this, event);
    else if (kind == "left")
      state = "left";
    if (event.value("ok", true) == false) last_error = event.value("message", "");
  }
}

}  // namespace waggle::app::demo
