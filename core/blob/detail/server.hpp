// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "core/base/scope.hpp"
#include "core/blob/detail/fetch.hpp"

namespace waggle::blob::detail {

/// Answers on `/waggle/blob/1`. Every chunk is hashed before it leaves, so a torn file is never
/// passed on.
///
/// What a stranger can make it hold: kMaxStreams idle streams, kMaxBusy answers in memory (each at
/// most three times a chunk), of which kBusyEach for one peer; a reader too slow for kAnswerTimeout
/// loses its stream.
class Server : public std::enable_shared_from_this<Server> {
 public:
  static constexpr std::size_t kMaxStreams = 256;
  static constexpr std::size_t kMaxBusy = 8;
  static constexpr std::size_t kBusyEach = 2;

  struct Hooks {
    std::function<bool(BlobId const&)> served;  ///< whether the blob belongs to a joined task
    std::function<void(BlobId const&, std::size_t)> torn;  ///< a held chunk does not fit its hash
  };

  Server(Keeper& keeper, std::size_t streams_each, Hooks hooks);
  void start();
  [[nodiscard]] Co<void> close();

  [[nodiscard]] std::uint64_t bytes_served() const noexcept { return bytes_served_; }

 private:
  struct Load {
    std::size_t streams = 0;
    std::size_t busy = 0;
  };

  static Co<void> accept(std::weak_ptr<Server> server, net::Incoming incoming);
  [[nodiscard]] Co<void> serve(std::shared_ptr<net::Incoming> incoming);
  [[nodiscard]] Co<void> converse(net::Stream& stream, PeerId peer);
  [[nodiscard]] Co<Answer> answer(Request request);
  [[nodiscard]] Co<Answer> chunk_answer(Request request);
  void leave(PeerId const& peer);

  Keeper& keeper_;
  std::size_t streams_each_;
  Hooks hooks_;
  Scope scope_;
  Signal freed_;
  net::Registration registration_;
  std::map<PeerId, Load> loads_;
  std::size_t streams_ = 0;
  std::size_t busy_ = 0;
  std::uint64_t bytes_served_ = 0;
};

}  // namespace waggle::blob::detail
