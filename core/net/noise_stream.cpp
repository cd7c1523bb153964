// SPDX-License-Identifier: MIT
#include "core/net/noise_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/assert.hpp"
#include "core/base/copies.hpp"
#include "core/base/text.hpp"
#include "core/net/detail/adaptive_size.hpp"
#include "core/net/detail/leaving.hpp"

namespace waggle::net {
namespace {

constexpr std::size_t kLengthBytes = 2;
constexpr std::size_t kOverhead = kLengthBytes + crypto::kAeadTagBytes;
constexpr std::size_t kLargestFrame = kLengthBytes + kMaxNoiseMessage;
// Sealed messages that go out in one write: fewer system calls, yet they stay in the cache.
constexpr std::size_t kBatch = 4 * kLargestFrame;
constexpr std::size_t kSmallestRead = 4u << 10;
constexpr std::size_t kLargestRead = 4 * kLargestFrame;
// A message ends with a piece that is so large, so that a frame's body comes whole: the receiver
// then need not gather it from two messages.
constexpr std::size_t kBody = 4u << 10;
// Small writes in a row after which a large batch is given back: a quiet connection need not hold
// one, but a busy one that sends window updates in between should not make it anew each time.
constexpr int kQuietWrites = 64;
// Counters never wrap in practice; js ends a session here, so do we.
constexpr std::uint64_t kMaxMessages = 0xffff'ffffu;

}  // namespace

struct NoiseStream::State {
  State(std::unique_ptr<Stream> pipe, NoiseHandshake::Keys const& keys)
      : below(std::move(pipe)), sealer(keys.send), opener(keys.receive) {}

  std::unique_ptr<Stream> below;

  crypto::Aead sealer;
  std::uint64_t sealed = 0;
  Bytes batch;
  int quiet_writes = 0;
  std::vector<ByteView> parts;  // of the message that is being sealed

  crypto::Aead opener;
  std::uint64_t opened = 0;
  AdaptiveSize read_size{kSmallestRead, kLargestRead};
  Bytes in;               // ciphertext from the pipe
  std::size_t head = 0;   // used of `in`
  std::size_t tail = 0;   // filled of `in`
  std::size_t plain = 0;  // plaintext that did not fit the caller, at `head`
  std::size_t skip = 0;   // the tag behind it

  static Co<Result<std::size_t>> read(std::shared_ptr<State> s,
                                      MutableBytes out,
                                      TimePoint deadline);
  static Co<Status> write(std::shared_ptr<State> s, ByteView in, TimePoint deadline);
  static Co<Status> write_pieces(std::shared_ptr<State> s,
                                 std::span<ByteView const> pieces,
                                 TimePoint deadline);
  static Co<Status> finish(std::shared_ptr<State> s, TimePoint deadline);
  ByteView seal_all(std::span<ByteView const> pieces, std::size_t size);
  Co<Status> send_batch(ByteView ready, TimePoint deadline);
  [[nodiscard]] Result<std::size_t> open_frames(MutableBytes out);
  [[nodiscard]] std::size_t wanted() const noexcept;
  MutableBytes room();
};

// Hands out plaintext: what is left over, then whole frames of the buffer, as many as fit. 0: more
// ciphertext is needed.
Result<std::size_t> NoiseStream::State::open_frames(MutableBytes out) {
  std::size_t done = 0;
  while (done < out.size()) {
    if (plain > 0) {
      auto const n = std::min(plain, out.size() - done);
      std::memcpy(out.data() + done, in.data() + head, n);
      note_copy(Copied::receive, n);
      done += n;
      head += n;
      plain -= n;
      if (plain == 0) head += std::exchange(skip, 0);
      continue;
    }
    if (tail - head < kLengthBytes) break;
    std::size_t const length = load_be<std::uint16_t>(ByteView(in).subspan(head));
    if (length < crypto::kAeadTagBytes)
      return Error{Errc::malformed, cat("a Noise message of ", length, " bytes")};
    if (tail - head < kLengthBytes + length) break;
    std::size_t const size = length - crypto::kAeadTagBytes;
    bool const fits = size <= out.size() - done;
    // A second copy is cheaper than giving the caller little, but not when he has something.
    if (!fits && done > 0) break;
    head += kLengthBytes;
    ByteView const sealed_bytes = ByteView(in).subspan(head, length);
    MutableBytes const target =
        fits ? out.subspan(done, size) : MutableBytes(in).subspan(head, size);
    WAGGLE_TRY_STATUS(opener.open(opened++, {}, sealed_bytes, target));
    if (opened > kMaxMessages) return Error{Errc::closed, "2^32 Noise messages were received"};
    if (fits) {
      head += length;
      done += size;
    } else {
      plain = size;
      skip = crypto::kAeadTagBytes;
    }
  }
  return done;
}

// How large the buffer must be to hold the frame that it begins with.
std::size_t NoiseStream::State::wanted() const noexcept {
  if (tail - head < kLengthBytes) return kSmallestRead;
  return kLengthBytes + load_be<std::uint16_t>(ByteView(in).subspan(head));
}

MutableBytes NoiseStream::State::room() {
  std::size_t const size = std::max(read_size.size(), wanted());
  if (in.size() != size && tail - head <= size) {
    Bytes other(size);
    std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(head), tail - head, other.begin());
    note_copy(Copied::receive, tail - head);
    in = std::move(other);
  } else if (tail > head && in.size() - head >= wanted()) {
    // The frame that has begun fits behind what was used: no need to move it.
    return MutableBytes(in).subspan(tail);
  } else if (head > 0 && tail > head) {
    note_copy(Copied::receive, tail - head);
    std::memmove(in.data(), in.data() + head, tail - head);
  }
  tail -= head;
  head = 0;
  return MutableBytes(in).subspan(tail);
}

Co<Result<std::size_t>> NoiseStream::State::read(std::shared_ptr<State> s,
                                                 MutableBytes out,
                                                 TimePoint deadline) {
  auto const state = co_await asio::this_coro::cancellation_state;
  bool const cancelled = left(state);
  if (cancelled) co_return Error{Errc::cancelled, "read"};
  for (;;) {
    WAGGLE_CO_TRY(auto const done, s->open_frames(out));
    if (done > 0) co_return done;
    MutableBytes const room = s->room();
    WAGGLE_CO_TRY(auto const n, co_await s->below->read_some(room, deadline));
    if (n == 0) {
      if (s->tail == s->head) co_return std::size_t{0};
      co_return Error{Errc::closed, "the connection ended inside a Noise message"};
    }
    s->tail += n;
    s->read_size.note(s->tail);
  }
}

// Seals `size` bytes, those of the pieces joined, into the batch, in messages as large as they may
// be.
ByteView NoiseStream::State::seal_all(std::span<ByteView const> pieces, std::size_t size) {
  auto const bodies = static_cast<std::size_t>(
      std::count_if(pieces.begin(), pieces.end(), [](ByteView p) { return p.size() >= kBody; }));
  std::size_t const messages = size / kMaxNoisePlaintext + 1 + bodies;  // at most
  if (batch.size() < size + messages * kOverhead) batch.resize(size + messages * kOverhead);
  MutableBytes out(batch);
  std::size_t from = 0;  // of the first piece
  while (size > 0) {
    std::size_t message = std::min(size, kMaxNoisePlaintext);
    parts.clear();
    for (std::size_t left = message; left > 0;) {
      auto const part = pieces.front().subspan(from, std::min(left, pieces.front().size() - from));
      parts.push_back(part);
      left -= part.size();
      from += part.size();
      if (from == pieces.front().size()) {
        bool const body = from >= kBody;
        pieces = pieces.subspan(1);
        from = 0;
        if (body) message -= std::exchange(left, 0);
      }
    }
    store_be(out, static_cast<std::uint16_t>(message + crypto::kAeadTagBytes));
    sealer.seal_pieces(
        sealed++, {}, parts, out.subspan(kLengthBytes, message + crypto::kAeadTagBytes));
    out = out.subspan(message + kOverhead);
    size -= message;
  }
  return ByteView(batch).first(batch.size() - out.size());
}

Co<Status> NoiseStream::State::send_batch(ByteView ready, TimePoint deadline) {
  if (sealed > kMaxMessages) co_return Error{Errc::closed, "2^32 Noise messages were sent"};
  WAGGLE_CO_TRY_STATUS(co_await below->write(ready, deadline));
  if (ready.size() >= kSmallestRead) {
    quiet_writes = 0;
  } else if (++quiet_writes >= kQuietWrites && batch.size() > kLargestFrame) {
    batch = Bytes();
  }
  co_return ok();
}

Co<Status> NoiseStream::State::write(std::shared_ptr<State> s, ByteView in, TimePoint deadline) {
  while (!in.empty()) {
    auto const n = std::min(in.size(), kBatch / kLargestFrame * kMaxNoisePlaintext);
    ByteView const piece = in.first(n);
    ByteView const ready = s->seal_all(std::span(&piece, 1), n);
    WAGGLE_CO_TRY_STATUS(co_await s->send_batch(ready, deadline));
    in = in.subspan(n);
  }
  co_return ok();
}

Co<Status> NoiseStream::State::write_pieces(std::shared_ptr<State> s,
                                            std::span<ByteView const> pieces,
                                            TimePoint deadline) {
  std::size_t size = 0;
  for (auto const piece : pieces) size += piece.size();
  ByteView const ready = s->seal_all(pieces, size);
  co_return co_await s->send_batch(ready, deadline);
}

Co<Status> NoiseStream::State::finish(std::shared_ptr<State> s, TimePoint deadline) {
  co_return co_await s->below->close_write(deadline);
}

NoiseStream::NoiseStream(std::unique_ptr<Stream> below, NoiseHandshake::Keys const& keys)
    : state_(std::make_shared<State>(std::move(below), keys)) {
}

NoiseStream::~NoiseStream() {
  reset();
}

Co<Result<std::size_t>> NoiseStream::read_some(MutableBytes out, TimePoint deadline) {
  return State::read(state_, out, deadline);
}

Co<Status> NoiseStream::write(ByteView in, TimePoint deadline) {
  return State::write(state_, in, deadline);
}

Co<Status> NoiseStream::write_pieces(std::span<ByteView const> pieces, TimePoint deadline) {
  return State::write_pieces(state_, pieces, deadline);
}

Co<Status> NoiseStream::close_write(TimePoint deadline) {
  return State::finish(state_, deadline);
}

void NoiseStream::reset() noexcept {
  state_->below->reset();
}

namespace {

Co<Status> send_message(Stream& pipe, ByteView message, TimePoint deadline) {
  Bytes framed(kLengthBytes + message.size());
  store_be(MutableBytes(framed), static_cast<std::uint16_t>(message.size()));
  std::copy(message.begin(), message.end(), framed.begin() + kLengthBytes);
  co_return co_await pipe.write(framed, deadline);
}

Co<Result<Bytes>> receive_message(Stream& pipe, TimePoint deadline) {
  std::array<std::byte, kLengthBytes> head;
  WAGGLE_CO_TRY_STATUS(co_await read_exactly(pipe, head, deadline));
  Bytes message(load_be<std::uint16_t>(ByteView(head)));
  WAGGLE_CO_TRY_STATUS(co_await read_exactly(pipe, message, deadline));
  co_return message;
}

}  // namespace

Co<Result<Secured>> secure(Runtime& runtime,
                           std::unique_ptr<Stream> pipe,
                           NoiseHandshake::Role role,
                           crypto::Identity const& self,
                           TimePoint deadline) {
  crypto::X25519Key static_secret;
  crypto::X25519Key ephemeral_secret;
  runtime.fill_random(static_secret);
  runtime.fill_random(ephemeral_secret);
  NoiseHandshake handshake(role, self, static_secret, ephemeral_secret);
  Bytes received;
  if (role == NoiseHandshake::Role::responder) {
    WAGGLE_CO_TRY(received, co_await receive_message(*pipe, deadline));
  }
  for (;;) {
    WAGGLE_CO_TRY(auto const reply, handshake.step(received));
    if (!reply.empty()) {
      WAGGLE_CO_TRY_STATUS(co_await send_message(*pipe, reply, deadline));
    }
    if (handshake.finished()) break;
    WAGGLE_CO_TRY(received, co_await receive_message(*pipe, deadline));
  }
  auto stream = std::make_unique<NoiseStream>(std::move(pipe), handshake.keys());
  Secured secured{
      std::move(stream), *handshake.remote_key(), *handshake.remote(), handshake.muxer()};
  co_return std::move(secured);
}

}  // namespace waggle::net
