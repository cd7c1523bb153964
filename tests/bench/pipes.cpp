// SPDX-License-Identifier: MIT
#include "tests/bench/pipes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/crypto/aead.hpp"
#include "core/net/noise.hpp"

#include "tests/bench/processes.hpp"

namespace waggle::bench {
namespace {

constexpr std::size_t kMaxPeers = 8;

struct Board {
  std::atomic<std::size_t> ready;
  std::array<double, kMaxPeers> begun;
  std::array<double, kMaxPeers> ended;
  std::array<double, kMaxPeers> cpu;
};

// One end of one socket pair: what it still has to send and to receive.
struct End {
  End(int descriptor, std::size_t bytes)
      : fd(descriptor),
        to_send(bytes),
        to_receive(bytes),
        payload(bytes, std::byte{1}),
        result(bytes) {}

  int fd;
  std::size_t to_send;
  std::size_t to_receive;
  Bytes payload;
  Bytes result;
  crypto::Aead sealer{crypto::Sha256{}};
  crypto::Aead opener{crypto::Sha256{}};
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  Bytes out = Bytes(net::kMaxNoiseMessage);
  std::size_t out_from = 0;
  std::size_t out_until = 0;
  Bytes in = Bytes(net::kMaxNoiseMessage);
  Bytes plain = Bytes(net::kMaxNoisePlaintext);
  std::size_t in_have = 0;

  [[nodiscard]] bool writing() const noexcept { return to_send > 0 || out_from < out_until; }

  [[nodiscard]] bool done() const noexcept { return !writing() && to_receive == 0; }

  bool send() {
    while (writing()) {
      if (out_from == out_until) {
        auto const n = std::min(to_send, net::kMaxNoisePlaintext);
        out_from = 0;
        out_until = n + crypto::kAeadTagBytes;
        sealer.seal(sent++,
                    {},
                    ByteView(payload).subspan(payload.size() - to_send, n),
                    MutableBytes(out).first(out_until));
        to_send -= n;
      }
      auto const n = ::write(fd, out.data() + out_from, out_until - out_from);
      if (n < 0) return errno == EAGAIN;
      out_from += static_cast<std::size_t>(n);
    }
    return true;
  }

  bool receive() {
    while (to_receive > 0) {
      auto const size = std::min(to_receive, net::kMaxNoisePlaintext);
      auto const whole = size + crypto::kAeadTagBytes;
      auto const n = ::read(fd, in.data() + in_have, whole - in_have);
      if (n <= 0) return n < 0 && errno == EAGAIN;
      in_have += static_cast<std::size_t>(n);
      if (in_have < whole) continue;
      in_have = 0;
      auto const opened =
          opener.open(received++, {}, ByteView(in).first(whole), MutableBytes(plain).first(size));
      if (!opened) return false;
      std::memcpy(result.data() + (result.size() - to_receive), plain.data(), size);
      to_receive -= size;
    }
    return true;
  }
};

void run_peer(std::vector<int> const& sockets, std::size_t self, std::size_t bytes, Board& board) {
  std::vector<std::unique_ptr<End>> ends;
  for (int const fd : sockets) ends.push_back(std::make_unique<End>(fd, bytes));
  ++board.ready;
  while (board.ready < sockets.size() + 1) usleep(100);
  double const cpu = cpu_seconds();
  board.begun[self] = monotonic_seconds();
  for (;;) {
    std::vector<pollfd> wanted;
    std::vector<End*> who;
    for (auto const& end : ends) {
      if (end->done()) continue;
      short const events =
          static_cast<short>((end->to_receive > 0 ? POLLIN : 0) | (end->writing() ? POLLOUT : 0));
      wanted.push_back({end->fd, events, 0});
      who.push_back(end.get());
    }
    if (who.empty()) break;
    if (poll(wanted.data(), wanted.size(), 10'000) <= 0) _exit(1);
    for (std::size_t i = 0; i < who.size(); ++i) {
      if ((wanted[i].revents & POLLIN) != 0 && !who[i]->receive()) _exit(1);
      if ((wanted[i].revents & POLLOUT) != 0 && !who[i]->send()) _exit(1);
    }
  }
  board.ended[self] = monotonic_seconds();
  board.cpu[self] = cpu_seconds() - cpu;
}

}  // namespace

PipesOutcome exchange_over_pipes(std::size_t peers, std::size_t bytes_each_way) {
  Shared<Board> board;
  std::vector<std::vector<int>> sockets(peers);
  std::vector<int> all;
  bool good = static_cast<bool>(board) && peers <= kMaxPeers;
  for (std::size_t a = 0; good && a < peers; ++a)
    for (std::size_t b = a + 1; good && b < peers; ++b) {
      int pair[2];
      good = socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0;
      if (!good) break;
      sockets[a].push_back(pair[0]);
      sockets[b].push_back(pair[1]);
      all.insert(all.end(), {pair[0], pair[1]});
    }
  good = good && in_processes(peers, 60, [&](std::size_t self) {
           run_peer(sockets[self], self, bytes_each_way, *board);
         });
  for (int const fd : all) ::close(fd);
  if (!good) return {};
  PipesOutcome outcome;
  auto const begin = std::min_element(board->begun.begin(), board->begun.begin() + peers);
  auto const end = std::max_element(board->ended.begin(), board->ended.begin() + peers);
  outcome.seconds = *end - *begin;
  for (std::size_t i = 0; i < peers; ++i) outcome.cpu_seconds += board->cpu[i];
  return outcome;
}

}  // namespace waggle::bench
