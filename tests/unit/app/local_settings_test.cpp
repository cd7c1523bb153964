// SPDX-License-Identifier: MIT
#include "app/local_settings.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "core/base/file.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::app;

namespace {

std::string value_of(LocalSettings const& settings, std::string_view name) {
  auto const all = settings.list();
  if (!all) return "none";
  auto const at = std::ranges::find(*all, name, &node::SettingView::name);
  return at == all->end() ? "none" : at->value;
}

}  // namespace

TEST_CASE("nobody has agreed on a machine that was never asked, and a yes outlives the window") {
  test::Folder const folder;
  LocalSettings settings(folder.path);
  CHECK_FALSE(settings.agreed());
  settings.look();
  CHECK(settings.list() != nullptr);
  CHECK_FALSE(settings.agreed());
  REQUIRE(settings.keep("window.first_run_done", "true"));
  CHECK(settings.agreed());
  LocalSettings next(folder.path);
  next.look();
  CHECK(next.agreed());
}

TEST_CASE("a change by somebody else is seen, and a file that went wrong changes nothing") {
  test::Folder const folder;
  LocalSettings settings(folder.path);
  settings.look();
  CHECK(value_of(settings, "power") == "\"medium\"");
  auto const file = folder.path / "waggle.toml";
  auto const write = [&](std::string_view text, int second) {
    REQUIRE(write_file(file, as_bytes(text), FileMode::secret));
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(second));
    settings.look();
  };
  write("power = \"full\"\n", 10);
  CHECK(value_of(settings, "power") == "\"full\"");
  write("power = 7\n", 20);
  CHECK(value_of(settings, "power") == "\"full\"");
  CHECK(settings.trouble().find("waggle.toml:1:9: power") != std::string::npos);
  CHECK_FALSE(settings.keep("team", "bees"));
  write("", 30);
  CHECK(value_of(settings, "power") == "\"medium\"");
}
