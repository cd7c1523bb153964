// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/latest.hpp"
#include "core/base/result.hpp"
#include "core/node/snapshot.hpp"

namespace waggle::app {

/// What this machine's waggle.toml says, for a window that may have no node to ask. Thread: look()
/// keep() and trouble() one, the rest any.
class LocalSettings {
 public:
  using List = std::vector<node::SettingView>;

  explicit LocalSettings(std::filesystem::path data_dir);

  /// Reads the file if it is another than the last time. A wrong one changes nothing.
  void look();
  /// Errors: as node::change_setting.
  [[nodiscard]] Status keep(std::string const& name, std::string const& value);

  /// Null before the first look().
  [[nodiscard]] std::shared_ptr<List const> list() const { return latest_.get(); }

  /// What is wrong with the file; empty: nothing, or it is not there.
  [[nodiscard]] std::string const& trouble() const noexcept { return trouble_; }

  /// A person went through the first run and said yes: from then on a node may be started here.
  [[nodiscard]] bool agreed() const;

 private:
  std::filesystem::path data_dir_;
  std::optional<std::filesystem::file_time_type> time_;
  bool looked_ = false;
  std::string trouble_;
  Latest<List> latest_;
};

}  // namespace waggle::app
