// SPDX-License-Identifier: MIT
#include "core/node/api/detail/http_server.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/base/text.hpp"
#include "core/node/api/detail/socket_path.hpp"

namespace waggle::node::detail {
namespace {

constexpr int kBacklog = 16;
constexpr std::size_t kDrained = 64u << 10;  // read and dropped, so that our answer is not lost
constexpr Duration kDraining = std::chrono::milliseconds(200);
constexpr std::string_view kEndOfHead = "\r\n\r\n";

char const* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

HttpAnswer plain(int status, std::string text) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(text) + "\n";
  return answer;
}

// One connection: every wait ends with its deadline or when the server stops.
class Connection {
 public:
  Connection(Fd socket, int stop, Runtime const& clock)
      : socket_(std::move(socket)), stop_(stop), clock_(clock) {}

  // Reads what is there, up to `size` bytes; 0: the other end is done.
  Result<std::size_t> read(char* out, std::size_t size, TimePoint deadline) {
    for (;;) {
      auto const n = ::recv(socket_.get(), out, size, MSG_DONTWAIT);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return Error{Errc::closed, "connection lost"};
      WAGGLE_TRY_STATUS(wait(POLLIN, deadline));
    }
  }

  Status write(std::string_view bytes, TimePoint deadline) {
    while (!bytes.empty()) {
      auto const n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
        continue;
      }
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        return Error{Errc::closed, "connection lost"};
      WAGGLE_TRY_STATUS(wait(POLLOUT, deadline));
    }
    return ok();
  }

  // Whether the other end hung up, or the server stops.
  bool over() {
    pollfd fds[2] = {{socket_.get(), POLLRDHUP, 0}, {stop_, POLLIN, 0}};
    return ::poll(fds, 2, 0) != 0;
  }

  // Bytes that nobody will read make the kernel reset the connection, our answer with it.
  void close() {
    ::shutdown(socket_.get(), SHUT_WR);
    TimePoint const deadline = clock_.now() + kDraining;
    char dropped[4096];
    for (std::size_t done = 0; done < kDrained;) {
      auto const n = read(dropped, sizeof dropped, deadline);
      if (!n || *n == 0) break;
      done += *n;
    }
    socket_.reset();
  }

 private:
  Status wait(short what, TimePoint deadline) {
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_.now()).count();
    if (left <= 0) return Error{Errc::timeout, "too slow"};
    pollfd fds[2] = {{socket_.get(), what, 0}, {stop_, POLLIN, 0}};
    int const ready = ::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return Error{Errc::io, "poll failed"};
    if (fds[1].revents != 0) return Error{Errc::cancelled, "stopping"};
    return ok();
  }

  Fd socket_;
  int stop_;
  Runtime const& clock_;
};

struct Read {
  HttpRequest request;
  std::optional<HttpAnswer> answer;  // it was refused
};

int status_of(Error const& error) {
  if (error.code == Errc::too_large) return 413;
  return error.code == Errc::timeout ? 408 : 400;
}

}  // namespace

struct HttpServer::State {
  State(HttpLimits l, Runtime const& c, Gate g, Handler h)
      : limits(l), clock(c), gate(std::move(g)), handler(std::move(h)) {}

  HttpLimits limits;
  Runtime const& clock;
  Gate gate;
  Handler handler;
  Fd listening;
  Fd stop;  // readable once the server stops
  std::thread acceptor;

  struct Worker {
    std::thread thread;
    std::atomic<bool> done{false};
  };

  std::list<Worker> workers;  // the acceptor's

  // A request, an answer that refuses it, or nothing: the other end left.
  std::optional<Read> read(Connection& connection) {
    TimePoint const deadline = clock.now() + limits.read;
    std::string bytes;
    std::size_t end = std::string::npos;
    char piece[2048];
    while (end == std::string::npos) {
      if (bytes.size() > kMaxHeadBytes) return Read{{}, plain(431, "the head is too large")};
      auto const n = connection.read(piece, sizeof piece, deadline);
      if (!n && n.error().code == Errc::timeout) return Read{{}, plain(408, "too slow")};
      if (!n || *n == 0) return std::nullopt;
      std::size_t const from = bytes.size() < 3 ? 0 : bytes.size() - 3;
      bytes.append(piece, *n);
      end = bytes.find(kEndOfHead, from);
    }
    end += kEndOfHead.size();
    auto head = parse_head(std::string_view(bytes).substr(0, end));
    if (!head)
      return Read{{}, plain(head.error().code == Errc::too_large ? 431 : 400, head.error().detail)};
    if (auto answer = gate(*head)) return Read{*std::move(head), std::move(answer)};
    auto const length = body_length(*head);
    if (!length)
      return Read{*std::move(head), plain(status_of(length.error()), length.error().detail)};
    std::string body = bytes.substr(end, *length);
    while (body.size() < *length) {
      auto const n =
          connection.read(piece, std::min(sizeof piece, *length - body.size()), deadline);
      if (!n && n.error().code == Errc::timeout)
        return Read{*std::move(head), plain(408, "too slow")};
      if (!n || *n == 0) return std::nullopt;
      body.append(piece, *n);
    }
    head->body = std::move(body);
    return Read{*std::move(head), std::nullopt};
  }

  void answer(Connection& connection, bool head_only, HttpAnswer const& answer) {
    // Each answer ends its connection: what a refused request's body holds is never taken for the
    // next request.
    std::string out = cat("HTTP/1.1 ",
                          answer.status,
                          ' ',
                          reason(answer.status),
                          "\r\nConnection: close\r\nContent-Type: ",
                          answer.type,
                          "\r\n");
    if (!answer.more) out += cat("Content-Length: ", answer.body.size(), "\r\n");
    for (auto const& [name, value] : answer.headers) out += cat(name, ": ", value, "\r\n");
    out += "\r\n";
    if (!head_only) out += answer.body;
    if (!connection.write(out, clock.now() + limits.write) || head_only || !answer.more) return;
    for (;;) {
      std::string piece;
      bool const goes_on = answer.more(piece);
      if (!piece.empty() && !connection.write(piece, clock.now() + limits.write)) return;
      if (!goes_on || connection.over()) return;
    }
  }

  void serve(Fd socket) {
    Connection connection(std::move(socket), stop.get(), clock);
    if (auto const got = read(connection))
      answer(connection,
             got->request.method == "HEAD",
             got->answer ? *got->answer : handler(got->request));
    connection.close();
  }

  void reap() {
    for (auto worker = workers.begin(); worker != workers.end();) {
      if (worker->done) {
        worker->thread.join();
        worker = workers.erase(worker);
      } else {
        ++worker;
      }
    }
  }

  void accept_one() {
    Fd socket(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      // Out of descriptors: the one that waits stays readable, so this would spin.
      pollfd stopped{stop.get(), POLLIN, 0};
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) ::poll(&stopped, 1, 100);
      return;
    }
    reap();
    if (workers.size() >= limits.connections) {
      constexpr std::string_view kFull =
          "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      (void)::send(socket.get(), kFull.data(), kFull.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      return;
    }
    auto& worker = workers.emplace_back();
    try {
      worker.thread = std::thread([this, &worker, fd = std::move(socket)]() mutable {
        ::pthread_setname_np(::pthread_self(), "api");
        serve(std::move(fd));
        worker.done = true;
      });
    } catch (std::system_error const&) {
      // No thread is left: who came is hung up on, and may come again.
      workers.pop_back();
    }
  }

  void accept_all() {
    ::pthread_setname_np(::pthread_self(), "api-accept");
    for (;;) {
      pollfd fds[2] = {{listening.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}};
      if (::poll(fds, 2, -1) < 0 && errno != EINTR) break;
      if (fds[1].revents != 0) break;
      if (fds[0].revents != 0) accept_one();
    }
    for (auto& worker : workers) worker.thread.join();
  }
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(
    Fd listening, HttpLimits limits, Runtime const& clock, Gate gate, Handler handler) {
  auto state = std::make_unique<State>(limits, clock, std::move(gate), std::move(handler));
  state->listening = std::move(listening);
  state->stop = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!state->stop) return Error{Errc::io, "no descriptor is left"};
  state->acceptor = std::thread([raw = state.get()] { raw->accept_all(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() {
  std::uint64_t const one = 1;
  [[maybe_unused]] auto const written = ::write(state_->stop.get(), &one, sizeof one);
  state_->acceptor.join();
}

Result<Fd> listen_unix(std::filesystem::path const& path) {
  WAGGLE_TRY(auto const reachable, SocketPath::of(path));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, reachable.text.data(), reachable.text.size());
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The file takes the descriptor's mode; chmod after bind would leave a moment open to others.
  bool const bound =
      socket && ::fchmod(socket.get(), 0600) == 0 &&
      ::bind(socket.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0 &&
      ::listen(socket.get(), kBacklog) == 0;
  if (!bound)
    return Error{Errc::io, cat("cannot listen on ", path.string(), ": ", std::strerror(errno))};
  return socket;
}

Result<Fd> listen_tcp(std::string const& host, std::uint16_t port) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  bool const is_v4 = ::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1)
    return Error{Errc::invalid, cat("\"", host, "\" is no IP address")};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  Fd socket(::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // SO_REUSEADDR lets a restart have the port again at once; unlike SO_REUSEPORT it shares nothing.
  int const on = 1;
  bool const bound = socket &&
                     ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                     ::bind(socket.get(),
                            is_v4 ? reinterpret_cast<sockaddr const*>(&v4)
                                  : reinterpret_cast<sockaddr const*>(&v6),
                            is_v4 ? sizeof v4 : sizeof v6) == 0 &&
                     ::listen(socket.get(), kBacklog) == 0;
  if (!bound)
    return Error{Errc::io,
                 cat("cannot listen on ", host, " port ", port, ": ", std::strerror(errno))};
  return socket;
}

}  // namespace waggle::node::detail
