// SPDX-License-Identifier: MIT
#include "ui/text.hpp"

#include <array>
#include <utility>

#include "core/base/text.hpp"

namespace waggle::ui {
namespace {

using Word = std::pair<std::string_view, Text>;

constexpr std::array kStates{Word{"finding", Text::state_finding},
                             Word{"fetching", Text::state_fetching},
                             Word{"starting", Text::state_starting},
                             Word{"training", Text::state_training},
                             Word{"paused", Text::state_paused},
                             Word{"finishing", Text::state_finishing},
                             Word{"done", Text::state_done},
                             Word{"failed", Text::state_failed},
                             Word{"waiting", Text::state_waiting},
                             Word{"choice", Text::state_choice},
                             Word{"resting", Text::state_resting},
                             Word{"full", Text::state_full},
                             Word{"ended", Text::state_ended}};

constexpr std::array kPhases{Word{"training", Text::phase_training},
                             Word{"averaging gradients", Text::phase_averaging_gradients},
                             Word{"averaging state", Text::phase_averaging_state},
                             Word{"averaging the state for the last time", Text::phase_last_state},
                             Word{"leaving", Text::phase_leaving},
                             Word{"loading state", Text::phase_loading_state},
                             Word{"loading state: nobody offers it yet", Text::phase_no_state_yet},
                             Word{"looking for the swarm", Text::phase_looking},
                             Word{"paused", Text::phase_paused},
                             Word{"paused by you", Text::paused_by_you},
                             Word{"starting", Text::state_starting},
                             Word{"stepping", Text::phase_stepping},
                             Word{"waiting for the trainer", Text::phase_waiting}};

template <std::size_t N>
std::optional<Text> find(std::array<Word, N> const& words, std::string_view word) {
  for (auto const& [name, key] : words)
    if (name == word) return key;
  return std::nullopt;
}

// Chinese letters, U+4E00 to U+9FFF: three bytes each in UTF-8.
bool is_han(std::string_view letter) {
  auto const lead = static_cast<unsigned char>(letter.front());
  return lead >= 0xE4 && lead <= 0xE9;
}

bool begins_han(std::string_view words) {
  return words.size() >= 3 && is_han(words);
}

bool ends_han(std::string_view words) {
  return words.size() >= 3 && is_han(words.substr(words.size() - 3));
}

// A rule's reason, as core/device/guest_policy.cpp words it: what stands before and behind the
// part that changes.
struct Reason {
  std::string_view before;
  std::string_view after;
  Text key;
};

constexpr std::array kReasons{
    Reason{"on battery", "", Text::rest_battery},
    Reason{"quiet hours until ", "", Text::rest_hours},
    Reason{"the processor is hot", "", Text::rest_heat},
    Reason{"other programs use ", " of the processor", Text::rest_load},
    Reason{"this network is metered", "", Text::rest_metered},
    Reason{"today's network traffic is spent: ", ", until midnight", Text::rest_traffic},
    Reason{"the trainer failed 5 times in a row: ", "", Text::rest_crash},
    Reason{"", " keeps the screen on", Text::rest_inhibited},
    Reason{"", " is running", Text::rest_program},
    Reason{"you are using this computer", "", Text::rest_in_use},
    Reason{"this computer was used ", " ago", Text::rest_in_use}};

std::optional<std::string> reason_words(std::string_view words, Language language) {
  for (auto const& [before, after, key] : kReasons) {
    if (words.size() < before.size() + after.size() || !words.starts_with(before) ||
        !words.ends_with(after))
      continue;
    words.remove_prefix(before.size());
    words.remove_suffix(after.size());
    return fill(key, language, {words});
  }
  return std::nullopt;
}

// What a node says in the words of protocols, or of itself, a person is told in others, in English
// too. The same values, in the same order.
constexpr std::array kPlainer{std::pair{Text::said_nobody_knows, Text::plain_nobody_knows},
                              std::pair{Text::said_ended, Text::plain_ended},
                              std::pair{Text::said_missed, Text::plain_missed},
                              std::pair{Text::said_brought_less, Text::plain_brought_less},
                              std::pair{Text::said_unknown_here, Text::plain_unknown_there}};

Text plainer(Text said) {
  for (auto const& [key, plain] : kPlainer)
    if (key == said) return plain;
  return said;
}

// A whole sentence of a node; what stands in it may be another one.
std::string said_words(std::string_view words, Language language, int depth) {
  constexpr int kDeepest = 2;
  constexpr auto kFirst = static_cast<std::size_t>(Text::said_nobody_knows);
  if (depth > kDeepest) return std::string(words);
  for (auto const& row : catalogue().subspan(kFirst)) {
    auto const values = values_in(words, row.english);
    if (!values) continue;
    std::string out;
    std::string_view pattern = tr(plainer(row.key), language);
    for (auto const value : *values) {
      auto const at = pattern.find("{}");
      out += cat(pattern.substr(0, at), said_words(value, language, depth + 1));
      pattern.remove_prefix(at + 2);
    }
    return out += pattern;
  }
  // What is said of a peer stands behind its name.
  auto const colon = words.find(": ");
  if (colon == std::string_view::npos) return std::string(words);
  auto const begin = words.substr(0, colon + 2);
  return cat(begin, said_words(words.substr(colon + 2), language, depth + 1));
}

}  // namespace

std::optional<std::vector<std::string_view>> values_in(std::string_view words,
                                                       std::string_view pattern) {
  std::vector<std::string_view> values;
  auto at = pattern.find("{}");
  if (!words.starts_with(pattern.substr(0, at))) return std::nullopt;
  if (at == std::string_view::npos)
    return words == pattern ? std::optional(std::move(values)) : std::nullopt;
  words.remove_prefix(at);
  while (at != std::string_view::npos) {
    pattern.remove_prefix(at + 2);
    at = pattern.find("{}");
    auto const after = pattern.substr(0, at);
    bool const last = at == std::string_view::npos;
    if (last && !words.ends_with(after)) return std::nullopt;
    auto const end = last ? words.size() - after.size() : words.find(after);
    if (end == std::string_view::npos) return std::nullopt;
    values.push_back(words.substr(0, end));
    words.remove_prefix(end + after.size());
  }
  return values;
}

char const* tr(Text key, Language language) {
  auto const at = static_cast<std::size_t>(key);
  auto const rows = catalogue();
  if (at >= rows.size()) return "";
  return language == Language::chinese ? rows[at].chinese : rows[at].english;
}

std::string fill(std::string_view pattern, std::initializer_list<std::string_view> values) {
  std::string out;
  auto const* next = values.begin();
  while (!pattern.empty()) {
    auto const at = pattern.find("{}");
    out += pattern.substr(0, at);
    if (at == std::string_view::npos) break;
    pattern.remove_prefix(at + 2);
    if (next == values.end()) continue;
    auto const value = *next++;
    if (begins_han(value) && out.ends_with(' ') &&
        ends_han(std::string_view(out).substr(0, out.size() - 1)))
      out.pop_back();
    out += value;
    if (ends_han(value) && pattern.starts_with(' ') && begins_han(pattern.substr(1)))
      pattern.remove_prefix(1);
  }
  return out;
}

std::string sentence(std::string words) {
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  return words;
}

std::optional<Text> state_text(std::string_view state) {
  return find(kStates, state);
}

std::optional<Text> phase_text(std::string_view phase) {
  return find(kPhases, phase);
}

std::string state_words(std::string_view state, Language language) {
  auto const key = state_text(state);
  return key ? std::string(tr(*key, language)) : std::string(state);
}

std::string translated(std::string_view words, Language language) {
  if (auto const key = phase_text(words)) return tr(*key, language);
  if (auto const key = state_text(words)) return tr(*key, language);
  // "loading state: 154 of 154 KiB".
  if (words.starts_with("loading state")) return tr(Text::phase_loading_state, language);
  if (language != Language::english)
    if (auto reason = reason_words(words, language)) return *std::move(reason);
  return said_words(words, language, 0);
}

Language language_of_locale(std::string_view locale) {
  return locale.starts_with("zh") ? Language::chinese : Language::english;
}

}  // namespace waggle::ui
