// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/averaging/averager.hpp"
#include "core/averaging/state_sharing.hpp"
#include "core/crypto/record_key.hpp"
#include "core/dht/rsa_validator.hpp"
#include "core/net/address_book.hpp"
#include "core/net/kad/service.hpp"
#include "core/net/swarm.hpp"

namespace waggle::interop {

/// A peer of hivemind's world that does what JSON commands say; hivemind's twin of it is peer.py.
/// Thread: the network thread.
class DrivenPeer {
 public:
  DrivenPeer(Runtime& runtime, crypto::Identity const& identity, bool client_mode);

  /// Listens on 127.0.0.1, then joins by `initial` (each with /p2p/). Errors: io, invalid, as
  /// Dht::bootstrap.
  [[nodiscard]] Co<Status> start(std::vector<std::string> initial);
  [[nodiscard]] Co<void> close();

  [[nodiscard]] std::string id() const;
  [[nodiscard]] std::vector<std::string> addresses() const;

  /// The answer to one command, named by its "do"; README.md lists them.
  [[nodiscard]] Co<Result<nlohmann::json>> run(nlohmann::json command);

 private:
  using Json = nlohmann::json;

  Co<Result<Json>> store(Json command);
  Co<Result<Json>> get(Json command);
  Co<Result<Json>> average(Json command);
  Co<Result<Json>> share(Json command);
  Co<Result<Json>> download(Json command);
  Result<Json> validate(Json const& command);
  [[nodiscard]] Result<Bytes> subkey(Json const& said) const;
  averaging::StateSharing& sharing(Json const& command);

  Runtime& runtime_;
  bool client_mode_;
  net::AddressBook book_;
  net::Swarm swarm_;
  net::kad::Service kad_;
  std::unique_ptr<dht::Dht> dht_;
  ThreadPool compute_;
  std::shared_ptr<crypto::RecordKey const> record_key_;
  std::shared_ptr<dht::RsaValidator> rsa_;
  std::vector<net::Registration> validators_;
  std::map<std::string, std::unique_ptr<averaging::Averager>> averagers_;
  std::map<std::string, std::unique_ptr<averaging::StateSharing>> sharings_;
};

}  // namespace waggle::interop
