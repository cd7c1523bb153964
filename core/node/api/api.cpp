// SPDX-License-Identifier: MIT
#include "core/node/api/api.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include <httplib.h>
#include <nlohmann/json.hpp>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/node/api/detail/http_server.hpp"
#include "core/node/api/detail/socket_path.hpp"
#include "core/node/api/event_feed.hpp"
#include "core/node/api/metrics.hpp"
#include "core/node/api/snapshot_json.hpp"
#include "core/node/api/web_page.hpp"
#include "core/node/report/log_lines.hpp"

namespace waggle::node {
namespace {

using detail::HttpAnswer;
using detail::HttpServer;
using Json = nlohmann::ordered_json;

constexpr auto kLook = std::chrono::seconds(1);  // how soon a listener that left is noticed
constexpr int kQuietLooks = 15;                  // then a comment, for whatever stands between

HttpAnswer plain(int status, std::string text) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(text) + "\n";
  return answer;
}

HttpAnswer json(std::string body) {
  HttpAnswer answer;
  answer.type = "application/json";
  answer.body = std::move(body);
  return answer;
}

HttpAnswer wrong_method(char const* allowed) {
  auto answer = plain(405, cat("only ", allowed));
  answer.headers.emplace_back("Allow", allowed);
  return answer;
}

std::optional<std::uint64_t> number(HttpRequest const& request, std::string_view name) {
  auto const text = request.parameter(name);
  return text ? decimal(*text) : std::nullopt;
}

HttpAnswer log_lines(HttpRequest const& request) {
  auto const most = number(request, "most").value_or(log::kLinesKept);
  auto least = log::Level::trace;
  if (auto const word = request.parameter("level")) {
    auto const level = log_level(*word);
    if (!level) return plain(400, "level is one of trace, debug, info, warning, error");
    least = *level;
  }
  auto lines = log::recent(number(request, "after").value_or(0));
  std::uint64_t const last =
      lines.empty() ? number(request, "after").value_or(0) : lines.back().number;
  std::erase_if(lines, [least](log::Line const& line) { return line.level < least; });
  if (lines.size() > most)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  Json list = Json::array();
  for (auto const& line : lines)
    list.push_back({{"number", line.number},
                    {"time", line.time},
                    {"level", log::name(line.level)},
                    {"module", line.module},
                    {"text", line.text}});
  Json const whole = {{"last", last}, {"lines", std::move(list)}};
  return json(whole.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// What keeps a browser from lending the page to others.
void harden(HttpAnswer& answer) {
  answer.headers.emplace_back("Content-Security-Policy",
                              "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
                              "'self'; connect-src 'self'; "
                              "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
  answer.headers.emplace_back("X-Frame-Options", "DENY");
  answer.headers.emplace_back("Referrer-Policy", "no-referrer");
  answer.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  answer.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  answer.headers.emplace_back("Cache-Control", "no-store");
}

}  // namespace

struct Api::State {
  State(Snapshots& l, Runtime const& c, Obey s) : snapshots(l), clock(c), send(std::move(s)) {}

  Snapshots& snapshots;
  Runtime const& clock;
  Obey send;
  std::filesystem::path socket;
  EventFeed feed;
  std::unique_ptr<HttpServer> by_file;
  std::unique_ptr<HttpServer> by_tcp;

  std::mutex mutex;
  std::optional<ApiDoor> door;                                               // guarded by mutex
  std::map<std::string, std::function<std::string()>, std::less<>> offered;  // guarded by mutex

  HttpAnswer events(HttpRequest const& request) {
    auto after = number(request, "after");
    if (!after)
      if (auto const id = request.header("last-event-id")) after = decimal(*id);
    auto const listener = feed.listen(after);
    if (!listener) return plain(503, cat("at most ", EventFeed::kListeners, " event listeners"));
    HttpAnswer answer;
    answer.type = "text/event-stream";
    answer.body = ":\n\n";  // so that a browser knows it is connected
    answer.more = [listener, quiet = 0](std::string& out) mutable {
      if (!listener->next(out, kLook)) return false;
      quiet = out.empty() ? quiet + 1 : 0;
      if (quiet == kQuietLooks) {
        out = ":\n\n";
        quiet = 0;
      }
      return true;
    };
    return answer;
  }

  /// A token may be copied, or stand in a browser's history: with it one steers this program, but
  /// names no other to be run.
  static Status may_come_by_tcp(Command const& command) {
    if (command.kind == Command::Kind::set && command.name == "trainer")
      return Error{Errc::refused, "\"trainer\" can only be changed at the machine itself"};
    return ok();
  }

  HttpAnswer command(HttpRequest const& request, bool tcp) {
    auto command = Command::from_json(request.body);
    if (tcp && command)
      if (auto const may = may_come_by_tcp(*command); !may) return plain(403, may.error().detail);
    if (!command) return plain(400, command.error().detail);
    auto const taken = send(*std::move(command));
    return taken ? json(taken->to_json() + "\n") : plain(400, taken.error().detail);
  }

  std::function<std::string()> offer_of(std::string const& path) {
    std::lock_guard const lock(mutex);
    auto const at = offered.find(path);
    return at == offered.end() ? nullptr : at->second;
  }

  HttpAnswer page() {
    std::lock_guard const lock(mutex);
    if (!door) return plain(404, "this Waggle serves no web page; start it with --api-port");
    return plain(200, cat(page_url(*door), '#', door->token));
  }

  HttpAnswer get(HttpRequest const& request) {
    if (request.path == "/v1/snapshot") {
      auto const snapshot = snapshots.fresh();
      return json(snapshot ? to_json(*snapshot) : "{}");
    }
    if (request.path == "/v1/events") return events(request);
    if (request.path == "/v1/log") return log_lines(request);
    if (request.path == "/metrics") {
      auto const snapshot = snapshots.fresh();
      HttpAnswer answer;
      answer.type = "text/plain; version=0.0.4; charset=utf-8";
      if (snapshot) answer.body = to_metrics(*snapshot);
      return answer;
    }
    if (request.path == "/healthz") {
      // A starting node has no name in the network yet.
      auto const snapshot = snapshots.last();
      bool const ready = snapshot && !snapshot->peer_id.empty();
      return ready ? plain(200, "ok") : plain(503, "starting");
    }
    if (request.path == "/v1/commands") return wrong_method("POST");
    if (auto const further = offer_of(request.path)) return json(further());
    return plain(404, "no such path");
  }

  HttpAnswer answer(HttpRequest const& request, bool tcp) {
    if (request.method == "POST")
      return request.path == "/v1/commands" ? command(request, tcp) : wrong_method("GET, HEAD");
    if (request.method != "GET" && request.method != "HEAD") return wrong_method("GET, HEAD, POST");
    return get(request);
  }
};

Api::Api(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Result<std::unique_ptr<Api>> Api::start(std::filesystem::path const& socket,
                                        Snapshots& snapshots,
                                        Runtime const& clock,
                                        Obey send) {
  auto state = std::make_unique<State>(snapshots, clock, std::move(send));
  state->socket = socket;
  // The directory's lock is ours, so a socket that is there is a dead process's.
  WAGGLE_TRY(auto listening, detail::listen_unix(socket));
  auto gate = [](HttpRequest const&) { return std::optional<HttpAnswer>(); };
  auto handler = [raw = state.get()](HttpRequest const& request) {
    if (request.path == "/v1/page" && request.method == "GET") return raw->page();
    return raw->answer(request, false);
  };
  WAGGLE_TRY(
      state->by_file,
      HttpServer::start(std::move(listening), {}, clock, std::move(gate), std::move(handler)));
  return std::unique_ptr<Api>(new Api(std::move(state)));
}

void Api::offer(std::string path, std::function<std::string()> json) {
  std::lock_guard const lock(state_->mutex);
  state_->offered.insert_or_assign(std::move(path), std::move(json));
}

Status Api::open(ApiDoor door) {
  WAGGLE_TRY(auto listening, detail::listen_tcp(door.host, door.port));
  auto gate = [door](HttpRequest const& head) {
    std::optional<HttpAnswer> answer;
    if (auto const refusal = judge(door, head)) {
      answer = plain(refusal->status, refusal->why);
      if (refusal->status == 401) answer->headers.emplace_back("WWW-Authenticate", "Bearer");
      harden(*answer);
    }
    return answer;
  };
  auto handler = [raw = state_.get()](HttpRequest const& request) {
    HttpAnswer answer;
    if (auto const* const file = web_file(request.path)) {
      answer.type = file->type;
      answer.body = file->content;
    } else {
      answer = raw->answer(request, true);
    }
    harden(answer);
    return answer;
  };
  WAGGLE_TRY(state_->by_tcp,
             HttpServer::start(
                 std::move(listening), {}, state_->clock, std::move(gate), std::move(handler)));
  std::lock_guard const lock(state_->mutex);
  state_->door = std::move(door);
  return ok();
}

Api::~Api() {
  state_->feed.close();
  state_->by_tcp.reset();
  state_->by_file.reset();
  std::error_code ignored;
  std::filesystem::remove(state_->socket, ignored);
}

void Api::publish(std::string const& json) {
  state_->feed.publish(json);
}

namespace {

httplib::Result request(std::filesystem::path const& socket,
                        std::function<httplib::Result(httplib::Client&)> const& send) {
  auto const reachable = detail::SocketPath::of(socket);
  if (!reachable) return {nullptr, httplib::Error::Connection};
  httplib::Client client(reachable->text);
  client.set_address_family(AF_UNIX);
  client.set_connection_timeout(2);
  client.set_read_timeout(5);
  return send(client);
}

Result<std::string> answer(httplib::Result const& result, std::filesystem::path const& socket) {
  if (!result)
    return Error{Errc::not_found,
                 cat("no Waggle answers at ",
                     socket.string(),
                     " (",
                     httplib::to_string(result.error()),
                     "); is one running with this data directory?")};
  if (result->status != 200) return Error{Errc::refused, cat("the node says: ", result->body)};
  return result->body;
}

}  // namespace

Result<std::string> api_get(std::filesystem::path const& socket, std::string const& path) {
  return answer(request(socket, [&](httplib::Client& client) { return client.Get(path); }), socket);
}

Result<Taken> api_post(std::filesystem::path const& socket, Command const& command) {
  WAGGLE_TRY(auto const body,
             answer(request(socket,
                            [&](httplib::Client& client) {
                              return client.Post(
                                  "/v1/commands", command.to_json(), "application/json");
                            }),
                    socket));
  return Taken::from_json(body);
}

}  // namespace waggle::node
