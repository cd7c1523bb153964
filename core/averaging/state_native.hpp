// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/averaging/state_sharing.hpp"
#include "core/crypto/hash.hpp"

/// /waggle/state/1: one state, exact, resumable. README.md of this folder has the layout.
namespace waggle::averaging::native {

constexpr std::string_view kProtocol = "/waggle/state/1";
constexpr std::size_t kMaxRequestBytes = 4096;
constexpr std::size_t kMaxHeaderBytes = 16u << 20;  ///< the schema and the optimizer's metadata
constexpr std::size_t kMaxDownloads =
    8;  ///< at once; more: each slower, and our uplink is the training's, too
constexpr std::size_t kMaxDownloadsPerPeer = 2;
constexpr std::size_t kPieceBytes = 256u << 10;  ///< written between two looks at the clock

enum class StateStatus : std::uint8_t { ok = 0, none = 1, busy = 2, another_state = 3 };

/// A state that is served, with the hash of its values' bytes.
struct Served {
  std::shared_ptr<StateSnapshot const> snapshot;
  crypto::Sha256 hash{};
};

struct Request {
  std::int64_t epoch = -1;  ///< -1: whatever is newest
  std::uint64_t offset = 0;
  Bytes state_hash;  ///< with an offset
  std::string prefix;
};

[[nodiscard]] Bytes encode(Request const& request);
[[nodiscard]] Result<Request> parse_request(ByteView bytes);

struct Header {
  StateStatus status = StateStatus::ok;
  std::string reason;
  std::int64_t epoch = 0;
  Schema schema;
  Bytes optimizer_metadata;
  std::optional<double> test_loss;
  std::uint64_t total_bytes = 0;
  Bytes state_hash;
  std::uint64_t offset = 0;
};

[[nodiscard]] Bytes encode(Header const& header);
/// Errors: malformed, too_large.
[[nodiscard]] Result<Header> parse_header(ByteView bytes);

/// Which of `states` (newest first) answers `request`, and with what header.
[[nodiscard]] std::pair<Served, Header> answer(Request const& request,
                                               std::vector<Served> const& states);

/// Looks states up for one prefix.
using Find = std::function<std::vector<Served>()>;

/// Serves `prefix` on `host` as long as the registration lives. Several prefixes share the one
/// protocol name.
[[nodiscard]] net::Registration serve(net::Host& host,
                                      std::string prefix,
                                      Find find,
                                      Duration patience);

/// One attempt. `into` keeps what came, so that the next attempt resumes.
struct Partial {
  std::optional<Header> header;
  std::vector<float> values;
  std::uint64_t done = 0;  ///< bytes
};

[[nodiscard]] Co<Status> fetch(net::Host& host,
                               PeerId donor,
                               Request request,
                               Schema const& schema,
                               Partial& into,
                               std::function<void(std::uint64_t, std::uint64_t)> const& progress,
                               Duration patience,
                               TimePoint deadline);

}  // namespace waggle::averaging::native
