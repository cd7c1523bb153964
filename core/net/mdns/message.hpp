// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"

/// Finding peers on the local network by multicast DNS. Source: libp2p's discovery/mdns
/// specification, RFC 1035 section 4, RFC 6762.
namespace waggle::net::mdns {

/// A DNS name: its labels, the root's empty one left out. A label may hold any byte.
using Name = std::vector<std::string>;

/// Labels at the dots: "_p2p._udp.local".
[[nodiscard]] Name name_of(std::string_view dotted);
/// As DNS compares: the case of ASCII letters does not matter.
[[nodiscard]] bool same(Name const& a, Name const& b) noexcept;

/// Wire-stable: DNS' TYPE and QTYPE.
enum class Type : std::uint16_t { ptr = 12, txt = 16, any = 255 };

struct Question {
  Name name;
  std::uint16_t type = 0;  ///< a Type, or another
  friend bool operator==(Question const&, Question const&) = default;
};

/// A PTR or TXT record of the class IN.
struct Record {
  Name name;
  Type type = Type::ptr;
  std::uint32_t ttl = 0;           ///< seconds
  Name target;                     ///< of a PTR
  std::vector<std::string> texts;  ///< of a TXT
  friend bool operator==(Record const&, Record const&) = default;
};

/// A DNS message, as far as service discovery needs it: the records of the answer and additional
/// sections in one list; others than PTR and TXT, and those of other classes, are passed over.
struct Message {
  static constexpr std::size_t kMaxBytes = 9000;  ///< RFC 6762 section 17
  /// Of what we send: it fits into one frame, so that no router has to cut it.
  static constexpr std::size_t kMaxSent = 1400;
  static constexpr std::size_t kMaxEntries = 256;  ///< questions and records together
  static constexpr std::size_t kMaxLabel = 63;
  static constexpr std::size_t kMaxName = 255;  ///< with the lengths of its labels
  static constexpr std::size_t kMaxText = 255;

  bool response = false;
  std::vector<Question> questions;
  std::vector<Record> answers;
  std::vector<Record> additional;  ///< written apart; decode() leaves it empty
  friend bool operator==(Message const&, Message const&) = default;

  /// Names without compression. Errors: too_large (a label, a name, a text).
  [[nodiscard]] Result<Bytes> encode() const;
  /// Errors: malformed (says where), too_large. Compression pointers lead backwards only, so every
  /// name ends.
  [[nodiscard]] static Result<Message> decode(ByteView bytes);
};

}  // namespace waggle::net::mdns
