// SPDX-License-Identifier: MIT
#include "core/net/yamux.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::net::yamux;

namespace {

Result<Session::Event> feed(Session& session,
                            Type type,
                            std::uint16_t flags,
                            std::uint32_t stream,
                            std::uint32_t length,
                            Bytes& out) {
  Bytes raw;
  Header const header{type, flags, stream, length};
  header.append_to(raw);
  return session.on_header(ByteView(raw).first<kHeaderBytes>(), out);
}

std::vector<Header> headers(ByteView bytes) {
  std::vector<Header> all;
  for (; bytes.size() >= kHeaderBytes; bytes = bytes.subspan(kHeaderBytes))
    all.push_back(*Header::parse(bytes.first<kHeaderBytes>()));
  return all;
}

constexpr Duration kRoundTrip = std::chrono::milliseconds(10);

}  // namespace

TEST_SUITE("yamux::Session") {
  TEST_CASE("clients open odd streams, servers even ones, never the same twice") {
    Bytes out;
    Session client(Session::Role::client, {});
    Session server(Session::Role::server, {});
    CHECK(*client.open(out) == 1);
    CHECK(*server.open(out) == 2);
    client.reset(1, out);
    CHECK(*client.open(out) == 3);
    auto const sent = headers(out);
    CHECK(sent[0].flags == kSyn);
    CHECK(sent[2].flags == kRst);
  }

  TEST_CASE("a SYN is acknowledged; one for a live id or of wrong parity ends the session") {
    Bytes out;
    Session session(Session::Role::server, {});
    auto const opened = feed(session, Type::window_update, kSyn, 1, 0, out);
    REQUIRE(opened);
    CHECK(opened->opened);
    CHECK(headers(out).front().flags == kAck);
    CHECK(!feed(session, Type::window_update, kSyn, 1, 0, out));
    CHECK(!feed(session, Type::window_update, kSyn, 2, 0, out));
    CHECK(!feed(session, Type::window_update, kSyn, 0, 0, out));
  }

  TEST_CASE("credit counts also on SYN and ACK, and never above 2^32") {
    Bytes out;
    Session session(Session::Role::server, {});
    (void)feed(session, Type::window_update, kSyn, 1, 1000, out);
    CHECK(session.credit(1) == kInitialWindow + 1000);
    auto const id = *session.open(out);
    auto const acked = feed(session, Type::window_update, kAck, id, 36, out);
    REQUIRE(acked);
    CHECK(acked->acked);
    CHECK(session.credit(id) == kInitialWindow + 36);
    CHECK(!feed(session, Type::window_update, 0, id, 0xffff'ffffu, out));
  }

  TEST_CASE("reserve never exceeds credit or the largest body") {
    Bytes out;
    Session session(Session::Role::client, {});
    auto const id = *session.open(out);
    std::uint64_t sent = 0;
    while (auto const n = session.reserve(id, 1u << 20, out)) {
      CHECK(n <= kMaxBody);
      sent += n;
    }
    CHECK(sent == kInitialWindow);
    (void)feed(session, Type::window_update, 0, id, 5, out);
    CHECK(session.reserve(id, 100, out) == 5);
  }

  TEST_CASE("more data than the window is fatal, exactly the window is not") {
    Bytes out;
    Session session(Session::Role::server, {});
    (void)feed(session, Type::window_update, kSyn, 1, 0, out);
    CHECK(feed(session, Type::data, 0, 1, kInitialWindow, out));
    CHECK(!feed(session, Type::data, 0, 1, 1, out));
  }

  TEST_CASE(
      "half a window read is granted again, and a quick reader's window doubles to its limit") {
    Bytes out;
    Limits limits;
    limits.max_window = 4 * kInitialWindow;
    Session session(Session::Role::server, limits);
    (void)feed(session, Type::window_update, kSyn, 1, 0, out);
    TimePoint now{seconds(1)};
    out.clear();
    session.consumed(1, kInitialWindow / 2 - 1, now, kRoundTrip, out);
    CHECK(out.empty());
    session.consumed(1, 1, now, kRoundTrip, out);
    REQUIRE(headers(out).size() == 1);
    CHECK(headers(out)[0].length == kInitialWindow / 2);
    std::uint64_t extra = 0;
    for (int i = 0; i < 10; ++i) {
      out.clear();
      now += kRoundTrip;
      std::uint32_t const half = kInitialWindow * 2;
      session.consumed(1, half, now, kRoundTrip, out);
      REQUIRE(!out.empty());
      extra += headers(out)[0].length - half;
    }
    CHECK(extra == limits.max_window - kInitialWindow);
    // A slow reader's does not grow.
    (void)feed(session, Type::window_update, kSyn, 3, 0, out);
    session.consumed(3, kInitialWindow, now, kRoundTrip, out);
    out.clear();
    session.consumed(3, kInitialWindow, now + 100 * kRoundTrip, kRoundTrip, out);
    CHECK(headers(out)[0].length == kInitialWindow);
  }

  TEST_CASE("all windows together grow to a limit only") {
    Bytes out;
    Limits limits;
    limits.max_extra_windows = kInitialWindow;
    Session session(Session::Role::server, limits);
    TimePoint const now{seconds(1)};
    std::uint64_t extra = 0;
    for (std::uint32_t id = 1; id < 9; id += 2) {
      (void)feed(session, Type::window_update, kSyn, id, 0, out);
      session.consumed(id, kInitialWindow, now, kRoundTrip, out);
      out.clear();
      session.consumed(id, kInitialWindow, now + kRoundTrip, kRoundTrip, out);
      extra += headers(out)[0].length - kInitialWindow;
    }
    CHECK(extra == kInitialWindow);
  }

  TEST_CASE("a stream is forgotten after both FINs, or a RST; late frames are swallowed") {
    Bytes out;
    Session session(Session::Role::server, {});
    (void)feed(session, Type::window_update, kSyn, 1, 0, out);
    auto const fin = feed(session, Type::data, kFin, 1, 10, out);
    REQUIRE(fin);
    CHECK(fin->fin);
    CHECK(fin->deliver);
    CHECK(fin->body == 10);
    CHECK(session.alive(1));
    session.finish(1, out);
    CHECK(!session.alive(1));
    auto const late = feed(session, Type::data, 0, 1, 7, out);
    REQUIRE(late);
    CHECK(late->body == 7);
    CHECK(!late->deliver);
    (void)feed(session, Type::window_update, kSyn | kFin, 3, 0, out);
    auto const reset = feed(session, Type::window_update, kRst, 3, 0, out);
    REQUIRE(reset);
    CHECK(reset->rst);
    CHECK(session.size() == 0);
    out.clear();
    session.reset(3, out);
    CHECK(out.empty());
    // FIN and RST in one frame, after our own FIN: forgotten once, not twice.
    (void)feed(session, Type::window_update, kSyn, 5, 0, out);
    session.finish(5, out);
    auto const both = feed(session, Type::data, kFin | kRst, 5, 3, out);
    REQUIRE(both);
    CHECK(both->rst);
    CHECK(session.size() == 0);
    CHECK(session.inbound() == 0);
  }

  TEST_CASE("streams above the limit are refused, and a flood of them ends the session") {
    Bytes out;
    Limits limits;
    limits.max_inbound = 2;
    limits.max_control_bytes = 100 * kHeaderBytes;
    Session session(Session::Role::server, limits);
    (void)feed(session, Type::window_update, kSyn, 1, 0, out);
    (void)feed(session, Type::window_update, kSyn, 3, 0, out);
    out.clear();
    auto const refused = feed(session, Type::data, kSyn, 5, 4, out);
    REQUIRE(refused);
    CHECK(!refused->opened);
    CHECK(!refused->deliver);
    CHECK(headers(out)[0].flags == kRst);
    bool ended = false;
    for (std::uint32_t id = 7; id < 1000 && !ended; id += 2)
      ended = !feed(session, Type::window_update, kSyn, id, 0, out);
    CHECK(ended);
  }

  TEST_CASE("no more than the limit of streams wait for their ACK") {
    Bytes out;
    Session session(Session::Role::client, {});
    for (int i = 0; i < 256; ++i) {
      CHECK(session.may_open());
      (void)session.open(out);
    }
    CHECK(!session.may_open());
    (void)feed(session, Type::window_update, kAck, 1, 0, out);
    CHECK(session.may_open());
    (void)session.open(out);
    CHECK(!session.may_open());
    (void)feed(session, Type::window_update, kRst, 3, 0, out);
    CHECK(session.may_open());
  }

  TEST_CASE("pings are answered with their value, a flood of them is not") {
    Bytes out;
    Session session(Session::Role::client, {});
    auto const ping = feed(session, Type::ping, kSyn, 0, 0xdeadbeef, out);
    REQUIRE(ping);
    CHECK(headers(out)[0].flags == kAck);
    CHECK(headers(out)[0].length == 0xdeadbeef);
    auto const pong = feed(session, Type::ping, kAck, 0, 77, out);
    CHECK(pong->pong == 77u);
    bool ended = false;
    for (int i = 0; i < 100'000 && !ended; ++i) ended = !feed(session, Type::ping, kSyn, 0, 0, out);
    CHECK(ended);
    CHECK(out.size() < (128u << 10));
  }

  TEST_CASE("after a GoAway no stream is opened; wrong versions and types are malformed") {
    Bytes out;
    Session session(Session::Role::client, {});
    auto const going = feed(session, Type::go_away, 0, 0, 0, out);
    CHECK(going->go_away == Reason::normal);
    CHECK(!session.open(out));
    auto const version = *from_hex("010000000000000100000000");
    CHECK(!Header::parse(ByteView(version).first<kHeaderBytes>()));
    auto const type = *from_hex("000400000000000100000000");
    CHECK(!Header::parse(ByteView(type).first<kHeaderBytes>()));
  }
}
