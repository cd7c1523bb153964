// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/node/control/machines.hpp"

#include "app/command.hpp"
#include "ui/source.hpp"

namespace waggle::app {

/// A window's source that can be turned to another machine: `here` is this one's, the others are
/// watched over the network (node::control::Machines). Thread: the window's, but for what is
/// guarded.
class SwitchSource final : public ui::Source {
 public:
  /// `here` outlives it.
  SwitchSource(Common const& common, ui::Source& here);
  ~SwitchSource() override;
  SwitchSource(SwitchSource const&) = delete;
  SwitchSource& operator=(SwitchSource const&) = delete;

  [[nodiscard]] std::shared_ptr<node::Snapshot const> snapshot() override;
  void send(node::Command command) override;
  [[nodiscard]] std::shared_ptr<node::Examples const> examples(bool wanted) override;
  [[nodiscard]] std::shared_ptr<std::vector<node::SettingView> const> settings() override;
  void keep(std::string name, std::string value) override;
  [[nodiscard]] std::optional<std::string> take_trouble() override;

  void attend(Attention attention) override { here_.attend(attention); }

  void join(std::string link) override;
  [[nodiscard]] bool can_join() const override;
  [[nodiscard]] bool own_node() const override;
  [[nodiscard]] std::shared_ptr<ui::Machines const> machines() override;
  void ask(ui::MachineRequest request) override;

 private:
  [[nodiscard]] std::vector<node::control::MachineState> watched() const;
  [[nodiscard]] std::optional<node::control::MachineState> chosen_machine() const;
  void say(std::string trouble);
  void show_code(bool control);

  ui::Source& here_;
  std::string chosen_;  ///< a PeerID; empty: here
  std::string code_;    ///< shown here, as people read it; empty: none
  double code_since_ = 0;
  std::shared_ptr<ui::Machines const> list_;
  double list_at_ = 0;

  /// What answers on the network's thread write.
  struct Heard {
    std::mutex mutex;
    std::optional<std::string> trouble;  // guarded by mutex, as all below
    std::string pairing_trouble;
    bool pairing = false;
    bool changed = false;
    std::optional<std::string> added;  ///< to be shown
  };

  std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
  std::string broken_;  ///< why there is no list
  std::unique_ptr<node::control::Machines> others_;
};

}  // namespace waggle::app
