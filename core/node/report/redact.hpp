// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace waggle::node {

/// Takes out of a text what tells who or where somebody is, and what opens something: named
/// secrets, IP addresses but for loopback and "any", PeerIDs, e-mail addresses, addresses in links,
/// and long runs of hex or base64 (keys, tokens, hashes). The same thing gets the same stand-in
/// everywhere ("<peer 2>", "<ip 1>"), so that a reader still sees what belongs together. Rather too
/// much than too little.
class Redactor {
 public:
  /// From here on `word` is written as `instead` wherever it stands by itself, not within a longer
  /// word; empty ones are ignored. Longer words are looked for first.
  void hide(std::string word, std::string instead);

  [[nodiscard]] std::string operator()(std::string_view text);

 private:
  [[nodiscard]] std::string numbered(char const* kind, std::string const& what);
  [[nodiscard]] std::string hide_words(std::string_view text) const;
  [[nodiscard]] std::string hide_patterns(std::string_view text);

  std::vector<std::pair<std::string, std::string>> words_;  // longest first
  std::map<std::string, std::map<std::string, std::size_t>> numbers_;
};

}  // namespace waggle::node
