// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/base/latest.hpp"
#include "core/node/commands.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node {

/// The local API over HTTP on <data dir>/api.sock (mode 0600): GET /v1/snapshot, GET /v1/events
/// (server-sent), POST /v1/commands, GET /metrics (Prometheus), GET /healthz. Runs on threads of
/// its own, which touch only the latest snapshot and the command sink.
class Api {
 public:
  /// `send` may be called from any of the API's threads. Errors: io.
  [[nodiscard]] static Result<std::unique_ptr<Api>> start(std::filesystem::path const& socket,
                                                          Latest<Snapshot> const& snapshots,
                                                          std::function<Status(Command)> send);
  ~Api();
  Api(Api const&) = delete;
  Api& operator=(Api const&) = delete;

  /// Offers an event to everyone who listens. A listener that does not keep up loses the oldest.
  void publish(std::string const& json);

 private:
  struct State;
  explicit Api(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The other end: asks a node for one answer. Errors: not_found (no node runs in that data
/// directory), io, refused.
[[nodiscard]] Result<std::string> api_get(std::filesystem::path const& socket,
                                          std::string const& path);
[[nodiscard]] Status api_post(std::filesystem::path const& socket, Command const& command);

}  // namespace waggle::node
