// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"

/// The marks that hivemind writes into keys, subkeys and values: "[owner:KEY]" and
/// "[signature:BASE64]". A mark is the shortest text between its opening and the next ']', at least
/// one character, no newline. Pure. Source: spec/hivemind-dht.md section 15.2.
namespace waggle::dht {

constexpr std::string_view kOwnerOpening = "[owner:";
constexpr std::string_view kSignatureOpening = "[signature:";

/// A mark inside other bytes: where it begins and ends, and what is between.
struct Mark {
  std::size_t begin;
  std::size_t end;
  std::string_view content;
};

/// All marks of one kind, from left to right, none overlapping. Views into `bytes`. Cost: O(n).
[[nodiscard]] std::vector<Mark> find_marks(ByteView bytes, std::string_view opening);

}  // namespace waggle::dht
