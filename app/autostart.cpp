// SPDX-License-Identifier: MIT
#include "core/device/autostart.hpp"

#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "app/command.hpp"

namespace waggle::app {

void add_autostart(CLI::App& app, Common& common, Action& chosen) {
  auto* const command = app.add_subcommand("autostart", "Start Waggle at login, or no longer");
  add_common(*command, common);
  auto const wish = std::make_shared<std::string>();
  command->add_option("wish", *wish, "on or off; without: says which")
      ->check(CLI::IsMember({"on", "off"}));
  add_examples(*command, "  waggle autostart\n  waggle autostart on\n");
  command->callback([&common, &chosen, wish] {
    chosen = [&common, wish]() -> int {
      auto const place = device::autostart_place();
      if (!wish->empty()) {
        auto const done = device::set_autostart(*wish == "on", place);
        if (!done) return fail(common, done.error());
      }
      bool const on = device::autostart_enabled(place);
      if (common.json)
        std::printf(
            "%s\n",
            nlohmann::json({{"autostart", on}, {"entry", place.entry.string()}}).dump().c_str());
      else
        std::printf("%s (%s)\n", on ? "on" : "off", place.entry.c_str());
      return kDone;
    };
  });
}

}  // namespace waggle::app
