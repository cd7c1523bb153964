// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace waggle::node {

/// What the model says of one class.
struct Guess {
  std::int64_t label = -1;
  double share = 0;  ///< its probability
};

/// One held-out sample and what the model makes of it: a picture, or a text that it continues.
struct Example {
  std::uint32_t channels = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<std::uint8_t> pixels;  ///< channels × height × width; empty for text
  std::int64_t label = -1;           ///< what it is
  std::vector<Guess> guesses;        ///< the likeliest first
  std::string prompt;                ///< text: what was given
  std::string text;                  ///< text: how the model went on
};

/// What a task's operator shows of its data before somebody joins.
struct Preview {
  static constexpr std::size_t kMost = 8;
  static constexpr std::size_t kMostText = 200;  ///< bytes of a piece of text

  std::string operator_id;
  std::string prefix;
  std::vector<std::string> labels;
  std::vector<Example> items;  ///< without guesses
};

/// Example predictions of the model that trains here, as plain values; made only while somebody
/// asks for them. Fields are only ever added.
struct Examples {
  static constexpr int kSchema = 1;
  static constexpr std::size_t kMost = 12;        ///< pictures; each costs a forward pass
  static constexpr std::size_t kMostTexts = 4;    ///< 64 forward passes each
  static constexpr std::uint32_t kMostSide = 48;  ///< pixels; a larger picture is thinned out
  static constexpr std::size_t kMostGuesses = 3;

  std::string operator_id;
  std::string prefix;
  std::int64_t epoch = -1;          ///< of the model that said it; -1: none was made yet
  double time = 0;                  ///< Unix seconds
  std::vector<std::string> labels;  ///< the classes' names; empty: they have numbers only
  std::vector<Example> items;
  static constexpr std::size_t kMostPreviews = 8;
  std::vector<Preview> previews;  ///< of tasks that somebody looks at
};

}  // namespace waggle::node
