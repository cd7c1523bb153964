// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/runtime.hpp"
#include "core/crypto/cpace.hpp"
#include "core/node/control/contacts.hpp"
#include "core/wire/multiaddr.hpp"

/// Pairing: one machine shows a code, a person types it at the other, and each then knows the
/// other's PeerID for good. Pure; server.cpp and client.cpp carry the messages. Why it is safe:
/// README.md.
///
///     watcher                                    machine (shows the code)
///     session (16 bytes), point       →
///                                     ←          point, proof("machine")
///     proof("watcher"), name          →          checks, keeps the watcher's PeerID
///                                     ←          right, name
namespace waggle::node::control {

/// 40 bits as eight letters without i, l, o, u, shown "k7m2-9xq4". A person copies eight letters
/// without a mistake; and see PairingWindow for what guessing comes to.
constexpr std::size_t kCodeLetters = 8;

[[nodiscard]] std::string make_code(std::span<std::byte const, kCodeLetters> random);
/// Eight letters as typed, in any case, with or without dashes and spaces, o for 0, l and i for 1.
/// Errors: invalid.
[[nodiscard]] Result<std::string> parse_code(std::string_view typed);
/// In the middle a dash.
[[nodiscard]] std::string shown_code(std::string_view code);

using PairSession = std::array<std::byte, 16>;
using PairProof = std::array<std::byte, 32>;

/// The watcher's side. Entropy is fresh for every run.
class WatcherPairing {
 public:
  WatcherPairing(std::string_view code,
                 PeerId const& watcher,
                 PeerId const& machine,
                 PairSession const& session,
                 std::span<std::byte const, 64> entropy);

  [[nodiscard]] PairSession const& session() const noexcept { return session_; }

  [[nodiscard]] crypto::CpacePoint const& point() const noexcept { return point_; }

  /// The proof to send, once the machine's has been checked. Errors: refused (the code is another,
  /// or somebody stands between).
  [[nodiscard]] Result<PairProof> answer(crypto::CpacePoint const& point, PairProof const& proof);

 private:
  PairSession session_;
  crypto::CpaceScalar secret_;
  crypto::CpacePoint point_;
};

/// The machine's side of one try.
class MachinePairing {
 public:
  /// Errors: malformed (`point` is none).
  [[nodiscard]] static Result<MachinePairing> begin(std::string_view code,
                                                    PeerId const& watcher,
                                                    PeerId const& machine,
                                                    PairSession const& session,
                                                    crypto::CpacePoint const& point,
                                                    std::span<std::byte const, 64> entropy);

  [[nodiscard]] crypto::CpacePoint const& point() const noexcept { return point_; }

  [[nodiscard]] PairProof const& proof() const noexcept { return proof_; }

  /// Whether the watcher knows the code.
  [[nodiscard]] bool proves(PairProof const& proof) const noexcept;

 private:
  MachinePairing() = default;

  crypto::CpacePoint point_{};
  PairProof proof_{};
  PairProof expected_{};
};

/// An open offer to be paired with: the code, how long it holds, and how often it may be tried. A
/// try is counted when it begins, right or wrong, since the machine's proof already tells.
///
/// Not the number of tries over all peers is bounded but their rate: a number would let a flood use
/// it up and lock the owner out. With 40 bits that is enough: at most (kAllPerSecond × 300 s +
/// kAllAtOnce) × 2 tries in five minutes, a chance of 1 in 90 million. Peers of private networks
/// and those of the internet draw on rates of their own, and no address on more than a part of one.
class PairingWindow {
 public:
  static constexpr int kEachPeer = 5;  ///< tries of one PeerID; smaller: a slip of the keys costs
  static constexpr double kAddressAtOnce = 8;  ///< of one address, or one /64
  static constexpr double kAddressPerSecond = 0.5;
  static constexpr double kAllAtOnce = 60;
  static constexpr double kAllPerSecond = 20;
  static constexpr std::size_t kMaxPeers =
      32'768;  ///< remembered; more than can try in ten minutes
  static constexpr std::size_t kMaxAddresses = 4096;  ///< remembered; far above what can be in use

  enum class Verdict : std::uint8_t {
    go,
    over,    ///< the code does not hold any more
    enough,  ///< this PeerID has had its tries
    slow,    ///< too many at once from there, or over all: in a few seconds again
  };

  PairingWindow(std::string code, Right right, TimePoint until);

  [[nodiscard]] Verdict take_try(PeerId const& peer, wire::Multiaddr const& from, TimePoint now);

  [[nodiscard]] std::string const& code() const noexcept { return code_; }

  [[nodiscard]] Right right() const noexcept { return right_; }

  [[nodiscard]] TimePoint until() const noexcept { return until_; }

 private:
  /// A rate: `left` tries, growing with time to `most`.
  struct Bucket {
    double left = 0;
    TimePoint at{};

    void fill(double most, double per_second, TimePoint now) noexcept;
  };

  [[nodiscard]] Bucket& of_address(wire::Multiaddr const& from, TimePoint now);

  std::string code_;
  Right right_;
  TimePoint until_;
  std::map<PeerId, int> tries_;
  std::map<std::string, Bucket> addresses_;
  std::array<Bucket, 2> all_;  // of private networks, of the internet
};

}  // namespace waggle::node::control
