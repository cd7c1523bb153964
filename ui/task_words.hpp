// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/node/snapshot.hpp"

#include "ui/text.hpp"

namespace waggle::ui {

/// A task's state as a person tells it from the others: "resting" where a rule holds it, "failed"
/// where its trainer was given up, else the node's own word. For state_words() and state_colour().
[[nodiscard]] std::string_view condition_of(node::TaskView const& task);

/// Why it is so, as a sentence of its own; empty where nothing is to be said.
[[nodiscard]] std::string reason_of(node::TaskView const& task, Language language);

/// What has to happen for it to go on, or what it still does; nothing while it simply trains.
[[nodiscard]] std::optional<Text> outlook_of(node::TaskView const& task);

/// Whether only a person's Resume makes it go on.
[[nodiscard]] bool waits_for_person(node::TaskView const& task);

}  // namespace waggle::ui
