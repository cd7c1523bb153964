// SPDX-License-Identifier: MIT
#include "core/node/events.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/services.hpp"
#include "core/node/session/trainer.hpp"

namespace waggle::node::events {
namespace {

using Json = nlohmann::ordered_json;

Event make(Services& services, char const* kind, Json fields, std::string text) {
  Json json = {{"event", kind}, {"time", services.runtime().unix_time()}};
  json.update(fields);
  return {json.dump(-1, ' ', false, Json::error_handler_t::replace), std::move(text)};
}

std::string rounded(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

template <class T>
Json optional(std::optional<T> const& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json round_of(std::optional<averaging::RoundReport> const& round) {
  if (!round) return nullptr;
  Json group = Json::array();
  for (auto const& peer : round->group) group.push_back(crypto::to_text(peer));
  return {{"group", std::move(group)},
          {"bytes_sent", round->bytes_sent},
          {"bytes_received", round->bytes_received},
          {"values_sent", round->values_sent},
          {"fraction", round->fraction_averaged},
          {"banned", round->banned.size()},
          {"refused", round->refused.size()},
          {"failed_reducers", round->failed_reducers.size()},
          {"matchmaking_s", to_seconds(round->matchmaking)},
          {"all_reduce_s", to_seconds(round->all_reduce)}};
}

void add_given(Json& json, Services& services, Given const& given) {
  json["samples_given"] = given.samples;
  json["credits"] = given.credits;
  json["samples_per_second"] = given.samples_per_second;
  json["socket_bytes_out"] = services.swarm().socket_bytes_out();
  json["socket_bytes_in"] = services.swarm().socket_bytes_in();
}

}  // namespace

Event started(Services& services) {
  Json addresses = Json::array();
  std::string text = cat("peer ", crypto::to_text(services.swarm().self()));
  for (auto const& address : services.link_addresses()) {
    addresses.push_back(address.text());
    text += cat("\n  reachable at ", address.text());
  }
  return make(services,
              "started",
              {{"peer_id", crypto::to_text(services.swarm().self())},
               {"pid", ::getpid()},
               {"addresses", std::move(addresses)},
               {"data_dir", services.options().data_dir.string()}},
              std::move(text));
}

Event published(Services& services,
                std::string const& link,
                std::string const& prefix,
                std::uint64_t version) {
  return make(services,
              "published",
              {{"prefix", prefix}, {"version", version}, {"link", link}},
              cat("published ",
                  prefix,
                  ", version ",
                  version,
                  ". Hand out this link:\n\n  ",
                  link,
                  "\n\nStay until a volunteer holds everything (waggle monitor ",
                  prefix,
                  "); then you may sleep."));
}

Event state(Services& services, std::string const& state, std::string const& text) {
  return make(services, "state", {{"state", state}, {"text", text}}, text);
}

Event notice(Services& services, std::string const& text) {
  return make(services, "notice", {{"text", text}}, cat("note: ", text));
}

Event page(Services& services, std::string const& url) {
  return make(services,
              "page",
              {{"url", url}},
              cat("web page: ", url, " (waggle web prints its address with the token)"));
}

Event fetch(Services& services, std::uint64_t done, std::uint64_t total, std::size_t providers) {
  return make(services,
              "fetch",
              {{"done", done}, {"total", total}, {"providers", providers}},
              cat("fetching: ",
                  rounded(static_cast<double>(done) / 1e6, 1),
                  " of ",
                  rounded(static_cast<double>(total) / 1e6, 1),
                  " MB from ",
                  providers,
                  providers == 1 ? " peer" : " peers"));
}

Event training(Services& services,
               std::int64_t epoch,
               std::uint64_t parameters,
               double flops_per_sample) {
  return make(
      services,
      "training",
      {{"epoch", epoch}, {"parameters", parameters}, {"flops_per_sample", flops_per_sample}},
      cat("training a model of ", parameters, " parameters from epoch ", epoch));
}

Event epoch(Services& services, optim::EpochReport const& report, Given const& given) {
  std::size_t const group = report.gradients ? report.gradients->group.size() : 1;
  Json json = {{"epoch", report.epoch},
               {"loss", report.loss},
               {"learning_rate", report.learning_rate},
               {"samples", report.our_samples},
               {"swarm_samples", report.swarm_samples},
               {"averaged", report.averaged},
               {"why", report.why},
               {"group_size", group},
               {"seconds", to_seconds(report.took)},
               {"gradients", round_of(report.gradients)},
               {"state", round_of(report.state)}};
  add_given(json, services, given);
  auto text =
      cat("epoch ",
          report.epoch,
          "  loss ",
          rounded(report.loss, 4),
          "  ",
          report.our_samples,
          " of ",
          report.swarm_samples,
          " samples, ",
          report.averaged ? cat("averaged with ", group - 1, group == 2 ? " peer" : " peers")
                          : cat("own gradients (", report.why, ")"),
          "  ",
          rounded(to_seconds(report.took), 2),
          " s");
  return make(services, "epoch", std::move(json), std::move(text));
}

Event evaluation(
    Services& services, std::int64_t epoch, Evaluation const& measured, bool whole, bool final) {
  auto text = cat("epoch ",
                  epoch,
                  "  on ",
                  measured.samples,
                  " held-out samples: loss ",
                  rounded(measured.loss, 4));
  if (measured.accuracy) text += cat(", accuracy ", rounded(100 * *measured.accuracy, 2), " %");
  return make(services,
              "evaluation",
              {{"epoch", epoch},
               {"whole", whole},
               {"final", final},
               {"samples", measured.samples},
               {"loss", measured.loss},
               {"accuracy", optional(measured.accuracy)}},
              std::move(text));
}

Event forgotten(Services& services, std::string const& prefix, std::uint64_t freed) {
  return make(services,
              "forgotten",
              {{"prefix", prefix}, {"freed", freed}},
              cat("left ", prefix, "; ", freed, " bytes freed"));
}

Event left(Services& services, std::int64_t epoch, Given const& given) {
  Json json = {{"epoch", epoch}};
  add_given(json, services, given);
  return make(
      services,
      "left",
      std::move(json),
      cat("left at epoch ", epoch, " after giving ", given.samples, " samples. Thank you."));
}

}  // namespace waggle::node::events
