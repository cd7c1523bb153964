// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/base/scope.hpp"
#include "core/net/host.hpp"
#include "core/task/record.hpp"

/// `/waggle/task/1`: a task record straight from a peer that keeps it. A stranger who fills the
/// DHT's places cannot stand between a volunteer and the peers that the link names.
///
///     asker   key text of place (a)        →   holder
///             ←  the envelope, or an empty frame
///
/// One lp frame each way, then the stream ends.
namespace waggle::task::detail {

inline constexpr std::string_view kTaskProtocol = "/waggle/task/1";

/// Serves what `lookup` finds for a key text. Keeps at most kMaxStreams askers; the rest is told
/// nothing is here.
class DirectServer : public std::enable_shared_from_this<DirectServer> {
 public:
  static constexpr std::size_t kMaxStreams = 64;
  using Lookup = std::function<std::optional<Bytes>(std::string_view key_text)>;

  DirectServer(net::Host& host, Lookup lookup);
  void start();
  [[nodiscard]] Co<void> close();

 private:
  static Co<void> accept(std::weak_ptr<DirectServer> server, net::Incoming incoming);
  [[nodiscard]] Co<void> serve(std::shared_ptr<net::Incoming> incoming);

  net::Host& host_;
  Lookup lookup_;
  Scope scope_;
  net::Registration registration_;
};

/// The envelope that `peer` has under `key_text`. Errors: not_found, too_large, and those of
/// Host::open and streams.
[[nodiscard]] Co<Result<Bytes>> ask_directly(net::Host& host,
                                             PeerId peer,
                                             std::string key_text,
                                             TimePoint deadline);

}  // namespace waggle::task::detail
