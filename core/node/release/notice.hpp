// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/crypto/keys.hpp"
#include "core/dht/record_rule.hpp"

namespace waggle::node {

/// A version as numbers, "1.10.2": up to four, each below 65536, missing ones 0.
class ReleaseVersion {
 public:
  /// Errors: invalid (what is expected).
  [[nodiscard]] static Result<ReleaseVersion> parse(std::string_view text);

  /// Of the order of versions: what RecordRule compares.
  [[nodiscard]] std::uint64_t number() const noexcept;

  friend auto operator<=>(ReleaseVersion const&, ReleaseVersion const&) = default;

 private:
  std::array<std::uint16_t, 4> parts_{};
};

/// "There is a newer Waggle", signed by whoever builds it: libp2p envelope, domain
/// "waggle-release", payload type "waggle/release/1", a msgpack array of version and text. Words
/// only: it names no place to fetch anything from, and nothing is fetched.
struct ReleaseNotice {
  static constexpr std::size_t kMaxBytes = 2048;  ///< of an envelope
  static constexpr std::size_t kMaxText = 500;    ///< bytes

  std::string version;
  std::string text;

  /// Whether it may be signed or shown: a version as ReleaseVersion reads it, and one line of UTF-8
  /// without an address of the web in it. Errors: invalid, too_large.
  [[nodiscard]] Status check() const;
  /// Errors: as check().
  [[nodiscard]] Result<Bytes> seal(crypto::Identity const& release_key) const;
  /// Errors: malformed, bad_signature, refused (signed by another than `expected`), too_large.
  [[nodiscard]] static Result<ReleaseNotice> open(ByteView envelope, PeerId const& expected);

  /// DHT key text: "waggle/release/<PeerID of the release key>".
  [[nodiscard]] static std::string key_text(PeerId const& release_key);
};

/// How an envelope stands in the DHT: a msgpack bin. And back; nothing if it is none or too large.
[[nodiscard]] Bytes wrap_notice(ByteView envelope);
[[nodiscard]] std::optional<Bytes> unwrap_notice(ByteView value);

/// Tells the DHT which values are genuine notices, so that the highest version stays whatever a
/// stranger, or who kept an older one, stores above it. Pure.
class ReleaseRule final : public dht::RecordRule {
 public:
  [[nodiscard]] std::optional<std::uint64_t> version(dht::Id const& key,
                                                     ByteView value) const override;
};

/// The key that this build was given as WAGGLE_RELEASE_KEY; nothing where it was given none: then
/// there are no notices, and no setting for them.
[[nodiscard]] std::optional<PeerId> release_key();
/// A release key as CMake takes it: base58 PeerID of an Ed25519 key, or the key's 32 bytes in hex.
/// Errors: malformed.
[[nodiscard]] Result<PeerId> parse_release_key(std::string_view text);

}  // namespace waggle::node
