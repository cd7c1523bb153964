// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/node/control/pairing.hpp"

/// What a watcher and a machine say on `/waggle/control/1`. The conversation, on one stream:
///
///     watcher                                    machine
///     Hello                           →          Welcome | Refusal, then the end
///     Next                            →          View, once there is a new one, at most one a
///     second Order{id, command}              →          Answer{id} Ping →          Pong (or a
///     pairing: pairing.hpp)
///
/// Each is an lp frame of protobuf (proto/control.proto). A View comes only when asked for, so a
/// slow reader gets fewer and nothing piles up. Pure.
namespace waggle::node::control {

inline constexpr std::string_view kProtocol = "/waggle/control/1";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kMaxCommandBytes = 4096;  ///< as on the local API
constexpr std::size_t kMaxRequestBytes = kMaxCommandBytes + 64;
constexpr std::size_t kMaxSnapshotBytes = 8u << 20;  ///< unpacked; as snapshot_from_json reads
constexpr std::size_t kMaxReplyBytes = 2u << 20;     ///< packed: ten times what 512 peers take
constexpr std::size_t kMaxWords = 512;               ///< of a reason

struct Hello {
  std::uint32_t version = kVersion;
  friend bool operator==(Hello const&, Hello const&) = default;
};

struct PairStart {
  PairSession session{};
  crypto::CpacePoint point{};
  friend bool operator==(PairStart const&, PairStart const&) = default;
};

struct PairProved {
  PairProof proof{};
  std::string name;
  friend bool operator==(PairProved const&, PairProved const&) = default;
};

struct Next {
  friend bool operator==(Next const&, Next const&) = default;
};

struct Order {
  std::uint64_t id = 0;
  std::string command;
  friend bool operator==(Order const&, Order const&) = default;
};

struct Ping {
  friend bool operator==(Ping const&, Ping const&) = default;
};

using Request = std::variant<Hello, PairStart, PairProved, Next, Order, Ping>;

/// Wire-stable.
enum class Why : std::uint8_t {
  not_paired = 1,
  no_code = 2,
  wrong_code = 3,
  too_many_tries = 4,
  busy = 5,
  version = 6,
};

struct Welcome {
  std::uint32_t version = kVersion;
  std::string name;
  Right right = Right::watch;
  friend bool operator==(Welcome const&, Welcome const&) = default;
};

struct Refusal {
  Why why = Why::not_paired;
  std::string words;
  friend bool operator==(Refusal const&, Refusal const&) = default;
};

struct PairAnswer {
  crypto::CpacePoint point{};
  PairProof proof{};
  friend bool operator==(PairAnswer const&, PairAnswer const&) = default;
};

struct Paired {
  Right right = Right::watch;
  std::string name;
  friend bool operator==(Paired const&, Paired const&) = default;
};

struct View {
  Bytes zstd;
  friend bool operator==(View const&, View const&) = default;
};

struct Answer {
  std::uint64_t id = 0;
  bool done = false;
  std::string words;
  friend bool operator==(Answer const&, Answer const&) = default;
};

struct Pong {
  friend bool operator==(Pong const&, Pong const&) = default;
};

using Reply = std::variant<Welcome, Refusal, PairAnswer, Paired, View, Answer, Pong>;

[[nodiscard]] Bytes encode(Request const& request);
[[nodiscard]] Bytes encode(Reply const& reply);
/// Names and words come out clean and cut to their limits. Errors: malformed (also above
/// kMaxRequestBytes or kMaxReplyBytes, a kind that is not known, a wrong length).
[[nodiscard]] Result<Request> decode_request(ByteView bytes);
[[nodiscard]] Result<Reply> decode_reply(ByteView bytes);

/// A snapshot's JSON as it travels. Cost: one pass at zstd's level 3. Errors: too_large (it does
/// not fit a reply).
[[nodiscard]] Result<View> pack(std::string_view json);
/// The JSON. The frame must be alone and declare its size, at most kMaxSnapshotBytes, before
/// anything is decoded. Errors: malformed.
[[nodiscard]] Result<std::string> unpack(View const& view);

}  // namespace waggle::node::control
