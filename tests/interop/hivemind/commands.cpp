// SPDX-License-Identifier: MIT
#include "tests/interop/hivemind/commands.hpp"

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/dht/schema_validator.hpp"

#include "tests/interop/hivemind/json_values.hpp"

namespace waggle::interop {

using nlohmann::json;

namespace {

constexpr Duration kDhtTime = std::chrono::seconds(15);

net::SwarmOptions swarm_options(bool client_mode) {
  net::SwarmOptions options;
  options.listen_host = client_mode ? "" : "127.0.0.1";
  options.agent = "waggle/interop";
  return options;
}

net::kad::ServiceOptions kad_options(bool client_mode) {
  net::kad::ServiceOptions options;
  options.server_mode = !client_mode;
  return options;
}

json texts(std::vector<PeerId> const& peers) {
  json all = json::array();
  for (auto const& peer : peers) all.push_back(crypto::to_text(peer));
  return all;
}

}  // namespace

DrivenPeer::DrivenPeer(Runtime& runtime, crypto::Identity const& identity, bool client_mode)
    : runtime_(runtime),
      client_mode_(client_mode),
      book_(runtime),
      swarm_(runtime, identity, book_, swarm_options(client_mode)),
      kad_(swarm_, book_, kad_options(client_mode)),
      compute_("compute", 1),
      record_key_(std::make_shared<crypto::RecordKey const>(crypto::RecordKey::generate())),
      rsa_(std::make_shared<dht::RsaValidator>(record_key_)) {
  swarm_.set_peer_routing(&kad_);
  swarm_.on_identified([this](PeerId const& peer, auto const& protocols, auto const& addresses) {
    kad_.identified(peer, protocols, addresses);
  });
  swarm_.on_connection([this](PeerId const& peer, bool connected) {
    if (!connected) kad_.disconnected(peer);
  });
}

Co<Status> DrivenPeer::start(std::vector<std::string> initial) {
  WAGGLE_CO_TRY_STATUS(swarm_.listen());
  dht::Options options;
  options.client_mode = client_mode_;
  for (auto const& text : initial) {
    WAGGLE_CO_TRY(auto const address, wire::Multiaddr::parse(text));
    auto const peer = address.peer_id();
    if (!peer) co_return Error{Errc::invalid, cat(text, " has no /p2p/")};
    swarm_.add_addresses(*peer, std::span(&address, 1));
    options.initial_peers.push_back(*peer);
  }
  dht_ = std::make_unique<dht::Dht>(swarm_, options);
  validators_.push_back(dht_->add_validator(rsa_));
  co_return co_await dht_->bootstrap(runtime_.now() + kDhtTime);
}

Co<void> DrivenPeer::close() {
  for (auto& [name, averager] : averagers_) co_await averager->close();
  for (auto& [name, sharing] : sharings_) co_await sharing->close();
  if (dht_) co_await dht_->close();
  swarm_.set_peer_routing(nullptr);
  co_await kad_.close();
  co_await swarm_.close();
}

std::string DrivenPeer::id() const {
  return crypto::to_text(swarm_.self());
}

std::vector<std::string> DrivenPeer::addresses() const {
  std::vector<std::string> all;
  for (auto const& address : swarm_.addresses())
    all.push_back(address.with_peer_id(swarm_.self()).text());
  return all;
}

Co<Result<json>> DrivenPeer::run(json command) {
  auto const what = command.value("do", "");
  if (what == "store") co_return co_await store(std::move(command));
  if (what == "get") co_return co_await get(std::move(command));
  if (what == "average") co_return co_await average(std::move(command));
  if (what == "share") co_return co_await share(std::move(command));
  if (what == "download") co_return co_await download(std::move(command));
  if (what == "validate") co_return validate(command);
  if (what == "table") co_return json{{"size", dht_->table_size()}};
  co_return Error{Errc::invalid, cat("unknown command ", what)};
}

Result<Bytes> DrivenPeer::subkey(json const& said) const {
  if (said.is_object() && said.contains("owner"))
    return wire::Msgpack(to_bytes(as_bytes(rsa_->owner_mark()))).encode();
  WAGGLE_TRY(auto const value, to_msgpack(said));
  return value.encode();
}

Co<Result<json>> DrivenPeer::store(json command) {
  dht::Record record;
  record.key = dht::Id::of_text(command["key"].get<std::string>());
  if (command.contains("subkey")) {
    WAGGLE_CO_TRY(record.subkey, subkey(command["subkey"]));
  }
  WAGGLE_CO_TRY(auto const value, to_msgpack(command["value"]));
  record.value = value.encode();
  record.expiration = command.contains("expiration") ? command["expiration"].get<double>()
                                                     : dht_->time() + command.value("ttl", 60.0);
  auto const expiration = record.expiration;
  auto const stored = co_await dht_->store(std::move(record), runtime_.now() + kDhtTime);
  if (!stored) {
    if (stored.error().code != Errc::refused) co_return stored.error();
    co_return json{{"stored", false}};
  }
  co_return json{{"stored", *stored}, {"expiration", expiration}};
}

Co<Result<json>> DrivenPeer::get(json command) {
  auto const key = dht::Id::of_text(command["key"].get<std::string>());
  auto const deadline = runtime_.now() + kDhtTime;
  WAGGLE_CO_TRY(auto const found, co_await dht_->get(key, dht::Freshness::latest, deadline));
  json said = json::object();
  if (found.regular) {
    WAGGLE_CO_TRY(auto const value, wire::Msgpack::decode(found.regular->value));
    said["value"] = to_json(value);
    said["expiration"] = found.regular->expiration;
  } else if (found.dictionary) {
    said["entries"] = json::array();
    for (auto const& [subkey, timed] : *found.dictionary) {
      WAGGLE_CO_TRY(auto const name, wire::Msgpack::decode(subkey));
      WAGGLE_CO_TRY(auto const value, wire::Msgpack::decode(timed.value));
      json entry = json::array();
      entry.push_back(to_json(name));
      entry.push_back(to_json(value));
      entry.push_back(timed.expiration);
      said["entries"].push_back(std::move(entry));
    }
  }
  co_return said;
}

Result<json> DrivenPeer::validate(json const& command) {
  if (command.contains("progress"))
    validators_.push_back(dht_->add_validator(std::make_shared<dht::SchemaValidator>(
        std::vector{dht::progress_schema(command["progress"].get<std::string>())})));
  return json{{"owner", {{"hex", to_hex(as_bytes(rsa_->owner_mark()))}}}};
}

Co<Result<json>> DrivenPeer::average(json command) {
  auto const prefix = command["prefix"].get<std::string>();
  auto& averager = averagers_[prefix];
  if (!averager) {
    averaging::AveragerOptions options;
    options.prefix = prefix;
    options.class_name = "DecentralizedAverager";
    options.schema = to_schema(command["shapes"]);
    WAGGLE_CO_TRY(options.compression,
                  compress::Policy::parse(command["codec"].get<std::string>()));
    options.min_matchmaking_time = seconds(command.value("matchmaking", 3.0));
    options.request_timeout = options.min_matchmaking_time / 2;
    options.client_mode = client_mode_;
    if (command.contains("part_bytes")) options.part_bytes = command["part_bytes"];
    if (command.contains("target")) options.target_group_size = command["target"];
    averager = std::make_unique<averaging::Averager>(swarm_, *dht_, compute_, options);
  }
  WAGGLE_CO_TRY(auto values, read_values(command["in"].get<std::string>()));
  averaging::StepOptions step;
  WAGGLE_CO_TRY(step.user, to_msgpack(command["user"]));
  step.weight = command.value("weight", 1.0);
  auto const deadline = runtime_.now() + seconds(command.value("timeout", 20.0));
  WAGGLE_CO_TRY(auto const report, co_await averager->step(values, std::move(step), deadline));
  WAGGLE_CO_TRY_STATUS(write_values(command["out"].get<std::string>(), values));
  json said{{"group", texts(report.group)},
            {"weights", report.weights},
            {"banned", texts(report.banned)},
            {"failed", texts(report.failed_reducers)},
            {"fraction", report.fraction_averaged},
            {"seconds", to_seconds(report.matchmaking + report.all_reduce)}};
  said["gathered"] = json::array();
  for (auto const& user : report.gathered) said["gathered"].push_back(to_json(user));
  co_return said;
}

averaging::StateSharing& DrivenPeer::sharing(json const& command) {
  auto const prefix = command["prefix"].get<std::string>();
  auto& sharing = sharings_[prefix];
  if (!sharing) {
    averaging::StateSharingOptions options;
    options.prefix = prefix;
    options.serve = !client_mode_;
    auto const codec = compress::Policy::parse(command.value("codec", "none"));
    if (codec) options.compression = *codec;
    sharing = std::make_unique<averaging::StateSharing>(swarm_, *dht_, compute_, options);
  }
  return *sharing;
}

Co<Result<json>> DrivenPeer::share(json command) {
  auto snapshot = std::make_shared<averaging::StateSnapshot>();
  snapshot->epoch = command["epoch"].get<std::int64_t>();
  snapshot->schema = to_schema(command["shapes"]);
  WAGGLE_CO_TRY(snapshot->values, read_values(command["in"].get<std::string>()));
  WAGGLE_CO_TRY(snapshot->optimizer_metadata, to_msgpack(command["metadata"]));
  sharing(command).publish(std::move(snapshot));
  co_return json::object();
}

Co<Result<json>> DrivenPeer::download(json command) {
  auto& from = sharing(command);
  auto const deadline = runtime_.now() + seconds(command.value("timeout", 20.0));
  auto const schema = to_schema(command["shapes"]);
  for (;;) {
    WAGGLE_CO_TRY(auto const donors, co_await from.donors(deadline));
    if (!donors.empty()) {
      auto const donor = donors.front().peer;
      WAGGLE_CO_TRY(auto const got, co_await from.download(donor, schema, nullptr, deadline));
      WAGGLE_CO_TRY_STATUS(write_values(command["out"].get<std::string>(), got.state.values));
      co_return json{{"epoch", got.state.epoch},
                     {"native", got.native},
                     {"donor", crypto::to_text(donor)},
                     {"priority", donors.front().priority},
                     {"metadata", to_json(got.state.optimizer_metadata)}};
    }
    if (runtime_.now() >= deadline) co_return Error{Errc::not_found, "nobody gives a state"};
    WAGGLE_CO_TRY_STATUS(co_await runtime_.sleep_for(std::chrono::milliseconds(200)));
  }
}

}  // namespace waggle::interop
