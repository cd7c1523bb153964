// SPDX-License-Identifier: MIT
#include "app/demo/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/base/file.hpp"
#include "core/base/text.hpp"

namespace waggle::app::demo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWarmEpochs = 5;  // connections, caches and rates settle in these
constexpr std::uint64_t kMaxFileBytes = 4ull << 30;

// Each peer's own steps from epoch to epoch; the demo's figure is the median over all of them.
double median_epoch_seconds(std::list<Volunteer> const& volunteers) {
  std::vector<double> steps;
  for (auto const& v : volunteers)
    for (std::size_t i = kWarmEpochs; i < v.epoch_times.size(); ++i)
      steps.push_back(v.epoch_times[i] - v.epoch_times[i - 1]);
  if (steps.empty()) return 0;
  auto const middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

double ratio(std::uint64_t bytes, std::uint64_t values) {
  return values == 0 ? 0 : static_cast<double>(bytes) / (4.0 * static_cast<double>(values));
}

Json contribution(Volunteer const& v) {
  return {{"peer", v.name},
          {"peer_id", v.peer_id},
          {"killed", v.killed},
          {"joined_late", v.late},
          {"epoch", v.epoch},
          {"samples", v.samples_given},
          {"credits", v.credits},
          {"rounds_averaged", v.rounds_averaged},
          {"rounds_local", v.rounds_local},
          {"socket_bytes", v.socket_bytes},
          {"accuracy", v.accuracy ? Json(*v.accuracy) : Json(nullptr)},
          {"loss", v.test_loss ? Json(*v.test_loss) : Json(nullptr)},
          {"evaluated_on", v.evaluated_on},
          {"data_dir", v.data_dir.string()}};
}

struct Floats {
  Bytes file;
  std::size_t begin = 0;
};

// safetensors: an 8-byte length, that many bytes of JSON, the tensors.
Result<Floats> read_floats(std::filesystem::path const& path) {
  WAGGLE_TRY(auto file, read_file(path, kMaxFileBytes));
  if (file.size() < 8) return Error{Errc::malformed, cat(path.string(), " is no safetensors file")};
  auto const header = load_le<std::uint64_t>(file);
  if (header > file.size() - 8 || (file.size() - 8 - header) % 4 != 0)
    return Error{Errc::malformed, cat(path.string(), " is no safetensors file of float32")};
  return Floats{std::move(file), 8 + static_cast<std::size_t>(header)};
}

}  // namespace

Result<double> relative_difference(std::filesystem::path const& a, std::filesystem::path const& b) {
  WAGGLE_TRY(auto const first, read_floats(a));
  WAGGLE_TRY(auto const second, read_floats(b));
  if (first.begin != second.begin || first.file.size() != second.file.size())
    return Error{Errc::malformed, cat(a.string(), " and ", b.string(), " hold different tensors")};
  double difference = 0;
  double size = 0;
  for (std::size_t at = first.begin; at < first.file.size(); at += 4) {
    double const x = load_le<float>(ByteView(first.file).subspan(at));
    double const y = load_le<float>(ByteView(second.file).subspan(at));
    difference += (x - y) * (x - y);
    size += x * x;
  }
  if (size == 0) return Error{Errc::malformed, cat(a.string(), " holds zeros only")};
  return std::sqrt(difference / size);
}

Json summarize(Goal const& goal,
               std::list<Volunteer>& volunteers,
               std::vector<double> const& parameter_differences,
               double elapsed_s,
               std::vector<std::string> const& problems) {
  std::uint64_t gradient_bytes = 0;
  std::uint64_t gradient_values = 0;
  std::uint64_t state_bytes = 0;
  std::uint64_t state_values = 0;
  std::uint64_t socket_bytes = 0;
  std::int64_t epochs = 0;
  int killed = 0;
  int late = 0;
  double accuracy = 1;
  double loss = 0;
  bool all_measured = true;
  Json peers = Json::array();
  for (auto const& v : volunteers) {
    gradient_bytes += v.gradient_bytes;
    gradient_values += v.gradient_values;
    state_bytes += v.state_bytes;
    state_values += v.state_values;
    socket_bytes += v.socket_bytes;
    epochs = std::max(epochs, v.epoch);
    killed += v.killed ? 1 : 0;
    late += v.late ? 1 : 0;
    peers.push_back(contribution(v));
    if (v.killed) continue;
    // The worst survivor counts: everyone holds the model.
    if (goal.is_text()) {
      all_measured = all_measured && v.test_loss.has_value();
      loss = std::max(loss, v.test_loss.value_or(1e9));
    } else {
      all_measured = all_measured && v.accuracy.has_value();
      accuracy = std::min(accuracy, v.accuracy.value_or(0));
    }
  }
  bool const reached = all_measured && goal.reached_by(goal.is_text() ? loss : accuracy);
  Json summary = {{"event", "summary"},
                  {"ok", reached && problems.empty()},
                  {"task", goal.task},
                  {"target", goal.target}};
  if (goal.is_text()) {
    summary["loss"] = loss;
    summary["bigram_loss"] = goal.bigram_loss;
  } else {
    summary["accuracy"] = accuracy;
  }
  summary["peers"] = goal.peers;
  summary["killed"] = killed;
  summary["joined_late"] = late;
  summary["epochs"] = epochs;
  summary["codec"] = goal.codec;
  summary["wire_ratio"] = ratio(gradient_bytes, gradient_values);
  summary["state_wire_ratio"] = ratio(state_bytes, state_values);
  summary["median_epoch_s"] = median_epoch_seconds(volunteers);
  summary["parameter_difference"] =
      parameter_differences.empty()
          ? Json(nullptr)
          : Json(*std::max_element(parameter_differences.begin(), parameter_differences.end()));
  summary["socket_bytes"] = socket_bytes;
  summary["seconds"] = elapsed_s;
  summary["contribution"] = std::move(peers);
  summary["problems"] = problems;
  return summary;
}

void print_summary(Json const& s) {
  std::printf("\n%-8s %10s %10s %9s %7s %10s %10s\n",
              "peer",
              "samples",
              "credits",
              "averaged",
              "local",
              "MB sent",
              "measured");
  for (auto const& p : s["contribution"]) {
    auto const& measured = p["accuracy"].is_number() ? p["accuracy"] : p["loss"];
    std::string note = p["killed"].get<bool>() ? "  killed" : "";
    if (p["joined_late"].get<bool>()) note += "  joined late";
    std::printf(
        "%-8s %10llu %10.0f %9llu %7llu %10.1f %10s%s\n",
        p["peer"].get<std::string>().c_str(),
        p["samples"].get<unsigned long long>(),
        p["credits"].get<double>(),
        p["rounds_averaged"].get<unsigned long long>(),
        p["rounds_local"].get<unsigned long long>(),
        p["socket_bytes"].get<double>() / 1e6,
        measured.is_number() ? cat(std::round(measured.get<double>() * 1e4) / 1e4).c_str() : "-",
        note.c_str());
  }
  std::printf("\nepochs               %lld, median %.2f s each, %.0f s in all\n",
              s["epochs"].get<long long>(),
              s["median_epoch_s"].get<double>(),
              s["seconds"].get<double>());
  if (s.contains("accuracy"))
    std::printf("accuracy             %.2f %% on all test images, the worst survivor's\n",
                100 * s["accuracy"].get<double>());
  if (s.contains("loss"))
    std::printf("held-out loss        %.4f nats a byte; a bigram table has %.4f\n",
                s["loss"].get<double>(),
                s["bigram_loss"].get<double>());
  if (s["parameter_difference"].is_number())
    std::printf("parameter difference %.4f %% between survivors\n",
                100 * s["parameter_difference"].get<double>());
  std::printf("wire ratio           %.3f of float32 for gradients, %.3f for state\n",
              s["wire_ratio"].get<double>(),
              s["state_wire_ratio"].get<double>());
  for (auto const& problem : s["problems"])
    std::printf("problem: %s\n", problem.get<std::string>().c_str());
  std::printf("%s\n",
              s["ok"].get<bool>() ? "The target was reached." : "The target was NOT reached.");
}

}  // namespace waggle::app::demo
