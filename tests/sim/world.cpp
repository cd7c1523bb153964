// SPDX-License-Identifier: MIT
#include "tests/sim/world.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "core/base/assert.hpp"
#include "core/base/scope.hpp"

namespace waggle::sim {
namespace {

constexpr unsigned kSlotBits = 24;
constexpr std::uint64_t kSlotMask = (1u << kSlotBits) - 1;
// Not zero, so that "long ago" can be expressed.
constexpr TimePoint kStart{std::chrono::hours(1)};

constexpr auto later = [](auto const& a, auto const& b) {
  return std::tie(a.at, a.id) > std::tie(b.at, b.id);
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  // splitmix64's finalizer: every bit of value reaches every bit of the hash.
  std::uint64_t z = hash ^ (value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2));
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

}  // namespace

World::World(std::uint64_t seed) : seed_(seed), now_(kStart), random_(seed), hash_(mix(0, seed)) {
}

World::~World() {
  // What the functions hold may cancel timers of ours while it is destroyed.
  auto slots = std::exchange(slots_, {});
  heap_.clear();
  slots.clear();
}

double World::unix_time() const noexcept {
  return 1.8e9 + to_seconds(now_ - kStart);
}

void World::fill_random(std::span<std::byte> out) noexcept {
  while (!out.empty()) {
    std::uint64_t const draw = random_();
    auto const n = std::min(out.size(), sizeof draw);
    std::memcpy(out.data(), &draw, n);
    out = out.subspan(n);
  }
}

asio::any_io_executor World::executor() const noexcept {
  return ready_.get_executor();
}

Runtime::TimerId World::call_at(TimePoint deadline, std::function<void()> f) {
  if (deadline == kNoDeadline) return 0;
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    WAGGLE_ASSERT(slots_.size() < kSlotMask, "too many timers");
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  TimerId const id = (++sequence_ << kSlotBits) | slot;
  slots_[slot] = {id, std::move(f)};
  heap_.push_back({std::max(deadline, now_), id});
  std::push_heap(heap_.begin(), heap_.end(), later);
  return id;
}

void World::cancel(TimerId timer) noexcept {
  auto const slot = static_cast<std::uint32_t>(timer & kSlotMask);
  if (timer == 0 || slot >= slots_.size() || slots_[slot].id != timer) return;
  forget(slot);
  // Most deadlines never pass: without this the heap would hold minutes of dead timers.
  if (++stale_ > 1024 && stale_ > heap_.size() / 2) {
    std::erase_if(heap_, [this](Event const& e) { return slots_[e.id & kSlotMask].id != e.id; });
    std::make_heap(heap_.begin(), heap_.end(), later);
    stale_ = 0;
  }
}

void World::forget(std::uint32_t slot) noexcept {
  auto const f = std::exchange(slots_[slot].f, nullptr);
  slots_[slot].id = 0;
  free_slots_.push_back(slot);
}

void World::drain() {
  ready_.restart();
  ready_.poll();
}

bool World::step(TimePoint end) {
  while (!heap_.empty() && heap_.front().at <= end) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Event const event = heap_.back();
    heap_.pop_back();
    auto const slot = static_cast<std::uint32_t>(event.id & kSlotMask);
    if (slots_[slot].id != event.id) {
      if (stale_ > 0) --stale_;
      continue;
    }
    now_ = event.at;
    ++events_;
    hash_ = mix(hash_, static_cast<std::uint64_t>(now_.time_since_epoch().count()) ^ event.id);
    auto const f = std::exchange(slots_[slot].f, nullptr);
    slots_[slot].id = 0;
    free_slots_.push_back(slot);
    f();
    return true;
  }
  return false;
}

void World::run_until(TimePoint end) {
  do drain();
  while (step(end));
  now_ = std::max(now_, end);
}

void World::run(Co<void> work, Duration limit) {
  TimePoint const end = now_ + limit;
  Scope scope(*this);
  scope.spawn("scenario", std::move(work));
  for (;;) {
    drain();
    if (scope.size() == 0) return;
    bool const went_on = step(end);
    WAGGLE_ASSERT(went_on,
                  "the scenario (seed ",
                  seed_,
                  ") waits for something that never comes, or takes longer than ",
                  to_seconds(limit),
                  " virtual seconds");
  }
}

void World::trace(std::uint64_t fact) noexcept {
  hash_ = mix(hash_, fact);
}

void World::trace(ByteView bytes) noexcept {
  hash_ = mix(hash_, bytes.size());
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    hash_ = mix(hash_, load_le<std::uint64_t>(bytes));
  for (auto const b : bytes) hash_ = mix(hash_, std::to_integer<std::uint64_t>(b));
}

}  // namespace waggle::sim
