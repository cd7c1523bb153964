// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/base/runtime.hpp"
#include "core/node/api/guard.hpp"
#include "core/node/commands.hpp"
#include "core/node/snapshot.hpp"
#include "core/node/snapshots.hpp"

namespace waggle::node {

/// The local API over HTTP on <data dir>/api.sock (mode 0600) and, where a person asked for it, on
/// a TCP port that also serves a web page.
///
///     GET  /v1/snapshot       the newest Snapshot
///     GET  /v1/events         server-sent; numbered. ?after=N or Last-Event-ID: begins after that
///                             number (0: with all that is kept), else with what comes from now on
///     GET  /v1/log            {"last": N, "lines": [{"number", "time", "level", "module",
///     "text"}]};
///                             ?after=N ?level=warning ?most=100
///     GET  /v1/examples       example predictions, {} while there are none; asking has some made
///     POST /v1/commands       a Command as JSON; 200 {"ok":true,"carried_out":true,"kept":true}
///                             once both hold, or after two seconds with what holds by then; 400
///                             and why
///     GET  /metrics           Prometheus' text form
///     GET  /healthz           200 once there is a snapshot, else 503
///     GET  /v1/page           socket file only: the web page's address with its token; 404 if none
///     GET  /                  TCP only: the page and its files
///
/// Runs on threads of its own, which touch only the snapshots, the log and the command sink.
class Api {
 public:
  /// Carries out a command, and says how far it has come.
  using Obey = std::function<Result<Taken>(Command)>;

  /// `send` may be called from any of the API's threads; it, the snapshots and `clock` outlive the
  /// API. Errors: io.
  [[nodiscard]] static Result<std::unique_ptr<Api>> start(std::filesystem::path const& socket,
                                                          Snapshots& snapshots,
                                                          Runtime const& clock,
                                                          Obey send);
  ~Api();
  Api(Api const&) = delete;
  Api& operator=(Api const&) = delete;

  /// Listens on TCP too, once. Errors: io (busy), invalid (the address).
  [[nodiscard]] Status open(ApiDoor door);

  /// Answers GET `path` with what `json` returns, from now on; it may be called from any of the
  /// API's threads and outlives the API.
  void offer(std::string path, std::function<std::string()> json);
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
[[nodiscard]] Result<Taken> api_post(std::filesystem::path const& socket, Command const& command);

}  // namespace waggle::node
