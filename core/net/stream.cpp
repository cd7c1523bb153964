// SPDX-License-Identifier: MIT
#include "core/net/stream.hpp"

#include <algorithm>
#include <array>

#include "core/base/copies.hpp"
#include "core/base/text.hpp"
#include "core/wire/varint.hpp"

namespace waggle::net {

Co<Status> Stream::write_pieces(std::span<ByteView const> pieces, TimePoint deadline) {
  Bytes joined;
  for (auto const piece : pieces) append(joined, piece);
  note_copy(Copied::send, joined.size());
  co_return co_await write(joined, deadline);
}

Co<Status> read_exactly(Stream& stream, MutableBytes out, TimePoint deadline) {
  while (!out.empty()) {
    WAGGLE_CO_TRY(auto const n, co_await stream.read_some(out, deadline));
    if (n == 0)
      co_return Error{Errc::closed, cat("the stream ended ", out.size(), " bytes too early")};
    out = out.subspan(n);
  }
  co_return ok();
}

namespace {

// Of a frame's body, believed at once. Larger: idle claims cost more; smaller: more copies.
constexpr std::size_t kFirstBody = 4u << 10;

}  // namespace

Co<Result<Bytes>> read_to_end(Stream& stream, std::size_t limit, TimePoint deadline) {
  constexpr std::size_t kStep = 16u << 10;
  Bytes all;
  std::size_t filled = 0;
  for (;;) {
    if (all.size() == filled) all.resize(std::min(std::max(2 * filled, kStep), limit + 1));
    WAGGLE_CO_TRY(auto const n,
                  co_await stream.read_some(MutableBytes(all).subspan(filled), deadline));
    if (n == 0) break;
    filled += n;
    if (filled > limit)
      co_return Error{Errc::too_large, cat("a stream longer than ", limit, " bytes")};
  }
  all.resize(filled);
  co_return all;
}

Co<Result<std::optional<Bytes>>> read_frame_or_end(Stream& stream,
                                                   std::size_t limit,
                                                   TimePoint deadline) {
  std::array<std::byte, wire::kMaxVarintBytes> head;
  std::size_t have = 0;
  std::uint64_t length = 0;
  for (;;) {
    // One byte at a time: what follows the frame may belong to somebody else.
    MutableBytes const next = MutableBytes(head).subspan(have, 1);
    WAGGLE_CO_TRY(auto const n, co_await stream.read_some(next, deadline));
    if (n == 0 && have == 0) co_return std::optional<Bytes>();
    if (n == 0) co_return Error{Errc::closed, "the stream ended inside a frame's length"};
    ++have;
    auto const parsed = wire::read_varint(ByteView(head).first(have));
    if (parsed) {
      length = parsed->first;
      break;
    }
    if (parsed.error().code != Errc::closed || have == head.size())
      co_return Error{Errc::malformed, "a frame's length is no varint"};
  }
  if (length > limit)
    co_return Error{Errc::too_large, cat("a frame of ", length, " bytes, the limit is ", limit)};
  // A length is only a claim: memory is taken as the bytes come.
  Holding holding(stream);
  Bytes body;
  for (std::size_t filled = 0; filled < length;) {
    auto const room = std::min<std::uint64_t>(length, std::max(kFirstBody, 2 * filled));
    body.resize(static_cast<std::size_t>(room));
    note_copy(Copied::receive, filled);  // it grows
    holding.set(body.size());
    MutableBytes const rest = MutableBytes(body).subspan(filled);
    WAGGLE_CO_TRY_STATUS(co_await read_exactly(stream, rest, deadline));
    filled = body.size();
  }
  co_return std::optional<Bytes>(std::move(body));
}

Co<Result<Bytes>> read_frame(Stream& stream, std::size_t limit, TimePoint deadline) {
  WAGGLE_CO_TRY(auto frame, co_await read_frame_or_end(stream, limit, deadline));
  if (!frame) co_return Error{Errc::closed, "the stream ended before a frame"};
  co_return *std::move(frame);
}

Co<Status> write_frame(Stream& stream, ByteView body, TimePoint deadline) {
  Bytes framed;
  framed.reserve(wire::kMaxVarintBytes + body.size());
  wire::append_varint(framed, body.size());
  append(framed, body);
  note_copy(Copied::send, body.size());
  co_return co_await stream.write(framed, deadline);
}

}  // namespace waggle::net
