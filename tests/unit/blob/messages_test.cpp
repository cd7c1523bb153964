// SPDX-License-Identifier: MIT
#include "core/blob/messages.hpp"

#include <cstring>
#include <random>

#include <doctest/doctest.h>
#include <zstd.h>

using namespace waggle;
using namespace waggle::blob;

namespace {

Bytes random_bytes(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Bytes out(n);
  for (auto& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

Answer zstd_answer(ByteView plain) {
  Answer answer;
  answer.packing = Packing::zstd;
  answer.body.resize(ZSTD_compressBound(plain.size()));
  answer.body.resize(
      ZSTD_compress(answer.body.data(), answer.body.size(), plain.data(), plain.size(), 3));
  return answer;
}

}  // namespace

TEST_SUITE("blob messages") {
  TEST_CASE("requests and answers read back equal and stay within their limits") {
    Request request;
    request.blob.hash.fill(std::byte{0xff});
    request.ask = Ask::chunk;
    request.chunk = 0xffffffff;
    auto const bytes = request.encode();
    CHECK(bytes.size() <= kMaxRequestBytes);
    CHECK(*Request::decode(bytes) == request);
    Answer answer;
    answer.packing = Packing::zstd;
    answer.body = random_bytes(kChunkBytes, 1);
    auto const frame = answer.encode();
    CHECK(frame.size() <= kMaxChunkAnswer);
    CHECK(*Answer::decode(frame) == answer);
    Answer manifest;
    manifest.body = Bytes(kMaxManifestBytes);
    CHECK(manifest.encode().size() <= kMaxManifestAnswer);
  }

  TEST_CASE("malformed requests and answers are refused") {
    CHECK(!Request::decode({}));
    CHECK(!Request::decode(as_bytes("garbage")));
    CHECK(!Request::decode(Bytes(kMaxRequestBytes + 1)));
    Request request;
    for (int const ask : {0, 4, 255}) {
      request.ask = static_cast<Ask>(ask);
      CHECK(!Request::decode(request.encode()));
    }
    Answer answer;
    answer.said = static_cast<Said>(9);
    CHECK(!Answer::decode(answer.encode()));
    answer.said = Said::ok;
    answer.packing = static_cast<Packing>(2);
    CHECK(!Answer::decode(answer.encode()));
    CHECK(!Answer::decode({}));
  }

  TEST_CASE("bitmaps read back equal, and bits beyond the end are refused") {
    for (std::size_t const n : {0u, 1u, 7u, 8u, 9u, 1000u}) {
      std::vector<bool> held(n);
      for (std::size_t i = 0; i < n; ++i) held[i] = i % 3 == 0;
      auto const bytes = to_bitmap(held);
      CHECK(bytes.size() == (n + 7) / 8);
      CHECK(*from_bitmap(bytes, n) == held);
      CHECK(!from_bitmap(bytes, n + 8));
    }
    CHECK(!from_bitmap(Bytes{std::byte{0x80}}, 7));
    CHECK(from_bitmap(Bytes{std::byte{0x01}}, 1));
  }

  TEST_CASE("a chunk travels as whichever is smaller and comes back the same") {
    auto const noise = random_bytes(kChunkBytes, 2);
    auto const packed_noise = pack(noise);
    CHECK(packed_noise.packing == Packing::raw);
    CHECK(*unpack(packed_noise, noise.size()) == noise);
    Bytes const zeros(kChunkBytes);
    auto const packed = pack(zeros);
    CHECK(packed.packing == Packing::zstd);
    CHECK(packed.body.size() < 1000);
    CHECK(*unpack(packed, zeros.size()) == zeros);
    Bytes const one{std::byte{7}};
    CHECK(*unpack(pack(one), 1) == one);
  }

  TEST_CASE("bombs, cut frames, two frames, undeclared and wrong sizes are refused") {
    Bytes const zeros(64u << 20);  // 6 KiB as a frame
    auto const bomb = zstd_answer(zeros);
    CHECK(bomb.body.size() < 10'000);
    CHECK(!unpack(bomb, kChunkBytes));
    // One that declares a chunk and decodes to more: the declared size is overwritten.
    auto lying = zstd_answer(ByteView(zeros).first(kChunkBytes * 2));
    std::uint32_t const claim = kChunkBytes;
    std::memcpy(lying.body.data() + 5, &claim, sizeof claim);
    REQUIRE(ZSTD_getFrameContentSize(lying.body.data(), lying.body.size()) == kChunkBytes);
    CHECK(!unpack(lying, kChunkBytes));
    auto good = zstd_answer(ByteView(zeros).first(kChunkBytes));
    CHECK(unpack(good, kChunkBytes));
    CHECK(!unpack(good, kChunkBytes - 1));
    auto cut = good;
    cut.body.pop_back();
    CHECK(!unpack(cut, kChunkBytes));
    auto two = good;
    append(two.body, good.body);
    CHECK(!unpack(two, kChunkBytes));
    auto stream = good;
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    stream.body.resize(ZSTD_compressBound(kChunkBytes));
    stream.body.resize(
        ZSTD_compress2(context, stream.body.data(), stream.body.size(), zeros.data(), kChunkBytes));
    ZSTD_freeCCtx(context);
    CHECK(!unpack(stream, kChunkBytes));
    for (unsigned seed = 0; seed < 200; ++seed) {
      Answer noise;
      noise.packing = Packing::zstd;
      noise.body = random_bytes(seed, seed);
      CHECK(!unpack(noise, kChunkBytes));
      noise.packing = Packing::raw;
      CHECK(!unpack(noise, kChunkBytes));
    }
  }
}
