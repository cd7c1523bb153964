// SPDX-License-Identifier: MIT
#include "core/net/rpc/unary_frame.hpp"

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::net;

TEST_CASE("unary frames lacking a required field are malformed, whatever else they hold") {
  // No call id; a call without data; an answer with neither; a call id that is a number; garbage.
  for (auto const* hex : {"",
                          "1a00",
                          "0a10000102030405060708090a0b0c0d0e0f1a041a001200",
                          "0a002200",
                          "0801",
                          "0a00ffffffffffffffffffffff01"}) {
    auto const bad = rpc::UnaryFrame::decode(*from_hex(hex));
    REQUIRE(!bad);
    CHECK(bad.error().code == Errc::malformed);
  }
}

TEST_CASE("no prefix of a call is a call") {
  auto const call = rpc::encode_call(Bytes(16), Bytes(38), "A.rpc_b", Bytes(3));
  auto const decoded = rpc::UnaryFrame::decode(call);
  REQUIRE(decoded);
  REQUIRE(decoded->call);
  CHECK(decoded->call->proto == "A.rpc_b");
  CHECK(decoded->call->data.size() == 3);
  CHECK(!decoded->answer);
  for (std::size_t n = 0; n < call.size(); ++n) {
    auto const cut = rpc::UnaryFrame::decode(ByteView(call).first(n));
    CHECK((!cut || !cut->call));
  }
}

TEST_CASE("control messages are neither call nor answer, unknown fields are skipped") {
  auto const control = rpc::UnaryFrame::decode(*from_hex("0a0012002a00"));
  REQUIRE(control);
  CHECK(!control->call);
  CHECK(!control->answer);
  auto const more =
      rpc::UnaryFrame::decode(*from_hex("0a00f80105f9010000000000000000fa0100fd0100000000"));
  CHECK(more);
}

TEST_CASE("of several members of the oneof the last counts") {
  Bytes frame = rpc::encode_call(Bytes(16), {}, "A.rpc_b", {});
  append(frame, rpc::encode_response(Bytes(16), as_bytes("x")));
  auto const decoded = rpc::UnaryFrame::decode(frame);
  REQUIRE(decoded);
  CHECK(!decoded->call);
  REQUIRE(decoded->answer);
  CHECK(as_text(*decoded->answer->response) == "x");
}
