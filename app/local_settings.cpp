// SPDX-License-Identifier: MIT
#include "app/local_settings.hpp"

#include <algorithm>
#include <utility>

#include "core/node/settings/settings.hpp"

namespace waggle::app {

LocalSettings::LocalSettings(std::filesystem::path data_dir) : data_dir_(std::move(data_dir)) {
}

void LocalSettings::look() {
  std::error_code ec;
  std::optional<std::filesystem::file_time_type> time;
  if (auto const written = std::filesystem::last_write_time(data_dir_ / "waggle.toml", ec); !ec)
    time = written;
  if (looked_ && time == time_) return;
  time_ = time;
  auto const file = node::read_literals(data_dir_);
  trouble_ = file ? std::string() : file.error().detail;
  if (!file && looked_) return;
  looked_ = true;
  latest_.set(std::make_shared<List>(node::list_settings(file ? *file : node::Literals{}, {})));
}

Status LocalSettings::keep(std::string const& name, std::string const& value) {
  auto done = node::change_setting(data_dir_, name, value);
  if (done) look();
  return done;
}

bool LocalSettings::agreed() const {
  auto const all = latest_.get();
  if (!all) return false;
  auto const at = std::ranges::find(*all, "window.first_run_done", &node::SettingView::name);
  return at != all->end() && at->value == "true";
}

}  // namespace waggle::app
