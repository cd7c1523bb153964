// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "tests/unit/device/tree.hpp"

namespace waggle::test {

/// The power limit of fake_nvml's first card, in a file of its own.
class Card {
 public:
  explicit Card(std::string const& state = "300000 100000 350000 0 0") {
    tree_.put("card", state + "\n");
    ::setenv("WAGGLE_FAKE_NVML_FILE", (tree_.path / "card").c_str(), 1);
  }

  ~Card() { ::unsetenv("WAGGLE_FAKE_NVML_FILE"); }

  Card(Card const&) = delete;
  Card& operator=(Card const&) = delete;

  void put(std::string const& state) const { tree_.put("card", state); }

  [[nodiscard]] unsigned limit() const { return read().first; }

  [[nodiscard]] unsigned times_set() const { return read().second; }

 private:
  [[nodiscard]] std::pair<unsigned, unsigned> read() const {
    unsigned limit = 0, least = 0, most = 0, set = 0;
    int refusal = 0;
    std::ifstream(tree_.path / "card") >> limit >> least >> most >> refusal >> set;
    return {limit, set};
  }

  Tree tree_;
};

}  // namespace waggle::test
