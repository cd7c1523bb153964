// SPDX-License-Identifier: MIT
#include "core/averaging/group_key.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <set>

#include "core/base/assert.hpp"
#include "core/crypto/hash.hpp"

namespace waggle::averaging {

namespace {

// MT19937 by Matsumoto and Nishimura, seeded as init_by_array does.
class MersenneTwister {
 public:
  explicit MersenneTwister(std::vector<std::uint32_t> const& key) {
    seed(19650218u);
    std::uint32_t i = 1;
    std::uint32_t j = 0;
    auto const length = static_cast<std::uint32_t>(key.size());
    for (auto k = std::max(kWords, length); k > 0; --k) {
      words_[i] = (words_[i] ^ (mixed(i - 1) * 1664525u)) + key[j] + j;
      wrap(i);
      if (++j >= length) j = 0;
    }
    for (auto k = kWords - 1; k > 0; --k) {
      words_[i] = (words_[i] ^ (mixed(i - 1) * 1566083941u)) - i;
      wrap(i);
    }
    words_[0] = 0x80000000u;
  }

  std::uint32_t next() {
    if (index_ >= kWords) twist();
    auto y = words_[index_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  // Uniform below n ≥ 1, by rejection on the top bits: Python's _randbelow_with_getrandbits.
  std::uint32_t below(std::uint32_t n) {
    auto const bits = std::bit_width(n);
    for (;;) {
      auto const draw = next() >> (32 - bits);
      if (draw < n) return draw;
    }
  }

 private:
  static constexpr std::uint32_t kWords = 624;

  void seed(std::uint32_t value) {
    words_[0] = value;
    for (std::uint32_t i = 1; i < kWords; ++i) words_[i] = 1812433253u * mixed(i - 1) + i;
  }

  [[nodiscard]] std::uint32_t mixed(std::uint32_t i) const { return words_[i] ^ (words_[i] >> 30); }

  void wrap(std::uint32_t& i) {
    if (++i >= kWords) {
      words_[0] = words_[kWords - 1];
      i = 1;
    }
  }

  void twist() {
    for (std::uint32_t k = 0; k < kWords; ++k) {
      auto const y = (words_[k] & 0x80000000u) | (words_[(k + 1) % kWords] & 0x7fffffffu);
      words_[k] = words_[(k + 397) % kWords] ^ (y >> 1) ^ ((y & 1u) != 0 ? 0x9908b0dfu : 0u);
    }
    index_ = 0;
  }

  std::array<std::uint32_t, kWords> words_{};
  std::uint32_t index_ = kWords;
};

// random.seed(bytes): the integer big-endian(seed || SHA-512(seed)), as words, least significant
// first.
std::vector<std::uint32_t> seed_words(ByteView seed) {
  Bytes number = to_bytes(seed);
  auto const digest = crypto::sha512(seed);
  append(number, digest);
  std::vector<std::uint32_t> words;
  for (std::size_t end = number.size(); end > 0;) {
    std::uint32_t word = 0;
    for (unsigned shift = 0; shift < 32 && end > 0; shift += 8)
      word |= std::to_integer<std::uint32_t>(number[--end]) << shift;
    words.push_back(word);
  }
  while (words.size() > 1 && words.back() == 0) words.pop_back();
  return words;
}

std::size_t pool_threshold(std::size_t count) {
  std::size_t threshold = 21;
  if (count > 5) {
    std::size_t table = 1;
    while (table < 3 * count) table *= 4;
    threshold += table;
  }
  return threshold;
}

}  // namespace

Result<GroupKey> parse_group_key(std::string_view text) {
  auto const dot = text.find('.');
  Error const bad{Errc::malformed, "a group key must read <prefix>.0b<bits>"};
  if (dot == 0 || dot == std::string_view::npos) return bad;
  auto const tail = text.substr(dot + 1);
  if (!tail.starts_with("0b")) return bad;
  auto const bits = tail.substr(2);
  if (bits.find_first_not_of("01") != std::string_view::npos) return bad;
  return GroupKey{std::string(text.substr(0, dot)), std::string(bits)};
}

std::size_t bucket_count(std::size_t group_size,
                         std::optional<std::size_t> target_group_size) noexcept {
  return target_group_size ? *target_group_size : std::bit_ceil(group_size);
}

std::vector<std::uint32_t> python_sample(ByteView seed, std::size_t buckets, std::size_t count) {
  WAGGLE_ASSERT(count <= buckets && buckets <= UINT32_MAX, count, " of ", buckets);
  MersenneTwister random(seed_words(seed));
  std::vector<std::uint32_t> sample;
  sample.reserve(count);
  if (buckets <= pool_threshold(count)) {
    std::vector<std::uint32_t> pool(buckets);
    std::iota(pool.begin(), pool.end(), 0u);
    for (std::size_t i = 0; i < count; ++i) {
      auto const j = random.below(static_cast<std::uint32_t>(buckets - i));
      sample.push_back(pool[j]);
      pool[j] = pool[buckets - i - 1];
    }
    return sample;
  }
  std::set<std::uint32_t> seen;
  while (sample.size() < count) {
    auto const draw = random.below(static_cast<std::uint32_t>(buckets));
    if (seen.insert(draw).second) sample.push_back(draw);
  }
  return sample;
}

std::string next_bits(std::string_view bits,
                      ByteView group_id,
                      std::size_t group_size,
                      std::size_t position,
                      std::optional<std::size_t> target_group_size) {
  auto const buckets = bucket_count(group_size, target_group_size);
  if (bits.empty() || group_size > buckets || position >= group_size) return std::string(bits);
  auto const value = python_sample(group_id, buckets, group_size)[position];
  auto const width = std::max(1, static_cast<int>(std::bit_width(buckets - 1)));
  std::string joined(bits);
  for (int bit = width - 1; bit >= 0; --bit) joined += ((value >> bit) & 1u) != 0 ? '1' : '0';
  return joined.substr(joined.size() - bits.size());
}

}  // namespace waggle::averaging
