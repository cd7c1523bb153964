// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace waggle::bench {

/// Two network namespaces with a line of 100 Mbit/s between them, both ways: 10.98.0.1 in "a",
/// 10.98.0.2 in "b". Needs root, ip and tc; gone with the object.
class Line {
 public:
  Line();
  ~Line();
  Line(Line const&) = delete;
  Line& operator=(Line const&) = delete;

  /// Why there is none; empty: there is one.
  [[nodiscard]] std::string const& trouble() const noexcept { return trouble_; }

  /// `command`, to be run at the end "a" or "b".
  [[nodiscard]] std::vector<std::string> at(char const* end,
                                            std::vector<std::string> command) const;

 private:
  std::string name_;  ///< of this process alone: another may have died and left its own
  std::string trouble_;
};

}  // namespace waggle::bench
