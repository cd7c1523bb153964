// SPDX-License-Identifier: MIT
#include "core/base/buffers.hpp"

#include <mutex>

namespace waggle {
namespace {

struct Kept {
  std::mutex mutex;
  std::vector<Bytes> buffers;  // guarded by mutex
  std::size_t bytes = 0;       // guarded by mutex; of their capacities
};

// Never destroyed: buffers come back from other static objects, too.
Kept& kept() {
  static Kept& one = *new Kept;
  return one;
}

}  // namespace

Bytes take_buffer(std::size_t n) {
  if (n >= kSmallestKeptBuffer) {
    auto& k = kept();
    std::lock_guard const lock(k.mutex);
    // The newest first: it may still be in the cache. Much larger ones are left to those who need
    // them.
    for (auto it = k.buffers.rbegin(); it != k.buffers.rend(); ++it) {
      if (it->capacity() < n || it->capacity() / 2 > n) continue;
      Bytes buffer = std::move(*it);
      k.buffers.erase(std::next(it).base());
      k.bytes -= buffer.capacity();
      buffer.resize(n);
      return buffer;
    }
  }
  return Bytes(n);
}

void give_buffer(Bytes&& buffer) noexcept {
  std::size_t const size = buffer.capacity();
  if (size < kSmallestKeptBuffer || size > kMaxKeptBuffers) return;
  auto& k = kept();
  std::vector<Bytes> freed;  // outside the lock
  std::lock_guard const lock(k.mutex);
  while (k.bytes + size > kMaxKeptBuffers) {
    k.bytes -= k.buffers.front().capacity();
    freed.push_back(std::move(k.buffers.front()));
    k.buffers.erase(k.buffers.begin());
  }
  k.bytes += size;
  k.buffers.push_back(std::move(buffer));
}

}  // namespace waggle
