// SPDX-License-Identifier: MIT
#include "core/node/api/api.hpp"

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/log.hpp"
#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

std::string const kToken(64, 'a');

Result<Taken> nothing(Command) {
  return Taken{true, true};
}

std::uint16_t free_port() {
  Fd const socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

Fd connected(std::uint16_t port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  REQUIRE(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return socket;
}

void send_all(Fd const& socket, std::string_view bytes) {
  (void)::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// What comes until `wanted` is among it, the other end closes, or ten seconds pass.
std::string received(Fd const& socket, std::string_view wanted = {}) {
  std::string out;
  char piece[4096];
  for (;;) {
    if (!wanted.empty() && out.find(wanted) != std::string::npos) return out;
    pollfd ready{socket.get(), POLLIN, 0};
    if (::poll(&ready, 1, 10'000) <= 0) return out + "<nothing more came>";
    auto const n = ::recv(socket.get(), piece, sizeof piece, 0);
    if (n <= 0) return out;
    out.append(piece, static_cast<std::size_t>(n));
  }
}

struct Server {
  test::Folder folder;
  SystemRuntime clock;
  Snapshots latest{clock};
  std::atomic<int> commands{0};
  std::uint16_t port = free_port();
  std::unique_ptr<Api> api;

  Server() {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->peer_id = "12D3KooWsecret";
    latest.set(snapshot);
    auto started =
        Api::start(folder.path / "api.sock", latest, clock, [this](Command const& command) {
          ++commands;
          return nothing(command);
        });
    REQUIRE(started);
    api = *std::move(started);
    REQUIRE(api->open({"127.0.0.1", port, {}, kToken}));
  }

  std::string ask(std::string const& request) {
    auto const socket = connected(port);
    send_all(socket, request);
    return received(socket);
  }

  std::string get(std::string const& path, std::string const& more = "") {
    return ask(cat("GET ", path, " HTTP/1.1\r\nHost: 127.0.0.1:", port, "\r\n", more, "\r\n"));
  }

  std::string post(std::string const& body, std::string const& more) {
    return ask(cat("POST /v1/commands HTTP/1.1\r\nHost: 127.0.0.1:",
                   port,
                   "\r\nContent-Length: ",
                   body.size(),
                   "\r\n",
                   more,
                   "\r\n",
                   body));
  }
};

std::string const kBearer = "Authorization: Bearer " + kToken + "\r\n";
std::string const kJson = "Content-Type: application/json\r\n";
std::string const kPause = "{\"command\":\"pause\"}";

bool has(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

int status(std::string const& answer) {
  return answer.rfind("HTTP/1.1 ", 0) == 0 ? std::atoi(answer.c_str() + 9) : 0;
}

}  // namespace

TEST_SUITE("Api") {
  TEST_CASE("serves the snapshot, metrics and health to its owner alone, and takes commands") {
    test::Folder const folder;
    SystemRuntime const clock;
    auto const socket = folder.path / "api.sock";
    Snapshots latest{clock};
    std::atomic<int> paused{0};
    bool busy = false;
    auto send = [&](Command command) -> Result<Taken> {
      if (command.prefix == "unknown") return Error{Errc::not_found, "no such task"};
      ++paused;
      return Taken{true, !busy};
    };
    auto api = Api::start(socket, latest, clock, send);
    REQUIRE(api);

    struct stat info {};

    REQUIRE(::stat(socket.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);

    CHECK(!api_get(socket, "/healthz"));
    latest.set(std::make_shared<Snapshot>());
    CHECK(!api_get(socket, "/healthz"));
    CHECK(has(api_get(socket, "/v1/snapshot").value_or(""), "\"version\""));
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->peer_id = "12D3KooWtest";
    latest.set(snapshot);
    CHECK(api_get(socket, "/healthz").value_or("") == "ok\n");
    CHECK(has(api_get(socket, "/v1/snapshot").value_or(""), "12D3KooWtest"));
    CHECK(has(api_get(socket, "/metrics").value_or(""), "waggle_uptime_seconds"));
    CHECK(!api_get(socket, "/nothing"));
    CHECK(!api_get(socket, "/"));
    CHECK(has(api_get(socket, "/v1/page").error().detail, "--api-port"));

    Command pause{};
    pause.kind = Command::Kind::pause;
    auto const taken = api_post(socket, pause);
    REQUIRE(taken);
    CHECK(taken->carried_out);
    CHECK(taken->kept);
    CHECK(paused == 1);
    busy = true;
    auto const not_kept = api_post(socket, pause);
    REQUIRE(not_kept);
    CHECK(not_kept->carried_out);
    CHECK(!not_kept->kept);
    pause.prefix = "unknown";
    auto const refused = api_post(socket, pause);
    REQUIRE(!refused);
    CHECK(has(refused.error().detail, "no such task"));
  }

  TEST_CASE("no node: the error names the socket") {
    test::Folder const folder;
    auto const answer = api_get(folder.path / "api.sock", "/v1/snapshot");
    REQUIRE(!answer);
    CHECK(answer.error().code == Errc::not_found);
    CHECK(has(answer.error().detail, "api.sock"));
  }

  TEST_CASE("a folder's path may be longer than a socket's address, a name may not") {
    test::Folder const folder;
    SystemRuntime const clock;
    Snapshots latest{clock};
    auto const deep = folder.path / std::string(120, 'd');
    CHECK(!Api::start(deep / "api.sock", latest, clock, nothing));
    REQUIRE(std::filesystem::create_directory(deep));
    {
      auto const api = Api::start(deep / "api.sock", latest, clock, nothing);
      REQUIRE(api);
      CHECK(api_get(deep / "api.sock", "/v1/snapshot"));

      struct stat info {};

      REQUIRE(::stat((deep / "api.sock").c_str(), &info) == 0);
      CHECK((info.st_mode & 0777) == 0600);
    }
    CHECK(!std::filesystem::exists(deep / "api.sock"));
    auto const named = Api::start(deep / std::string(120, 's'), latest, clock, nothing);
    REQUIRE(!named);
    CHECK(has(named.error().detail, "has at most 107 bytes"));
  }

  TEST_CASE("gives the log, by number and level") {
    log::start({.to_stderr = log::Level::error, .kept = log::Level::info, .file = ""});
    log::warning("net", "an \"odd\" \n line");
    log::info("node", "the last");
    test::Folder const folder;
    SystemRuntime const clock;
    Snapshots latest{clock};
    auto const socket = folder.path / "api.sock";
    auto const api = Api::start(socket, latest, clock, nothing);
    REQUIRE(api);
    auto const all = api_get(socket, "/v1/log").value_or("");
    CHECK(has(all, "an \\\"odd\\\" \\\\x0a line"));
    CHECK(has(all, "the last"));
    auto const warnings = api_get(socket, "/v1/log?level=warning").value_or("");
    CHECK(has(warnings, "odd"));
    CHECK(!has(warnings, "the last"));
    auto const last = log::recent(0).back().number;
    CHECK(api_get(socket, cat("/v1/log?after=", last)).value_or("") ==
          cat("{\"last\":", last, ",\"lines\":[]}"));
    CHECK(!has(api_get(socket, "/v1/log?most=1").value_or(""), "odd"));
    CHECK(!api_get(socket, "/v1/log?level=loud"));
    log::start(log::Level::warning, "");
  }
}

TEST_SUITE("Api by TCP") {
  TEST_CASE("its page comes without a token, all else with one, hardened alike") {
    Server server;
    auto const page = server.get("/");
    CHECK(status(page) == 200);
    CHECK(has(page, "<!doctype html>"));
    CHECK(status(server.get("/healthz")) == 200);
    CHECK(status(server.get("/v1/snapshot", kBearer)) == 200);
    CHECK(has(server.get("/v1/snapshot", kBearer), "12D3KooWsecret"));
    CHECK(status(server.get("/metrics", kBearer)) == 200);
    for (auto const& answer : {page,
                               server.get("/v1/snapshot"),
                               server.get("/v1/snapshot", kBearer),
                               server.get("/nothing", kBearer)}) {
      CHECK(has(answer, "\r\nContent-Security-Policy: default-src 'none'; script-src 'self';"));
      CHECK(has(answer, "frame-ancestors 'none'"));
      CHECK(has(answer, "\r\nX-Content-Type-Options: nosniff\r\n"));
      CHECK(has(answer, "\r\nX-Frame-Options: DENY\r\n"));
      CHECK(has(answer, "\r\nReferrer-Policy: no-referrer\r\n"));
      CHECK(has(answer, "\r\nCross-Origin-Resource-Policy: same-origin\r\n"));
      CHECK(has(answer, "\r\nCache-Control: no-store\r\n"));
      CHECK(has(answer, "\r\nConnection: close\r\n"));
      CHECK(!has(answer, "Access-Control"));
      CHECK(!has(answer, "Set-Cookie"));
    }
    auto const refused = server.get("/v1/snapshot");
    CHECK(status(refused) == 401);
    CHECK(!has(refused, "secret"));
    // The socket's owner learns the address with the token; who comes by TCP does not.
    CHECK(api_get(server.folder.path / "api.sock", "/v1/page").value_or("") ==
          cat("http://127.0.0.1:", server.port, "/#", kToken, "\n"));
    CHECK(status(server.get("/v1/page", kBearer)) == 404);
  }

  TEST_CASE("a command needs token, JSON and the right place to come from") {
    Server server;
    CHECK(status(server.post(kPause, kJson)) == 401);
    CHECK(status(server.post(kPause, kBearer + "Content-Type: text/plain\r\n")) == 415);
    CHECK(status(server.post(kPause, kBearer + kJson + "Origin: http://evil.example\r\n")) == 403);
    CHECK(status(server.post(kPause, kBearer + kJson + "Sec-Fetch-Site: cross-site\r\n")) == 403);
    CHECK(status(server.ask(cat("OPTIONS /v1/commands HTTP/1.1\r\nHost: 127.0.0.1:",
                                server.port,
                                "\r\nOrigin: http://evil.example\r\n\r\n"))) == 405);
    CHECK(server.commands == 0);
    CHECK(status(server.post(kPause, kBearer + kJson)) == 200);
    CHECK(server.commands == 1);
    CHECK(status(server.post("{\"command\":\"explode\"}", kBearer + kJson)) == 400);
    // With a copied token nobody names a program to be run; the socket's owner may.
    auto const names_one = R"({"command":"set","name":"trainer","value":"\"/tmp/evil\""})";
    CHECK(status(server.post(names_one, kBearer + kJson)) == 403);
    CHECK(server.commands == 1);
    auto const same = Command::from_json(names_one);
    REQUIRE(same);
    CHECK(api_post(server.folder.path / "api.sock", *same));
    CHECK(server.commands == 2);
  }

  TEST_CASE("what a refused request carries is never taken for another request") {
    Server server;
    auto const inner = cat("POST /v1/commands HTTP/1.1\r\nHost: 127.0.0.1:",
                           server.port,
                           "\r\n",
                           kBearer,
                           kJson,
                           "Content-Length: ",
                           kPause.size(),
                           "\r\n\r\n",
                           kPause);
    auto const answer = server.post(inner, "Content-Type: text/plain\r\n");
    CHECK(status(answer) == 401);
    CHECK(!has(answer.substr(1), "HTTP/1.1"));
    auto const piped = server.ask(
        cat("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:", server.port, "\r\n\r\n", inner));
    CHECK(status(piped) == 200);
    CHECK(!has(piped.substr(1), "HTTP/1.1"));
    CHECK(server.commands == 0);
  }

  TEST_CASE("hostile requests end at a limit with a word, and the server lives on") {
    Server server;
    CHECK(status(server.ask("GET / HTTP/1.1\r\nHost: " + std::string(20'000, 'x') + "\r\n\r\n")) ==
          431);
    CHECK(status(server.ask(std::string(200'000, 'x'))) == 431);
    CHECK(status(server.ask("\r\n\r\n")) == 400);
    CHECK(status(server.get("/v1/snapshot", kBearer + "Transfer-Encoding: chunked\r\n")) == 400);
    CHECK(status(server.post(std::string(100'000, ' '), kBearer + kJson)) == 413);
    // A range that names the same bytes a thousand times is ignored.
    std::string ranges = "Range: bytes=0-";
    for (int i = 0; i < 1500; ++i) ranges += ",0-";
    CHECK(server.get("/", ranges + "\r\n").size() < 30'000);
    // A body that never comes whole.
    auto const cut = connected(server.port);
    send_all(cut,
             cat("POST /v1/commands HTTP/1.1\r\nHost: 127.0.0.1:",
                 server.port,
                 "\r\n",
                 kBearer,
                 kJson,
                 "Content-Length: 19\r\n\r\n{\"comm"));
    ::shutdown(cut.get(), SHUT_WR);
    CHECK(received(cut).empty());
    CHECK(server.commands == 0);
    CHECK(status(server.get("/healthz")) == 200);
  }

  TEST_CASE("who sends slowly is told so, and others are served meanwhile") {
    Server server;
    auto const slow = connected(server.port);
    send_all(slow, "GET / HTTP/1.1\r\nHost:");
    CHECK(status(server.get("/healthz")) == 200);
    CHECK(status(received(slow)) == 408);
  }

  TEST_CASE("beyond the most connections there is a 503, and room again later") {
    Server server;
    int last = 0;
    // On a machine that stands still for seconds the first ones are gone before the last comes.
    for (int i = 0; i < 5 && last != 503; ++i) {
      std::vector<Fd> held;
      for (int n = 0; n < 32; ++n) held.push_back(connected(server.port));
      // Accepted one after the other, so the last is the one too many.
      last = status(received(connected(server.port)));
    }
    CHECK(last == 503);
    for (int i = 0; i < 100 && last != 200; ++i) {
      last = status(server.get("/healthz"));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    CHECK(last == 200);
  }

  TEST_CASE("events come numbered, from where one asks, and end with the server") {
    Server server;
    server.api->publish("{\"event\":\"one\"}");
    auto const listener = connected(server.port);
    send_all(listener,
             cat("GET /v1/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1:",
                 server.port,
                 "\r\n",
                 kBearer,
                 "\r\n"));
    CHECK(has(received(listener, "one\"}\n\n"), "id: 1\ndata: {\"event\":\"one\"}\n\n"));
    auto const late = connected(server.port);
    send_all(late,
             cat("GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:",
                 server.port,
                 "\r\nLast-Event-ID: 1\r\n",
                 kBearer,
                 "\r\n"));
    CHECK(has(received(late, ":\n\n"), "Content-Type: text/event-stream\r\n"));
    server.api->publish("{\"event\":\"two\"}");
    CHECK(has(received(listener, "two\"}\n\n"), "id: 2\n"));
    CHECK(has(received(late, "two\"}\n\n"), "id: 2\n"));
    server.api.reset();
    CHECK(received(listener).empty());
  }

  TEST_CASE("a listener that leaves makes room within seconds") {
    Server server;
    auto const ask =
        cat("GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:", server.port, "\r\n", kBearer, "\r\n");
    {
      std::vector<Fd> all;
      for (int i = 0; i < 16; ++i) {
        all.push_back(connected(server.port));
        send_all(all.back(), ask);
        CHECK(has(received(all.back(), ":\n\n"), "200 OK"));
      }
      CHECK(status(server.ask(ask)) == 503);
    }
    bool again = false;
    for (int i = 0; i < 50 && !again; ++i) {
      auto const one = connected(server.port);
      send_all(one, ask);
      again = has(received(one, "\r\n\r\n"), "200 OK");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    CHECK(again);
  }

  TEST_CASE("a port that is taken, even by one of ours, and a bad address are errors") {
    Server server;
    test::Folder const folder;
    Snapshots latest{server.clock};
    auto const other = Api::start(folder.path / "api.sock", latest, server.clock, nothing);
    REQUIRE(other);
    auto const busy = (*other)->open({"127.0.0.1", server.port, {}, kToken});
    REQUIRE(!busy);
    CHECK(has(busy.error().detail, "in use"));
    CHECK((*other)->open({"localhost", server.port, {}, kToken}).error().code == Errc::invalid);
  }
}
