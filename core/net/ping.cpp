// SPDX-License-Identifier: MIT
#include "core/net/ping.hpp"

#include <array>

namespace waggle::net::ping {

Co<void> serve(Runtime& runtime, Incoming incoming) {
  Stream& stream = *incoming.stream;
  std::array<std::byte, kBytes> body;
  for (;;) {
    TimePoint const deadline = runtime.now() + kIdleTime;
    auto const n = co_await stream.read_some(body, deadline);
    if (!n) co_return;
    if (*n == 0) break;
    MutableBytes const rest = MutableBytes(body).subspan(*n);
    auto const read = co_await read_exactly(stream, rest, deadline);
    if (!read) co_return;
    auto const written = co_await stream.write(body, deadline);
    if (!written) co_return;
  }
  TimePoint const deadline = runtime.now() + kIdleTime;
  (void)co_await stream.close_write(deadline);
}

Co<Result<Duration>> measure(Host& host, PeerId peer, TimePoint deadline) {
  WAGGLE_CO_TRY(auto const stream, co_await host.open(peer, kProtocol, deadline));
  std::array<std::byte, kBytes> sent;
  std::array<std::byte, kBytes> received;
  host.runtime().fill_random(sent);
  TimePoint const start = host.runtime().now();
  WAGGLE_CO_TRY_STATUS(co_await stream->write(sent, deadline));
  WAGGLE_CO_TRY_STATUS(co_await read_exactly(*stream, received, deadline));
  Duration const round_trip = host.runtime().now() - start;
  if (sent != received) co_return Error{Errc::malformed, "a ping came back changed"};
  (void)co_await stream->close_write(deadline);
  co_return round_trip;
}

}  // namespace waggle::net::ping
