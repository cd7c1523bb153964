// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "core/averaging/allreduce.hpp"
#include "core/base/buffers.hpp"
#include "core/base/channel.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"

namespace waggle::averaging {

/// A part as it came, kept until its reply is made of it.
struct AllReduce::Sent {
  Recycled item;
  ByteView buffer;  ///< into item
  compress::CompressionType codec = compress::CompressionType::none;

  /// The same bytes as `buffer`.
  [[nodiscard]] MutableBytes writable() noexcept {
    auto const at = static_cast<std::size_t>(buffer.data() - item.bytes.data());
    return MutableBytes(item.bytes).subspan(at, buffer.size());
  }
};

/// What we know of a member that uploads to us.
struct AllReduce::Sender {
  bool opened = false;
  bool uploaded = false;  ///< all parts are here
  double weight = -1;
  std::deque<Sent> unanswered;
  Duration lag{};  ///< how long the others waited for it alone
  std::optional<TimePoint> unreachable_since;
  bool absent = false;                   ///< it said itself that it is not in this round
  bool refused = false;                  ///< with a weight that cannot be
  bool told = false;                     ///< the log has a line about its loss
  net::rpc::ServerCall* call = nullptr;  ///< while it is served
};

/// Our stream to one reducer.
struct AllReduce::Upload {
  Upload(Runtime& runtime, net::rpc::ClientCall& c, std::size_t r)
      : call(c), reducer(r), queue(runtime, kEncodedAhead), changed(runtime) {}

  static constexpr std::size_t kEncodedAhead =
      2;  ///< more: memory; fewer: the stream waits for the codec

  net::rpc::ClientCall& call;
  std::size_t reducer;
  Channel<std::shared_ptr<Recycled>> queue;
  Signal changed;
  std::size_t sent = 0;  ///< parts that are wholly out
  bool written = false;
  bool failed = false;
};

}  // namespace waggle::averaging
