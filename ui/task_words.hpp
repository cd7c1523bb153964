// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/node/snapshot.hpp"

#include "ui/machine.hpp"
#include "ui/text.hpp"

namespace waggle::ui {

/// A task's state as a person tells it from the others: "resting" where a rule holds it, "full"
/// where the disk does, "failed" where its trainer was given up, "ended" where its operator did so,
/// else the node's own word. For state_words() and state_colour().
[[nodiscard]] std::string_view condition_of(node::TaskView const& task);

/// Why it is so, as a sentence of its own; empty where nothing is to be said.
[[nodiscard]] std::string reason_of(node::TaskView const& task, Language language);

/// What has to happen for it to go on, or what it still does; nothing while it simply trains.
[[nodiscard]] std::optional<Text> outlook_of(node::TaskView const& task);

/// Whether only a person's Resume makes it go on.
[[nodiscard]] bool waits_for_person(node::TaskView const& task);

/// What a person may ask of a task, as buttons and the tray's menu offer it: a pause wherever it
/// would compute or go on by itself.
struct Offers {
  std::optional<Text> run;  ///< Command::Kind::resume by its words here; nothing: it would not help
  bool pause = false;
  bool finish = false;
};

[[nodiscard]] Offers offers_of(node::TaskView const& task);

/// Whether an entry of TaskView::ignored_peers is about the peer of this PeerID. The node names it
/// by the end of that, and why: "…Sp3QFX: claims …".
[[nodiscard]] bool is_about(std::string_view entry, std::string_view id);

/// Such an entry, with the peer's name as everywhere in the window, where it is known.
[[nodiscard]] std::string named(std::string_view entry,
                                node::Snapshot const& snapshot,
                                node::TaskView const& task);

/// Has a row of the list of machines say what the machine of this snapshot works on.
void tell_task(Machine& machine, node::Snapshot const& snapshot);

}  // namespace waggle::ui
