// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::node {

/// A setting of waggle.toml that a person may change, in the window or by `waggle set`.
struct Setting {
  std::string_view name;        ///< dotted: "guest.on_battery"
  std::string_view standard;    ///< what holds where nothing is said, as TOML writes it
  bool live;                    ///< a running node follows at once; else from its next start
  std::string_view words = {};  ///< those that it may be, a space between; empty: not words alone
};

/// In the order in which a person reads them.
[[nodiscard]] std::span<Setting const> all_settings();
/// All values that it may have, as a person writes them; empty: any, or too many.
[[nodiscard]] std::vector<std::string> values_of(Setting const& setting);
/// Null: there is none of this name.
[[nodiscard]] Setting const* find_setting(std::string_view name);

/// Values by setting, each on one line as TOML writes it.
using Literals = std::map<std::string, std::string, std::less<>>;

/// What a text sets. Errors: invalid (the place and what is wrong).
[[nodiscard]] Result<Literals> literals_of(std::string_view toml, std::string_view file);
/// What the data directory's waggle.toml sets; nothing where there is none. Errors: invalid, io.
[[nodiscard]] Result<Literals> read_literals(std::filesystem::path const& data_dir);

/// `toml` with one setting changed, and nothing else: comments, order, spacing and other values
/// stay. `value` is as TOML writes it, or a bare word where a text is meant; empty sets back to the
/// standard. Errors: invalid (no such setting, what was expected of the value, or, with its place,
/// what was wrong in the text before: then it is not touched).
[[nodiscard]] Result<std::string> with_setting(std::string_view toml,
                                               std::string_view file,
                                               std::string_view name,
                                               std::string_view value);

/// The same in the data directory's waggle.toml, as a whole or not at all; a new file is for its
/// owner only, one that was there keeps its mode. Two at a time wait for each other. A running node
/// sees it within seconds. Thread: any that may wait for a disk. Errors: invalid, io.
[[nodiscard]] Status change_setting(std::filesystem::path const& data_dir,
                                    std::string_view name,
                                    std::string_view value);

/// Every setting with what holds: flags over the file over the standard.
[[nodiscard]] std::vector<SettingView> list_settings(Literals const& file, Literals const& flags);

/// A text as TOML writes it: "…" with escapes.
[[nodiscard]] std::string toml_text(std::string_view text);

}  // namespace waggle::node
