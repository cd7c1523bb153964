// SPDX-License-Identifier: MIT
#include "core/averaging/partition.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/assert.hpp"

namespace waggle::averaging {

namespace {

std::vector<std::size_t> make_pivots(std::span<std::uint64_t const> fractions, std::size_t total) {
  // Doubles and truncation on purpose: every member must come to the same numbers, hivemind's
  // included.
  auto const sum =
      static_cast<double>(std::accumulate(fractions.begin(), fractions.end(), std::uint64_t{0}));
  std::vector<std::size_t> pivots;
  std::uint64_t running = 0;
  for (auto const fraction : fractions) {
    running += fraction;
    auto const share = sum > 0 ? static_cast<double>(running) / sum : 1.0;
    pivots.push_back(std::min(total, static_cast<std::size_t>(share * static_cast<double>(total))));
  }
  pivots.back() = total;
  return pivots;
}

// Walks the vector once and says whose each part is: the peer whose range holds most of it.
class Owner {
 public:
  explicit Owner(std::vector<std::size_t> const& pivots) : pivots_(pivots) {}

  std::size_t of_next(std::size_t numel) {
    auto const end = at_ + numel;
    auto owner = peer_;
    if (end > pivots_[peer_]) {
      auto largest = static_cast<std::int64_t>(pivots_[peer_]) - static_cast<std::int64_t>(at_);
      while (end > pivots_[peer_]) {
        ++peer_;
        auto const held = static_cast<std::int64_t>(std::min(end, pivots_[peer_])) -
                          static_cast<std::int64_t>(pivots_[peer_ - 1]);
        if (held > largest) {
          largest = held;
          owner = peer_;
        }
      }
    }
    at_ = end;
    return owner;
  }

 private:
  std::vector<std::size_t> const& pivots_;
  std::size_t at_ = 0;
  std::size_t peer_ = 0;
};

}  // namespace

Partition make_partition(Schema const& schema,
                         std::span<std::uint64_t const> fractions,
                         std::size_t part_bytes,
                         compress::Policy const& compression) {
  WAGGLE_ASSERT(!fractions.empty());
  Partition result;
  result.total = total_numel(schema);
  result.pivots = make_pivots(fractions, result.total);
  result.by_peer.resize(fractions.size());
  Owner owner(result.pivots);
  std::size_t offset = 0;
  for (std::size_t tensor = 0; tensor < schema.size(); ++tensor) {
    auto const numel = schema[tensor].numel();
    auto const codec = compression.for_tensor(numel, schema[tensor].role);
    auto const length = std::max<std::size_t>(
        1,
        static_cast<std::size_t>(static_cast<double>(part_bytes) /
                                 (sizeof(float) * compress::estimated_ratio(codec))));
    std::size_t done = 0;
    do {
      auto const n = std::min(length, numel - done);
      auto const peer = owner.of_next(n);
      result.by_peer[peer].push_back(result.parts.size());
      result.parts.push_back({offset + done, n, tensor, peer, codec});
      done += n;
    } while (done < numel);
    offset += numel;
  }
  return result;
}

}  // namespace waggle::averaging
