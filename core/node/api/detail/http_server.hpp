// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fd.hpp"
#include "core/base/runtime.hpp"
#include "core/node/api/http_request.hpp"

namespace waggle::node::detail {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  /// If set, it is asked for more after `body` until it says false; each call may block for a
  /// second. What it leaves empty is not sent.
  std::function<bool(std::string&)> more;
};

struct HttpLimits {
  std::size_t connections = 32;              ///< a thread each; who comes beyond gets a 503
  Duration read = std::chrono::seconds(5);   ///< for the whole request, head and body
  Duration write = std::chrono::seconds(5);  ///< for an answer, or one piece of `more`
};

/// HTTP/1.1 with one request a connection, for a machine's own front ends. Threads: one that
/// accepts, one a connection; both functions below are called on the latter, several at once.
class HttpServer {
 public:
  /// Judges a head before its body is read; an answer ends it there.
  using Gate = std::function<std::optional<HttpAnswer>(HttpRequest const& head)>;
  using Handler = std::function<HttpAnswer(HttpRequest const& request)>;

  /// `listening` from one of the two below. `clock` outlives the server. Errors: io.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(
      Fd listening, HttpLimits limits, Runtime const& clock, Gate gate, Handler handler);
  /// Ends what is under way. A `more` that blocks must be woken by its owner before.
  ~HttpServer();
  HttpServer(HttpServer const&) = delete;
  HttpServer& operator=(HttpServer const&) = delete;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A socket file that only this user may connect to; one that is there is replaced. Errors: io.
[[nodiscard]] Result<Fd> listen_unix(std::filesystem::path const& path);
/// `host` is an IP address. Never shared with another program. Errors: io (busy), invalid (host).
[[nodiscard]] Result<Fd> listen_tcp(std::string const& host, std::uint16_t port);

}  // namespace waggle::node::detail
