// SPDX-License-Identifier: MIT
#include "core/net/rpc/detail/io.hpp"

#include "core/base/copies.hpp"
#include "core/base/text.hpp"
#include "core/net/rpc/rpc.hpp"

namespace waggle::net::rpc::detail {
namespace {

// Up to here one write of a copy is cheaper than two writes.
constexpr std::size_t kJoin = 16u << 10;
constexpr Duration kPatience = std::chrono::seconds(10);

}  // namespace

Co<Result<std::optional<StreamItem>>> read_item(Stream& stream,
                                                StreamParser& parser,
                                                std::uint64_t& count,
                                                TimePoint deadline) {
  Holding holding(stream);
  for (;;) {
    auto const space = parser.space();
    holding.set(parser.held());
    auto got = co_await stream.read_some(space, deadline);
    bool const ended = got ? *got == 0 : got.error().code == Errc::closed;
    if (ended && parser.between_frames()) co_return std::optional<StreamItem>{};
    if (ended) co_return Error{Errc::closed, "the stream was cut inside an item"};
    if (!got) co_return std::move(got).error();
    count += *got;
    auto item = parser.advance(*got);
    if (!item || *item) co_return std::move(item);
  }
}

Co<Status> write_item(Stream& stream,
                      StreamMarker marker,
                      ByteView head,
                      ByteView tail,
                      std::uint64_t& count,
                      TimePoint deadline) {
  std::size_t const size = head.size() + tail.size();
  if (size > kMaxStreamItemBytes)
    co_return Error{Errc::too_large,
                    cat("an item of ", size, " bytes, allowed are ", kMaxStreamItemBytes)};
  auto const header = stream_header(marker, size);
  bool const join = size <= kJoin;
  Bytes front;
  front.reserve(header.size() + head.size() + (join ? tail.size() : 0));
  append(front, header);
  append(front, head);
  if (join) append(front, tail);
  note_copy(Copied::send, front.size() - header.size());
  count += header.size() + size;
  auto written = co_await stream.write(front, deadline);
  if (!written || join) co_return written;
  co_return co_await stream.write(tail, deadline);
}

Co<void> await_end(Runtime& runtime, Stream& stream) {
  std::array<std::byte, 1> byte{};
  (void)co_await stream.read_some(byte, runtime.now() + kPatience);
}

}  // namespace waggle::net::rpc::detail
