// SPDX-License-Identifier: MIT
#include "core/net/rpc/stream_frame.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace waggle;
using namespace waggle::net;

namespace {

/// Feeds `bytes` at most `step` at a time; the items, and the error code if it came to one.
std::pair<std::vector<rpc::StreamItem>, std::optional<Errc>> parse(Bytes const& bytes,
                                                                   std::size_t step,
                                                                   std::size_t limit) {
  rpc::StreamParser parser(limit);
  std::vector<rpc::StreamItem> items;
  for (std::size_t at = 0; at < bytes.size();) {
    auto const space = parser.space();
    auto const n = std::min({space.size(), step, bytes.size() - at});
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), n, space.begin());
    at += n;
    auto item = parser.advance(n);
    if (!item) return {std::move(items), item.error().code};
    if (*item) items.push_back(std::move(**item));
  }
  return {std::move(items), std::nullopt};
}

Bytes frame(rpc::StreamMarker marker, Bytes const& body) {
  Bytes out = to_bytes(rpc::stream_header(marker, body.size()));
  append(out, body);
  return out;
}

constexpr auto kMessage = rpc::StreamMarker::message;
constexpr auto kEnd = rpc::StreamMarker::end;

}  // namespace

TEST_CASE("stream frames read the same however the bytes are cut") {
  Bytes bytes;
  std::vector<Bytes> const bodies{Bytes{}, Bytes(1, std::byte{7}), Bytes(3000, std::byte{1})};
  for (auto const& body : bodies) append(bytes, frame(kMessage, body));
  append(bytes, frame(kEnd, {}));
  for (std::size_t const step : {1, 2, 8, 9, 10, 1000, 100'000}) {
    auto const [items, error] = parse(bytes, step, 1 << 20);
    CHECK(!error);
    REQUIRE(items.size() == 4);
    for (std::size_t i = 0; i < 3; ++i) CHECK(items[i].body == bodies[i]);
    CHECK(items[3].marker == kEnd);
  }
}

TEST_CASE("a body larger than the first allocation grows as it comes") {
  Bytes body(5'000'000);
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<std::byte>(i * 31 >> 3);
  auto const [items, error] = parse(frame(kMessage, body), 64'000, 16 << 20);
  CHECK(!error);
  REQUIRE(items.size() == 1);
  CHECK(items[0].body == body);
  rpc::StreamParser parser(16 << 20);
  auto const header = rpc::stream_header(kMessage, 16 << 20);
  std::copy(header.begin(), header.end(), parser.space().begin());
  CHECK(parser.advance(header.size()));
  CHECK(parser.space().size() <= 1 << 20);
}

TEST_CASE("stream limits hold at the byte") {
  CHECK(!parse(frame(kMessage, Bytes(100)), 9, 100).second);
  CHECK(parse(frame(kMessage, Bytes(101)), 9, 100).second == Errc::too_large);
  CHECK(!parse(frame(kEnd, Bytes(rpc::kMaxEndBytes)), 9, 1 << 20).second);
  CHECK(parse(frame(kEnd, Bytes(rpc::kMaxEndBytes + 1)), 9, 1 << 20).second == Errc::too_large);
  CHECK(parse(*from_hex("020000000000000000"), 9, 100).second == Errc::malformed);
  CHECK(parse(*from_hex("00ffffffffffffffff"), 9, 100).second == Errc::too_large);
}

TEST_CASE("failure texts survive, nonsense is shown and long ones are cut") {
  CHECK(rpc::decode_rpc_error(rpc::encode_rpc_error("boom")) == "boom");
  CHECK(rpc::decode_rpc_error({}).empty());
  CHECK(rpc::decode_rpc_error(as_bytes("\x7f what?")) == "\x7f what?");
  CHECK(rpc::decode_rpc_error(Bytes(5000, std::byte{0x7f})).size() == 1024);
  // A field of text that is cut stays text: other implementations refuse one that is not.
  std::string wide;
  while (wide.size() < 2000) wide += "蜂";
  CHECK(rpc::decode_rpc_error(rpc::encode_rpc_error(wide)) == wide.substr(0, 1023));
}
