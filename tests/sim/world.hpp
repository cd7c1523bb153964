// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include <asio/io_context.hpp>

#include "core/base/bytes.hpp"
#include "core/base/runtime.hpp"

namespace waggle::sim {

/// A whole network in one thread: virtual clock, seeded randomness, one event heap ordered by
/// (time, sequence). Same seed, same binary: same trace hash. No thread, no wall clock.
///
///     sim::World world(seed);                          // or a SystemRuntime: the rest is the same
///     sim::MemoryNetwork network(world, sim::links::residential());
///     sim::MemoryHost a(network, sim::peer(1)), b(network, sim::peer(2));
///     auto echo = b.serve("/echo/1", handler);
///     world.run(scenario(a, b));                       // a Co<void>; virtual time flies meanwhile
///     world.run(close_all({&a, &b}));                  // before the hosts are destroyed
///     CHECK(world.trace_hash() == expected);
///
/// On a real clock: SystemRuntime runtime; … test::run(runtime, scenario(a, b)).
class World final : public Runtime {
 public:
  explicit World(std::uint64_t seed);
  ~World() override;

  [[nodiscard]] TimePoint now() const noexcept override { return now_; }

  /// 1.8e9 at the start.
  [[nodiscard]] double unix_time() const noexcept override;
  void fill_random(std::span<std::byte> out) noexcept override;
  [[nodiscard]] asio::any_io_executor executor() const noexcept override;
  [[nodiscard]] TimerId call_at(TimePoint deadline, std::function<void()> f) override;
  void cancel(TimerId timer) noexcept override;

  /// Drains ready work, then jumps to the next event, until nothing is due by `end`; the clock then
  /// shows `end`. Cost: O(log pending) an event.
  void run_until(TimePoint end);

  void run_for(Duration d) { run_until(now_ + d); }

  /// Runs `work` in a Scope until it ends, then stops the clock there. Asserts that it ends within
  /// `limit` of virtual time and that something is left to wait for (else it would never end).
  void run(Co<void> work, Duration limit = std::chrono::hours(24));

  /// Mixes a fact of the scenario into the trace hash: who sent what to whom.
  void trace(std::uint64_t fact) noexcept;
  void trace(ByteView bytes) noexcept;

  /// Of every event so far (its time and place in the order) and of what trace() was told.
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return hash_; }

  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

 private:
  struct Event {
    TimePoint at;
    TimerId id;  // sequence number in the upper bits, so that it also orders
  };

  struct Slot {
    TimerId id = 0;  // 0: free
    std::function<void()> f;
  };

  void drain();
  bool step(TimePoint end);
  void forget(std::uint32_t slot) noexcept;

  mutable asio::io_context ready_{1};
  std::uint64_t seed_;
  TimePoint now_;
  std::mt19937_64 random_;
  std::uint64_t sequence_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t hash_;
  std::size_t stale_ = 0;  // events in the heap whose timer was cancelled
  std::vector<Event> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace waggle::sim
