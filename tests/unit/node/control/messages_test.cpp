// SPDX-License-Identifier: MIT
#include "core/node/control/messages.hpp"

#include <doctest/doctest.h>
#include <zstd.h>

#include "core/node/api/snapshot_json.hpp"

using namespace waggle;
using namespace waggle::node::control;

namespace {

void comes_back(Request const& request) {
  auto const again = decode_request(encode(request));
  REQUIRE(again);
  CHECK(*again == request);
}

void comes_back(Reply const& reply) {
  auto const again = decode_reply(encode(reply));
  REQUIRE(again);
  CHECK(*again == reply);
}

PairProof filled(std::uint8_t with) {
  PairProof out{};
  out.fill(static_cast<std::byte>(with));
  return out;
}

// A frame that says it holds more than it does, or more than we take.
Bytes frame_declaring(std::size_t size) {
  std::string const plain(size, 'x');
  Bytes out(ZSTD_compressBound(size));
  out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 1));
  return out;
}

}  // namespace

TEST_SUITE("control messages") {
  TEST_CASE("every kind comes back as it was") {
    comes_back(Request(Hello{}));
    comes_back(Request(PairStart{PairSession{std::byte{1}}, filled(2)}));
    comes_back(Request(PairProved{filled(3), "laptop"}));
    comes_back(Request(Next{}));
    comes_back(Request(Order{~0ULL, R"({"command":"pause"})"}));
    comes_back(Request(Ping{}));
    comes_back(Reply(Welcome{kVersion, "server", Right::control}));
    comes_back(Reply(Refusal{Why::busy, "later"}));
    comes_back(Reply(PairAnswer{filled(4), filled(5)}));
    comes_back(Reply(Paired{Right::watch, "server"}));
    comes_back(Reply(View{to_bytes("bytes")}));
    comes_back(Reply(Answer{7, true, {}}));
    comes_back(Reply(Answer{8, false, "no such task"}));
    comes_back(Reply(Pong{}));
  }

  TEST_CASE("nothing, noise and half a message are malformed") {
    for (auto const& bad : {Bytes{}, to_bytes("\xff\xff\xff\xff"), to_bytes("\x3a\x05hi")}) {
      CHECK(decode_request(bad).error().code == Errc::malformed);
      CHECK(decode_reply(bad).error().code == Errc::malformed);
    }
    auto const whole = encode(Reply(PairAnswer{filled(4), filled(5)}));
    for (std::size_t n = 0; n < whole.size(); ++n)
      CHECK_FALSE(decode_reply(ByteView(whole).first(n)));
  }

  TEST_CASE("points, proofs, rights and reasons that cannot be are refused") {
    // A point of 31 bytes: PairStart{session: 16, point: 31}.
    auto bytes = encode(Request(PairStart{}));
    auto const again = decode_request(bytes);
    REQUIRE(again);
    // Field 2 of field 2 is the point; one byte shorter, lengths mended.
    bytes.pop_back();
    bytes[1] = static_cast<std::byte>(std::to_integer<int>(bytes[1]) - 1);
    bytes[bytes.size() - 32] = static_cast<std::byte>(31);
    auto const short_point = decode_request(bytes);
    REQUIRE_FALSE(short_point);
    CHECK(short_point.error().detail.find("31 bytes, not 32") != std::string::npos);
    CHECK_FALSE(decode_reply(encode(Reply(Welcome{1, "a", static_cast<Right>(3)}))));
    CHECK_FALSE(decode_reply(encode(Reply(Welcome{1, "a", static_cast<Right>(0)}))));
    CHECK_FALSE(decode_reply(encode(Reply(Refusal{static_cast<Why>(9), "a"}))));
  }

  TEST_CASE("what is too long is refused before it is parsed") {
    auto const order = encode(Request(Order{1, std::string(kMaxRequestBytes, 'x')}));
    auto const read = decode_request(order);
    REQUIRE_FALSE(read);
    CHECK(read.error().detail.find("at most") != std::string::npos);
    CHECK_FALSE(decode_reply(Bytes(kMaxReplyBytes + 1)));
  }

  TEST_CASE("a machine's words are one bounded line of UTF-8") {
    auto const said = decode_reply(
        encode(Reply(Refusal{Why::busy, "a\nb\x1b[31m" + std::string(2 * kMaxWords, 'x')})));
    REQUIRE(said);
    auto const& words = std::get<Refusal>(*said).words;
    CHECK(words.size() <= kMaxWords);
    CHECK(words.find('\n') == std::string::npos);
    CHECK(words.find('\x1b') == std::string::npos);
  }

  TEST_CASE("a snapshot survives packing") {
    node::Snapshot snapshot;
    snapshot.peer_id = "12D3KooW";
    snapshot.peers.resize(100);
    auto const json = node::to_json(snapshot);
    auto const view = pack(json);
    REQUIRE(view);
    CHECK(view->zstd.size() < json.size() / 4);
    auto const again = unpack(*view);
    REQUIRE(again);
    CHECK(*again == json);
  }

  TEST_CASE("a bomb is not unpacked, nor a frame that hides its size, nor two") {
    CHECK_FALSE(unpack(View{frame_declaring(kMaxSnapshotBytes + 1)}));
    CHECK(unpack(View{frame_declaring(kMaxSnapshotBytes)}));
    CHECK_FALSE(unpack(View{}));
    CHECK_FALSE(unpack(View{to_bytes("no zstd at all")}));
    auto two = frame_declaring(10);
    append(two, frame_declaring(10));
    CHECK_FALSE(unpack(View{two}));
    auto cut = frame_declaring(1000);
    cut.pop_back();
    CHECK_FALSE(unpack(View{cut}));
    // Streaming mode leaves the size out.
    std::string const plain(100, 'x');
    Bytes hidden(ZSTD_compressBound(plain.size()));
    auto* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    hidden.resize(
        ZSTD_compress2(context, hidden.data(), hidden.size(), plain.data(), plain.size()));
    ZSTD_freeCCtx(context);
    CHECK_FALSE(unpack(View{hidden}));
  }

  TEST_CASE("what would not fit a reply is not packed") {
    CHECK_FALSE(pack(std::string(kMaxSnapshotBytes + 1, 'x')));
  }
}
