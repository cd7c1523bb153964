// SPDX-License-Identifier: MIT
#include "core/node/api.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include <httplib.h>
#include <sys/stat.h>

#include "core/base/text.hpp"
#include "core/node/metrics.hpp"
#include "core/node/snapshot_json.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kMaxListeners = 16;      // each holds a thread of the API's pool
constexpr std::size_t kMaxEventsQueued = 256;  // a slow listener loses the oldest
constexpr std::size_t kMaxCommandBytes = 4096;
constexpr auto kKeepAlive =
    std::chrono::seconds(15);  // a comment line, so that a dead listener is noticed

/// One GET /v1/events in progress.
struct Listener {
  std::deque<std::string> queue;
};

}  // namespace

struct Api::State {
  httplib::Server server;
  std::thread thread;
  std::filesystem::path socket;

  std::mutex mutex;
  std::condition_variable changed;
  std::list<Listener> listeners;  // guarded by mutex
  bool stopping = false;          // guarded by mutex

  void serve_events(httplib::Response& response) {
    std::unique_lock lock(mutex);
    if (listeners.size() >= kMaxListeners) {
      response.status = 503;
      response.set_content(cat("at most ", kMaxListeners, " event listeners\n"), "text/plain");
      return;
    }
    auto const me = listeners.insert(listeners.end(), Listener{});
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, me](std::size_t, httplib::DataSink& sink) {
          std::string out;
          {
            std::unique_lock wait(mutex);
            changed.wait_for(wait, kKeepAlive, [&] { return stopping || !me->queue.empty(); });
            if (stopping) return false;
            for (auto const& event : me->queue) out += cat("data: ", event, "\n\n");
            me->queue.clear();
          }
          if (out.empty()) out = ":\n\n";
          return sink.write(out.data(), out.size());
        },
        [this, me](bool) {
          std::lock_guard const guard(mutex);
          listeners.erase(me);
        });
  }
};

Api::Api(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Result<std::unique_ptr<Api>> Api::start(std::filesystem::path const& socket,
                                        Latest<Snapshot> const& snapshots,
                                        std::function<Status(Command)> send) {
  auto state = std::make_unique<State>();
  state->socket = socket;
  auto& server = state->server;
  server.set_address_family(AF_UNIX);
  server.set_payload_max_length(kMaxCommandBytes);
  server.new_task_queue = [] { return new httplib::ThreadPool(kMaxListeners + 4); };
  server.Get("/v1/snapshot", [&snapshots](httplib::Request const&, httplib::Response& response) {
    auto const snapshot = snapshots.get();
    response.set_content(snapshot ? to_json(*snapshot) : std::string("{}"), "application/json");
  });
  server.Get("/metrics", [&snapshots](httplib::Request const&, httplib::Response& response) {
    auto const snapshot = snapshots.get();
    response.set_content(snapshot ? to_metrics(*snapshot) : std::string(),
                         "text/plain; version=0.0.4");
  });
  server.Get("/healthz", [&snapshots](httplib::Request const&, httplib::Response& response) {
    bool const ready = snapshots.get() != nullptr;
    response.status = ready ? 200 : 503;
    response.set_content(ready ? "ok\n" : "starting\n", "text/plain");
  });
  server.Get("/v1/events",
             [raw = state.get()](httplib::Request const&, httplib::Response& response) {
               raw->serve_events(response);
             });
  server.Post(
      "/v1/commands",
      [send = std::move(send)](httplib::Request const& request, httplib::Response& response) {
        auto command = Command::from_json(request.body);
        auto const done = command ? send(*std::move(command)) : Status(std::move(command).error());
        response.status = done ? 200 : 400;
        response.set_content(done ? std::string("{\"ok\":true}\n") : done.error().detail + "\n",
                             done ? "application/json" : "text/plain");
      });
  std::error_code ignored;
  std::filesystem::remove(
      socket, ignored);  // the directory's lock is ours, so a socket here is a dead process's
  // Made under a tight umask, since chmod after bind would leave a moment open to others.
  auto const old_mask = ::umask(0177);
  bool const bound = server.bind_to_port(socket.c_str(), 80);
  ::umask(old_mask);
  if (!bound)
    return Error{Errc::io,
                 cat("cannot listen on ",
                     socket.string(),
                     " (a path has at most 107 bytes, this one ",
                     socket.string().size(),
                     ")")};
  state->thread = std::thread([raw = state.get()] { raw->server.listen_after_bind(); });
  return std::unique_ptr<Api>(new Api(std::move(state)));
}

Api::~Api() {
  {
    std::lock_guard const lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  state_->server.stop();
  state_->thread.join();
  std::error_code ignored;
  std::filesystem::remove(state_->socket, ignored);
}

void Api::publish(std::string const& json) {
  {
    std::lock_guard const lock(state_->mutex);
    for (auto& listener : state_->listeners) {
      if (listener.queue.size() >= kMaxEventsQueued) listener.queue.pop_front();
      listener.queue.push_back(json);
    }
  }
  state_->changed.notify_all();
}

namespace {

httplib::Client client_for(std::filesystem::path const& socket) {
  httplib::Client client(socket.string());
  client.set_address_family(AF_UNIX);
  client.set_connection_timeout(2);
  client.set_read_timeout(5);
  return client;
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
  auto client = client_for(socket);
  return answer(client.Get(path), socket);
}

Status api_post(std::filesystem::path const& socket, Command const& command) {
  auto client = client_for(socket);
  auto body = answer(client.Post("/v1/commands", command.to_json(), "application/json"), socket);
  if (!body) return std::move(body).error();
  return ok();
}

}  // namespace waggle::node
