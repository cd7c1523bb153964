// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/wire/multiaddr.hpp"

namespace waggle::node::control {

/// What a paired watcher may do. Wire- and disk-stable.
enum class Right : std::uint8_t { watch = 1, control = 2 };

/// "watch" or "control".
[[nodiscard]] std::string_view word(Right right) noexcept;

/// One machine that this one is paired with, as watcher or as watched.
struct Contact {
  PeerId peer;
  std::string name;  ///< for people; see clean_name()
  Right right = Right::watch;
  double since = 0;                        ///< Unix seconds of the pairing
  std::vector<wire::Multiaddr> addresses;  ///< where it was last; empty for who watches us

  friend bool operator==(Contact const&, Contact const&) = default;
};

/// A stranger's text for a person's screen: one line of at most `most` bytes without what steers a
/// terminal; nothing where it is no UTF-8.
[[nodiscard]] std::string clean_text(std::string_view text, std::size_t most);

/// A name as it may be shown and kept: at most kMaxName bytes of UTF-8 without control characters;
/// "machine" if nothing is left.
[[nodiscard]] std::string clean_name(std::string_view name);

/// The paired ones, at most kMax, as kept in `paired.toml` (who may watch this machine) and
/// `machines.toml` (what this one watches), both 0600:
///
///     [[paired]]
///     peer = "12D3KooW…"
///     name = "laptop"
///     right = "control"
///     since = 1764460800.0
///     address = ["/ip4/192.168.1.20/tcp/31337"]
class Contacts {
 public:
  static constexpr std::size_t kMax = 64;           ///< more is no longer a person's machines
  static constexpr std::size_t kMaxName = 64;       ///< bytes
  static constexpr std::size_t kMaxAddresses = 16;  ///< of one, the newest
  static constexpr std::size_t kMaxFile = 256u << 10;

  /// Nothing where there is no file. Errors: malformed (with line and column), io, too_large.
  [[nodiscard]] static Result<Contacts> load(std::filesystem::path const& file);
  /// Errors: io.
  [[nodiscard]] Status save(std::filesystem::path const& file) const;

  /// As load() and save(), of the text; `file` names it in errors.
  [[nodiscard]] static Result<Contacts> parse(std::string_view toml, std::string_view file);
  [[nodiscard]] std::string text() const;

  /// Adds it, or replaces the one with its PeerID. Errors: refused (kMax others are there).
  [[nodiscard]] Status put(Contact contact);
  /// Whether it was there.
  bool remove(PeerId const& peer);

  [[nodiscard]] Contact const* find(PeerId const& peer) const;
  [[nodiscard]] Contact* find(PeerId const& peer);
  /// By name, whole PeerID, or the PeerID's last letters (six or more). Errors: not_found, invalid
  /// (several: names them).
  [[nodiscard]] Result<Contact> find(std::string_view name_or_peer) const;
  /// `wanted`, with a number behind it where another has that name.
  [[nodiscard]] std::string free_name(std::string_view wanted, PeerId const& peer) const;

  [[nodiscard]] std::vector<Contact> const& all() const noexcept { return all_; }

  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

 private:
  std::vector<Contact> all_;
};

}  // namespace waggle::node::control
