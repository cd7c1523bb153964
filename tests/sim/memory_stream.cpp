// SPDX-License-Identifier: MIT
#include "tests/sim/memory_stream.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <asio/cancellation_state.hpp>
#include <asio/this_coro.hpp>

#include "core/base/signal.hpp"

namespace waggle::sim {
namespace {

constexpr std::size_t kPiece = 64u << 10;
constexpr Duration kRetransmission = std::chrono::milliseconds(200);

struct Item {
  enum class Kind : std::uint8_t { data, end, reset } kind;
  Bytes data;
};

/// First in, first out, without std::deque's half a kilobyte for an empty one.
template <class T>
class Queue {
 public:
  void push(T value) { items_.push_back(std::move(value)); }

  [[nodiscard]] bool empty() const noexcept { return head_ == items_.size(); }

  [[nodiscard]] T& front() noexcept { return items_[head_]; }

  void pop() {
    if (++head_ < items_.size()) return;
    items_.clear();
    head_ = 0;
  }

  void clear() {
    items_.clear();
    head_ = 0;
  }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;
};

struct Way {
  Way(Runtime& runtime, Path p) : path(std::move(p)), readable(runtime), writable(runtime) {}

  Path path;
  Signal readable;
  Signal writable;
  Queue<Item> transit;
  Queue<Bytes> arrived;
  std::size_t offset = 0;       // read of arrived.front()
  std::size_t outstanding = 0;  // written, not yet read
  TimePoint last_arrival{};
  bool end_sent = false;
  bool end_arrived = false;
};

[[nodiscard]] bool left(asio::cancellation_state const& state) noexcept {
  return state.cancelled() != asio::cancellation_type::none;
}

std::uint64_t next_link_id = 1;

}  // namespace

/// Both directions. Kept alive by its two ends, by what is under way and by pending operations.
class MemoryLink : public std::enable_shared_from_this<MemoryLink> {
 public:
  MemoryLink(Runtime& runtime,
             Path there,
             Path back,
             std::array<std::shared_ptr<StreamSet>, 2> sets)
      : runtime_(runtime),
        ways_{std::make_unique<Way>(runtime, std::move(there)),
              std::make_unique<Way>(runtime, std::move(back))},
        sets_(std::move(sets)),
        id_(next_link_id++) {
    for (int end = 0; end < 2; ++end)
      if (sets_[end]) sets_[end]->links_.emplace(id_, std::pair(this, end));
  }

  ~MemoryLink() {
    for (auto const& set : sets_)
      if (set) set->links_.erase(id_);
  }

  Co<Result<std::size_t>> read_some(int end, MutableBytes out, TimePoint deadline) {
    auto const self = shared_from_this();
    Way& way = *ways_[1 - end];
    auto const state = co_await asio::this_coro::cancellation_state;
    bool const cancelled = left(state);
    if (cancelled) co_return Error{Errc::cancelled, "read"};
    for (;;) {
      if (reset_here_[end]) co_return Error{Errc::closed, "stream was reset"};
      if (!way.arrived.empty()) break;
      if (way.end_arrived) co_return std::size_t{0};
      if (reset_there_[end]) co_return Error{Errc::closed, "stream was reset by the other end"};
      auto waited = co_await way.readable.wait(deadline);
      if (!waited) co_return std::move(waited).error();
    }
    std::size_t done = 0;
    while (done < out.size() && !way.arrived.empty()) {
      ByteView const chunk = ByteView(way.arrived.front()).subspan(way.offset);
      auto const n = std::min(chunk.size(), out.size() - done);
      std::copy_n(chunk.begin(), n, out.begin() + static_cast<std::ptrdiff_t>(done));
      done += n;
      way.offset += n;
      if (n == chunk.size()) {
        way.arrived.pop();
        way.offset = 0;
      }
    }
    way.outstanding -= done;
    way.writable.notify_all();
    co_return done;
  }

  Co<Status> write(int end, ByteView in, TimePoint deadline) {
    auto const self = shared_from_this();
    Way& way = *ways_[end];
    auto const state = co_await asio::this_coro::cancellation_state;
    bool const cancelled = left(state);
    if (cancelled) co_return Error{Errc::cancelled, "write"};
    do {
      while (!broken(end) && way.outstanding >= way.path.window) {
        auto waited = co_await way.writable.wait(deadline);
        if (!waited) co_return std::move(waited).error();
      }
      if (broken(end) || way.end_sent) co_return Error{Errc::closed, "write on a closed stream"};
      auto const n = std::min({in.size(), way.path.window - way.outstanding, kPiece});
      way.outstanding += n;
      if (n > 0) send(way, {Item::Kind::data, to_bytes(in.first(n))});
      in = in.subspan(n);
    } while (!in.empty());
    co_return ok();
  }

  Co<Status> close_write(int end) {
    Way& way = *ways_[end];
    if (broken(end)) co_return Error{Errc::closed, "stream was reset"};
    if (!way.end_sent) send(way, {Item::Kind::end, {}});
    way.end_sent = true;
    co_return ok();
  }

  void reset(int end, bool silent) noexcept {
    if (reset_here_[end]) return;
    bool const over = ways_[end]->end_sent && ways_[1 - end]->end_arrived;
    reset_here_[end] = true;
    wake(end);
    if (!over && !silent && !reset_there_[end]) send(*ways_[end], {Item::Kind::reset, {}});
  }

 private:
  [[nodiscard]] bool broken(int end) const noexcept {
    return reset_here_[end] || reset_there_[end];
  }

  void wake(int end) noexcept {
    ways_[1 - end]->readable.notify_all();
    ways_[end]->writable.notify_all();
  }

  void send(Way& way, Item item) {
    TimePoint at = runtime_.now();
    if (way.path.uplink) {
      Uplink& uplink = *way.path.uplink;
      uplink.bytes += item.data.size();
      if (uplink.bytes_per_second > 0) {
        uplink.free_at = std::max(uplink.free_at, at) +
                         seconds(static_cast<double>(item.data.size()) / uplink.bytes_per_second);
        at = uplink.free_at;
      }
    }
    at += way.path.latency;
    if (way.path.loss > 0 && runtime_.random_unit() < way.path.loss)
      at += kRetransmission + 2 * way.path.latency;
    at = std::max(at, way.last_arrival);
    way.last_arrival = at;
    bool const at_once = at <= runtime_.now() && way.transit.empty();
    way.transit.push(std::move(item));
    if (at_once)
      arrive(way);
    else
      schedule(way, at);
  }

  void schedule(Way& way, TimePoint at) {
    (void)runtime_.call_at(at, [self = shared_from_this(), &way] { self->arrive(way); });
  }

  // Each timer delivers the oldest item, whichever it was made for: order holds on every clock.
  void arrive(Way& way) {
    if (way.path.cut && way.path.cut()) {
      schedule(way, runtime_.now() + kRetransmission);
      return;
    }
    int const reader = &way == ways_[0].get() ? 1 : 0;
    Item item = std::move(way.transit.front());
    way.transit.pop();
    if (reset_here_[reader]) return;
    switch (item.kind) {
      case Item::Kind::data:
        way.arrived.push(std::move(item.data));
        break;
      case Item::Kind::end:
        way.end_arrived = true;
        break;
      case Item::Kind::reset:
        reset_there_[reader] = true;
        break;
    }
    wake(reader);
  }

  Runtime& runtime_;
  std::array<std::unique_ptr<Way>, 2> ways_;  // [0] from the first end to the second
  std::array<std::shared_ptr<StreamSet>, 2> sets_;
  std::array<bool, 2> reset_here_{};
  std::array<bool, 2> reset_there_{};  // the other end's reset has arrived
  std::uint64_t id_;
};

namespace {

class MemoryStream final : public net::Stream {
 public:
  MemoryStream(std::shared_ptr<MemoryLink> link, int end) : link_(std::move(link)), end_(end) {}

  ~MemoryStream() override { link_->reset(end_, false); }

  Co<Result<std::size_t>> read_some(MutableBytes out, TimePoint deadline) override {
    return link_->read_some(end_, out, deadline);
  }

  Co<Status> write(ByteView in, TimePoint deadline) override {
    return link_->write(end_, in, deadline);
  }

  Co<Status> close_write(TimePoint) override { return link_->close_write(end_); }

  void reset() noexcept override { link_->reset(end_, false); }

 private:
  std::shared_ptr<MemoryLink> link_;
  int end_;
};

}  // namespace

void StreamSet::kill(bool silent) noexcept {
  // By age, not by bucket: the order reaches the wire.
  std::vector<std::uint64_t> ids;
  for (auto const& [id, link] : links_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (auto const id : ids) {
    auto const found = links_.find(id);
    if (found == links_.end()) continue;
    auto const [link, end] = found->second;
    auto const alive = link->shared_from_this();
    alive->reset(end, silent);
  }
}

std::pair<std::unique_ptr<net::Stream>, std::unique_ptr<net::Stream>> memory_pair(
    Runtime& runtime,
    Path there,
    Path back,
    std::shared_ptr<StreamSet> first_host,
    std::shared_ptr<StreamSet> second_host) {
  std::array<std::shared_ptr<StreamSet>, 2> sets{std::move(first_host), std::move(second_host)};
  auto const link =
      std::make_shared<MemoryLink>(runtime, std::move(there), std::move(back), std::move(sets));
  return {std::make_unique<MemoryStream>(link, 0), std::make_unique<MemoryStream>(link, 1)};
}

}  // namespace waggle::sim
