// SPDX-License-Identifier: MIT
#include "app/demo/bigram.hpp"

#include <array>
#include <cmath>
#include <memory>

namespace waggle::app::demo {

double bigram_loss(ByteView text, double held_out) noexcept {
  auto const split =
      text.size() - static_cast<std::size_t>(static_cast<double>(text.size()) * held_out);
  if (split < 2 || split >= text.size()) return 0;
  auto const pairs = std::make_unique<std::array<std::array<double, 256>, 256>>();
  std::array<double, 256> singles{};
  std::array<bool, 256> occurs{};
  for (auto const b : text) occurs[std::to_integer<std::size_t>(b)] = true;
  double alphabet = 0;
  for (bool const o : occurs) alphabet += o ? 1 : 0;
  for (std::size_t i = 1; i < split; ++i) {
    auto const before = std::to_integer<std::size_t>(text[i - 1]);
    (*pairs)[before][std::to_integer<std::size_t>(text[i])] += 1;
    singles[before] += 1;
  }
  double loss = 0;
  for (std::size_t i = split; i < text.size(); ++i) {
    auto const before = std::to_integer<std::size_t>(text[i - 1]);
    loss -= std::log(((*pairs)[before][std::to_integer<std::size_t>(text[i])] + 1) /
                     (singles[before] + alphabet));
  }
  return loss / static_cast<double>(text.size() - split);
}

}  // namespace waggle::app::demo
