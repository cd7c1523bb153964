// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "core/net/multistream.hpp"

namespace waggle::net {

/// A stream whose protocol was proposed to a peer that is known to serve it: the request follows
/// the proposal at once, and the acceptance is read before the first byte of the answer. Saves a
/// round trip; what a wrong guess costs is a read that fails with `refused`.
class LazyStream final : public Stream {
 public:
  LazyStream(std::unique_ptr<Stream> stream, std::string_view protocol)
      : shared_(std::make_shared<Shared>(std::move(stream), protocol)) {}

  // A pending read keeps the stream alive, so it has to be told.
  ~LazyStream() override {
    if (shared_.use_count() > 1) shared_->stream->reset();
  }

  Co<Result<std::size_t>> read_some(MutableBytes out, TimePoint deadline) override {
    if (shared_->accepted) return shared_->stream->read_some(out, deadline);
    return first_read(shared_, out, deadline);
  }

  Co<Status> write(ByteView in, TimePoint deadline) override {
    return shared_->stream->write(in, deadline);
  }

  Co<Status> close_write(TimePoint deadline) override {
    return shared_->stream->close_write(deadline);
  }

  void reset() noexcept override { shared_->stream->reset(); }

 private:
  struct Shared {
    Shared(std::unique_ptr<Stream> s, std::string_view protocol)
        : stream(std::move(s)), expected(multistream::opening(protocol)) {}

    std::unique_ptr<Stream> stream;
    Bytes expected;  // what an accepting listener writes is what we wrote
    std::size_t matched = 0;
    bool accepted = false;
  };

  // Begins again where a read with an earlier deadline ended.
  static Co<Result<std::size_t>> first_read(std::shared_ptr<Shared> shared,
                                            MutableBytes out,
                                            TimePoint deadline) {
    Stream& stream = *shared->stream;
    std::array<std::byte, 256> got;
    while (shared->matched < shared->expected.size()) {
      ByteView const rest = ByteView(shared->expected).subspan(shared->matched);
      MutableBytes const room = MutableBytes(got).first(std::min(rest.size(), got.size()));
      WAGGLE_CO_TRY(auto const n, co_await stream.read_some(room, deadline));
      if (n == 0) co_return Error{Errc::closed, "the stream ended before the protocol was agreed"};
      if (!equal(rest.first(n), room.first(n)))
        co_return Error{Errc::refused, "the protocol is not served any more"};
      shared->matched += n;
    }
    shared->accepted = true;
    co_return co_await stream.read_some(out, deadline);
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace waggle::net
