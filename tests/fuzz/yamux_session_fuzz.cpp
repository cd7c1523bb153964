// SPDX-License-Identifier: MIT
#include "core/net/yamux.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace waggle;
using namespace waggle::net::yamux;

// Any headers: limits hold, what we write parses, and our own calls stay safe between them.
int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto in = fuzz::input(data, size);
  Limits limits;
  limits.max_inbound = 8;
  limits.max_unacked = 8;
  Session session(Session::Role::server, limits);
  Bytes out;
  TimePoint now{};
  for (int turn = 0; in.size() >= kHeaderBytes; ++turn, in = in.subspan(kHeaderBytes)) {
    auto const event = session.on_header(in.first<kHeaderBytes>(), out);
    if (!event) break;
    now += std::chrono::milliseconds(1);
    if (event->deliver) session.consumed(event->stream, event->body, now, Duration{1'000'000}, out);
    if (turn % 3 == 0 && session.may_open()) (void)session.open(out);
    if (event->opened && turn % 5 == 0)
      session.finish(event->stream, out);
    else if (event->opened && turn % 7 == 0)
      session.reset(event->stream, out);
    else if (event->opened && session.alive(event->stream))
      (void)session.reserve(event->stream, 1, out);
    WAGGLE_ASSERT(session.inbound() <= limits.max_inbound);
    WAGGLE_ASSERT(session.credit(event->stream) <= 0xffff'ffffu);
  }
  return 0;
}
