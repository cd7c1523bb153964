// SPDX-License-Identifier: MIT
#include "core/node/settings/settings.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/node/release/notice.hpp"
#include "core/node/settings/config.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

constexpr char kFile[] = "waggle.toml";

std::string edited(std::string_view toml, std::string_view name, std::string_view value) {
  auto const after = with_setting(toml, kFile, name, value);
  return after ? *after : "!" + after.error().detail;
}

std::string read(std::filesystem::path const& path) {
  auto const bytes = read_file(path, 1 << 20);
  return bytes ? std::string(as_text(*bytes)) : "!" + bytes.error().detail;
}

bool is_refused(std::string const& after, std::string_view word) {
  return after.starts_with('!') && after.find(word) != std::string::npos;
}

}  // namespace

TEST_SUITE("settings") {
  TEST_CASE("a value is put in place of the old one, and every other byte stays") {
    CHECK(edited("# mine\nport =   31337   # fixed in the router\n\n# a guest\n[guest] # rules\n"
                 "on_battery=false#why\n",
                 "guest.on_battery",
                 "true") ==
          "# mine\nport =   31337   # fixed in the router\n\n# a guest\n[guest] # rules\n"
          "on_battery=true#why\n");
    CHECK(edited("port = 1\r\nteam = \"Zürich\" # ü\r\n", "team", "\"Genève\"") ==
          "port = 1\r\nteam = \"Genève\" # ü\r\n");
    CHECK(edited("guest.idle_minutes = 3 # dotted\nport = 2\n", "guest.idle_minutes", "10") ==
          "guest.idle_minutes = 10 # dotted\nport = 2\n");
    CHECK(edited("guest = { cpu_load = 5, temperature = 80 }\n", "guest.cpu_load", "50") ==
          "guest = { cpu_load = 50, temperature = 80 }\n");
    CHECK(edited("[guest]\nprograms = [\n  \"a\", # one\n  \"b\",\n]\non_metered = true\n",
                 "guest.programs",
                 "[\"c\"]") == "[guest]\nprograms = [\"c\"]\non_metered = true\n");
  }

  TEST_CASE("a setting that was not there gets a line of its own in its table") {
    CHECK(edited("", "power", "full") == "power = \"full\"\n");
    CHECK(edited("", "guest.on_battery", "true") == "[guest]\non_battery = true\n");
    CHECK(edited("port = 1", "power", "full") == "port = 1\npower = \"full\"\n");
    CHECK(edited("port = 1\r\n", "power", "full") == "port = 1\r\npower = \"full\"\r\n");
    CHECK(edited("# all of it\n\n# rules\n[guest]\non_battery = true\n", "port", "5") ==
          "# all of it\n\nport = 5\n\n# rules\n[guest]\non_battery = true\n");
    CHECK(edited("port = 1\n[guest]\non_battery = true # x\n\n[window]\nsize = 2.0\n",
                 "guest.cpu_load",
                 "30") ==
          "port = 1\n[guest]\non_battery = true # x\ncpu_load = 30\n\n[window]\nsize = 2.0\n");
    CHECK(edited("[guest]\n[window]\n", "guest.cpu_load", "30") ==
          "[guest]\ncpu_load = 30\n[window]\n");
    CHECK(edited("port = 1\n", "window.theme", "light") ==
          "port = 1\n\n[window]\ntheme = \"light\"\n");
    CHECK(edited("guest = {}\n", "guest.cpu_load", "30") == "guest = { cpu_load = 30 }\n");
    CHECK(edited("guest = { temperature = 80 }\n", "guest.cpu_load", "30") ==
          "guest = { temperature = 80, cpu_load = 30 }\n");
    CHECK(edited("guest.temperature = 80\nport = 1\n", "guest.cpu_load", "30") ==
          "guest.temperature = 80\nguest.cpu_load = 30\nport = 1\n");
    CHECK(edited("\xEF\xBB\xBFport = 1\n", "port", "2") == "\xEF\xBB\xBFport = 2\n");
  }

  TEST_CASE("an empty value sets back to the standard, and keeps what stands beside it") {
    CHECK(edited("port = 1\npower = \"full\"\n[guest]\n", "power", "") == "port = 1\n[guest]\n");
    CHECK(edited("power = \"full\" # loud at night\n", "power", " ") ==
          "power = \"medium\" # loud at night\n");
    CHECK(edited("guest = { cpu_load = 5 }\n", "guest.cpu_load", "") ==
          "guest = { cpu_load = 0 }\n");
    CHECK(edited("port = 1\n", "power", "") == "port = 1\n");
    CHECK(edited("[guest]\n  on_battery   = true\n", "guest.on_battery", "") == "[guest]\n");
  }

  TEST_CASE("bare words are texts, and one text is a list of one where a list is meant") {
    CHECK(edited("", "power", "light") == "power = \"light\"\n");
    CHECK(edited("", "team", "4") == "team = \"4\"\n");
    CHECK(edited("", "team", "say \"hi\" \\o/") == "team = \"say \\\"hi\\\" \\\\o/\"\n");
    CHECK(edited("", "guest.programs", "blender") == "[guest]\nprograms = [\"blender\"]\n");
    CHECK(edited("", "guest.quiet_hours", "['22:00-07:00', 'sat,sun 10:00-12:00']") ==
          "[guest]\nquiet_hours = [\"22:00-07:00\", \"sat,sun 10:00-12:00\"]\n");
    CHECK(edited("", "window.size", "2") == "[window]\nsize = 2\n");
    CHECK(edited("", "window.size", "1.25") == "[window]\nsize = 1.25\n");
  }

  TEST_CASE("a wrong value is refused with what was expected, without a place in a text unseen") {
    CHECK(edited("", "power", "high") == "!power must be \"light\", \"medium\" or \"full\"");
    CHECK(edited("", "guest.idle_minutes", "-1") ==
          "!idle_minutes must be a whole number from 0 to 1440");
    CHECK(is_refused(edited("", "guest.on_battery", "yes"), "true or false") ==
          false);  // "yes" is no TOML at all
    CHECK(is_refused(edited("", "guest.on_battery", "yes"), "guest.on_battery: yes is no value"));
    CHECK(is_refused(edited("", "guest.on_battery", "1"), "true or false"));
    CHECK(is_refused(edited("", "powr", "full"), "guest.on_battery"));
    CHECK(is_refused(edited("", "guest", "{ on_battery = true }"), "no setting"));
    CHECK(is_refused(edited("", "guest.quiet_hours", "noon"), "quiet_hours"));
    CHECK(is_refused(edited("", "team", std::string(65, 'x')), "64 bytes"));
    CHECK(is_refused(edited("", "window.size", "nan"), "0.75"));
    CHECK(is_refused(edited("", "window.size", "4"), "0.75"));
  }

  TEST_CASE("a value can smuggle in no second setting") {
    for (std::string_view const value : {"1\nhost = \"0.0.0.0\"",
                                         "1 # \nclient = true",
                                         "1\n[guest]\non_battery = true",
                                         "{ a = 1 }",
                                         "1]"})
      CHECK(edited("", "threads", value).starts_with('!'));
    CHECK(edited("", "team", "a\nclient = true").starts_with('!'));
    CHECK(edited("", "team", "\"a\" \nclient = true").starts_with('!'));
  }

  TEST_CASE("a text that is wrong is not touched, and the place is named") {
    CHECK(edited("port = 1\nthreds = 2\n", "power", "full").starts_with("!waggle.toml:2:1: "));
    CHECK(edited("port = \n", "power", "full").starts_with("!waggle.toml:1:"));
  }

  TEST_CASE("every setting has a standard that the file accepts and that changes nothing") {
    for (auto const& setting : all_settings()) {
      INFO(setting.name);
      auto const text = edited("", setting.name, setting.standard);
      REQUIRE(!text.starts_with('!'));
      auto const config = parse_config(text, kFile);
      CHECK(config.trouble == "");
      CHECK(config.guest == device::GuestSettings{});
      CHECK(config.window == WindowSettings{});
      CHECK(config.cpu_share == Config{}.cpu_share);
      CHECK(config.threads.value_or(0) == 0);
      auto const literals = literals_of(text, kFile);
      REQUIRE(literals);
      CHECK(literals->size() == 1);
      CHECK(edited(text, setting.name, "").find(" = ") == std::string::npos);
    }
  }

  TEST_CASE("notices of newer versions are a setting only of a build that has a release key") {
    CHECK((find_setting("update_notice") != nullptr) == release_key().has_value());
    CHECK(parse_config("update_notice = true\n", kFile).trouble == "");
  }

  TEST_CASE("the values that a setting may have are taken, others are not") {
    CHECK(values_of(*find_setting("power")) == std::vector<std::string>{"light", "medium", "full"});
    CHECK(values_of(*find_setting("lan")) == std::vector<std::string>{"true", "false"});
    CHECK(values_of(*find_setting("port")).empty());
    for (auto const& setting : all_settings()) {
      CAPTURE(setting.name);
      auto const values = values_of(setting);
      for (auto const& value : values) CHECK(with_setting("", kFile, setting.name, value));
      if (!values.empty()) CHECK(!with_setting("", kFile, setting.name, "another"));
    }
  }

  TEST_CASE("flags stand over the file, the file over the standard") {
    auto const list = list_settings({{"power", "\"full\""}, {"port", "7"}}, {{"port", "9"}});
    auto const of = [&](std::string_view name) {
      for (auto const& view : list)
        if (view.name == name) return cat(view.value, " ", view.from, view.live ? " live" : "");
      return std::string("none");
    };
    CHECK(list.size() == all_settings().size());
    CHECK(of("power") == "\"full\" file live");
    CHECK(of("port") == "9 flag");
    CHECK(of("guest.on_battery") == "false default live");
  }

  TEST_CASE("on a host that only this machine reaches nobody is looked for, unless told to") {
    auto const lan = [](Literals const& file, Literals const& flags) {
      for (auto const& view : list_settings(file, flags))
        if (view.name == "lan") return cat(view.value, " ", view.from, " ", view.why);
      return std::string("none");
    };
    auto const own = "false default host is this machine's own loopback";
    CHECK(lan({}, {}) == "true default ");
    CHECK(lan({{"host", "\"192.168.1.2\""}}, {}) == "true default ");
    CHECK(lan({{"host", "\"127.0.0.1\""}}, {}) == own);
    CHECK(lan({}, {{"host", "\"::1\""}}) == own);
    CHECK(lan({{"host", "\"127.0.0.1\""}}, {{"host", "\"0.0.0.0\""}}) == "true default ");
    CHECK(lan({{"host", "\"127.0.0.1\""}, {"lan", "true"}}, {}) == "true file ");
  }

  TEST_CASE("the file is replaced as a whole, keeps its mode, and a link stays a link") {
    test::Folder const folder;
    auto const path = folder.path / kFile;
    REQUIRE(change_setting(folder.path, "power", "light"));
    CHECK(read(path) == "power = \"light\"\n");

    struct stat info {};

    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    REQUIRE(change_setting(folder.path, "power", "full"));
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0644);

    std::filesystem::rename(path, folder.path / "real.toml");
    std::filesystem::create_symlink("real.toml", path);
    REQUIRE(change_setting(folder.path, "power", "medium"));
    CHECK(std::filesystem::is_symlink(path));
    CHECK(read(folder.path / "real.toml") == "power = \"medium\"\n");

    REQUIRE(write_file(folder.path / "real.toml", as_bytes("power = 7\n"), FileMode::secret));
    auto const refused = change_setting(folder.path, "port", "1");
    REQUIRE(!refused);
    CHECK(refused.error().detail.find(":1:9: power") != std::string::npos);
    CHECK(read(path) == "power = 7\n");
    CHECK(!read_literals(folder.path));
  }
}
