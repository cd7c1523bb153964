// SPDX-License-Identifier: MIT
#include "core/blob/messages.hpp"

#include <zstd.h>

#include "core/base/text.hpp"
#include "core/blob/proto/blob.pb.h"

namespace waggle::blob {
namespace {

constexpr int kLevel =
    1;  // a gradient round shares the processor; higher levels gain a few percent on weights

template <class Message>
Result<Message> parse(ByteView bytes, char const* what) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error{Errc::malformed, cat("blob: bad ", what)};
  return message;
}

}  // namespace

Bytes Request::encode() const {
  pb::Request message;
  message.set_blob(blob.hash.data(), blob.hash.size());
  message.set_ask(static_cast<std::uint32_t>(ask));
  message.set_chunk(chunk);
  return to_bytes(message.SerializeAsString());
}

Result<Request> Request::decode(ByteView bytes) {
  if (bytes.size() > kMaxRequestBytes) return Error{Errc::malformed, "blob: a long request"};
  WAGGLE_TRY(auto const message, parse<pb::Request>(bytes, "request"));
  Request request;
  if (message.blob().size() != request.blob.hash.size())
    return Error{Errc::malformed, "blob: bad id in a request"};
  std::memcpy(request.blob.hash.data(), message.blob().data(), request.blob.hash.size());
  if (message.ask() < 1 || message.ask() > 3)
    return Error{Errc::malformed, cat("blob: unknown request ", message.ask())};
  request.ask = static_cast<Ask>(message.ask());
  request.chunk = message.chunk();
  return request;
}

Bytes Answer::encode() const {
  pb::Answer message;
  message.set_said(static_cast<std::uint32_t>(said));
  message.set_packing(static_cast<std::uint32_t>(packing));
  message.set_body(body.data(), body.size());
  Bytes out(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(as_u8(MutableBytes(out)));
  return out;
}

Result<Answer> Answer::decode(ByteView bytes) {
  WAGGLE_TRY(auto const message, parse<pb::Answer>(bytes, "answer"));
  if (message.said() < 1 || message.said() > 3)
    return Error{Errc::malformed, cat("blob: unknown answer ", message.said())};
  if (message.packing() > 1)
    return Error{Errc::malformed, cat("blob: unknown packing ", message.packing())};
  Answer answer;
  answer.said = static_cast<Said>(message.said());
  answer.packing = static_cast<Packing>(message.packing());
  answer.body = to_bytes(message.body());
  return answer;
}

Bytes to_bitmap(std::vector<bool> const& held) {
  Bytes out((held.size() + 7) / 8);
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i]) out[i / 8] |= std::byte{1} << (i % 8);
  return out;
}

Result<std::vector<bool>> from_bitmap(ByteView bytes, std::size_t count) {
  if (bytes.size() != (count + 7) / 8)
    return Error{Errc::malformed,
                 cat("blob: a bitmap of ", bytes.size(), " bytes for ", count, " chunks")};
  std::vector<bool> held(count);
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    bool const set = (bytes[i / 8] & (std::byte{1} << (i % 8))) != std::byte{};
    if (i < count)
      held[i] = set;
    else if (set)
      return Error{Errc::malformed, "blob: a bitmap with bits beyond its chunks"};
  }
  return held;
}

Answer pack(Bytes chunk) {
  Answer answer;
  Bytes packed(ZSTD_compressBound(chunk.size()));
  auto const n = ZSTD_compress(packed.data(), packed.size(), chunk.data(), chunk.size(), kLevel);
  if (!ZSTD_isError(n) && n < chunk.size()) {
    packed.resize(n);
    answer.packing = Packing::zstd;
    answer.body = std::move(packed);
  } else {
    answer.body = std::move(chunk);
  }
  return answer;
}

Result<Bytes> unpack(Answer answer, std::size_t size) {
  auto const& body = answer.body;
  if (answer.packing == Packing::raw) {
    if (body.size() != size)
      return Error{Errc::malformed, cat("blob: a chunk of ", body.size(), " bytes, not ", size)};
    return std::move(answer.body);
  }
  if (ZSTD_getFrameContentSize(body.data(), body.size()) != size)
    return Error{Errc::malformed, cat("blob: a frame that does not declare ", size, " bytes")};
  if (ZSTD_findFrameCompressedSize(body.data(), body.size()) != body.size())
    return Error{Errc::malformed, "blob: more or less than one frame"};
  Bytes chunk(size);
  // The output buffer bounds what is decoded, whatever the frame goes on to hold.
  auto const n = ZSTD_decompress(chunk.data(), chunk.size(), body.data(), body.size());
  if (ZSTD_isError(n) || n != size)
    return Error{Errc::malformed, "blob: a frame that does not decode"};
  return chunk;
}

}  // namespace waggle::blob
