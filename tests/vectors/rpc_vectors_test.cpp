// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "core/crypto/peer_id.hpp"
#include "core/net/rpc/rpc.hpp"
#include "core/net/rpc/stream_frame.hpp"
#include "core/net/rpc/unary_frame.hpp"
#include "core/wire/varint.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"
#include "tests/support/vectors.hpp"

using namespace waggle;
using namespace waggle::net;
using test::unhex;

namespace {

Bytes framed(ByteView body) {
  Bytes out;
  wire::append_varint(out, body.size());
  append(out, body);
  return out;
}

Bytes body_of(Bytes const& bytes_on_stream) {
  auto const length = wire::read_varint(bytes_on_stream);
  REQUIRE(length);
  auto const body = ByteView(bytes_on_stream).subspan(length->second);
  REQUIRE(body.size() == length->first);
  return to_bytes(body);
}

Co<Result<Bytes>> no_answer(PeerId, Bytes) {
  co_return Bytes{};
}

Co<Status> no_answers(rpc::ServerCall&) {
  co_return ok();
}

}  // namespace

TEST_CASE("RPC names are protocol ids as they stand") {
  auto const& cases = test::vectors("dht").at("rpc_protocol_ids");
  test::announce("dht/rpc_protocol_ids", cases.size());
  sim::World world(1);
  sim::MemoryNetwork network(world);
  sim::MemoryHost host(network, sim::peer(1));
  for (auto const& c : cases) {
    auto const id = c.at("protocol_id").get<std::string>();
    Registration serving = id.find("::") == std::string::npos
                               ? rpc::serve_unary(host, id, no_answer)
                               : rpc::serve_stream(host, id, no_answers);
    CHECK(host.protocols() == std::vector<std::string>{id});
    CHECK(equal(framed(as_bytes(id + "\n")), unhex(c.at("multistream_select_line"))));
  }
}

TEST_CASE("unary frames are hivemind's, byte for byte") {
  auto const& cases = test::vectors("dht").at("unary_wire");
  test::announce("dht/unary_wire", cases.size());
  for (auto const& c : cases) {
    auto const on_stream = unhex(c.at("bytes_on_stream"));
    auto const call_id = unhex(c.at("call_id"));
    auto const body = body_of(on_stream);
    auto const frame = rpc::UnaryFrame::decode(body);
    REQUIRE(frame);
    CHECK(equal(frame->call_id, call_id));
    if (c.contains("data")) {
      auto const peer = crypto::parse_peer_id(c.at("peer").get<std::string>());
      REQUIRE(peer);
      auto const proto = c.at("proto").get<std::string>();
      auto const data = unhex(c.at("data"));
      CHECK(framed(rpc::encode_call(call_id, peer->bytes(), proto, data)) == on_stream);
      REQUIRE(frame->call);
      CHECK(equal(frame->call->peer, peer->bytes()));
      CHECK(frame->call->proto == proto);
      CHECK(equal(frame->call->data, data));
    } else if (c.contains("response")) {
      auto const response = unhex(c.at("response"));
      CHECK(framed(rpc::encode_response(call_id, response)) == on_stream);
      REQUIRE(frame->answer);
      REQUIRE(frame->answer->response);
      CHECK(equal(*frame->answer->response, response));
    } else {
      auto const text = to_string(unhex(c.at("error")));
      CHECK(framed(rpc::encode_error(call_id, text)) == on_stream);
      REQUIRE(frame->answer);
      CHECK(frame->answer->error == text);
    }
  }
}

TEST_CASE("stream frames are hivemind's, byte for byte") {
  auto const& cases = test::vectors("dht").at("stream_wire");
  test::announce("dht/stream_wire", cases.size());
  for (auto const& c : cases) {
    auto const on_stream = unhex(c.at("bytes_on_stream"));
    auto const body = unhex(c.at("protobuf"));
    auto const marker = static_cast<rpc::StreamMarker>(on_stream.at(0));
    Bytes ours = to_bytes(rpc::stream_header(marker, body.size()));
    append(ours, body);
    CHECK(ours == on_stream);

    rpc::StreamParser parser(1000);
    std::optional<rpc::StreamItem> item;
    for (auto const byte : on_stream) {
      REQUIRE(!item);
      parser.space()[0] = byte;
      auto got = parser.advance(1);
      REQUIRE(got);
      item = std::move(*got);
    }
    REQUIRE(item);
    CHECK(item->marker == marker);
    CHECK(item->body == body);
    if (c.at("note").get<std::string>().starts_with("error")) {
      CHECK(rpc::decode_rpc_error(body) == "boom");
      CHECK(rpc::encode_rpc_error("boom") == body);
    }
  }
}
