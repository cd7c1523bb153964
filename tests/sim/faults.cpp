// SPDX-License-Identifier: MIT
#include "tests/sim/faults.hpp"

namespace waggle::sim {
namespace {

constexpr double kLongestDelay = 5;

class FaultyStream final : public net::Stream {
 public:
  FaultyStream(Runtime& runtime, std::unique_ptr<net::Stream> stream, Faults faults)
      : runtime_(runtime), stream_(std::move(stream)), faults_(faults) {}

  Co<Result<std::size_t>> read_some(MutableBytes out, TimePoint deadline) override {
    return stream_->read_some(out, deadline);
  }

  Co<Status> write(ByteView in, TimePoint deadline) override {
    double draw = runtime_.random_unit();
    auto const hits = [&draw](double chance) {
      draw -= chance;
      return draw < 0;
    };
    if (draw >= faults_.sum() || in.empty()) co_return co_await stream_->write(in, deadline);
    if (hits(faults_.drop)) {
      stream_->reset();
      co_return Error{Errc::closed, "fault: dropped"};
    }
    if (hits(faults_.truncate)) {
      auto const part = in.first(static_cast<std::size_t>(runtime_.random_below(in.size())));
      (void)co_await stream_->write(part, deadline);
      stream_->reset();
      co_return Error{Errc::closed, "fault: truncated"};
    }
    Bytes changed = to_bytes(in);
    if (hits(faults_.corrupt)) {
      auto const at = runtime_.random_below(8 * changed.size());
      changed[at / 8] ^= static_cast<std::byte>(1u << at % 8);
    } else if (hits(faults_.duplicate)) {
      append(changed, in);
    } else {
      auto slept = co_await runtime_.sleep_for(seconds(kLongestDelay * runtime_.random_unit()));
      if (!slept) co_return slept;
    }
    co_return co_await stream_->write(changed, deadline);
  }

  Co<Status> close_write(TimePoint deadline) override { return stream_->close_write(deadline); }

  void reset() noexcept override { stream_->reset(); }

 private:
  Runtime& runtime_;
  std::unique_ptr<net::Stream> stream_;
  Faults faults_;
};

}  // namespace

std::unique_ptr<net::Stream> faulty(Runtime& runtime,
                                    std::unique_ptr<net::Stream> stream,
                                    Faults faults) {
  return std::make_unique<FaultyStream>(runtime, std::move(stream), faults);
}

}  // namespace waggle::sim
