// SPDX-License-Identifier: MIT
#include "core/node/settings/config.hpp"

#include <doctest/doctest.h>

#include "core/base/file.hpp"

#include "tests/unit/node/folder.hpp"

using namespace waggle;
using namespace waggle::node;

namespace {

constexpr char kPeer[] =
    "/ip4/203.0.113.5/tcp/31337/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";

Config parse(std::string const& text) {
  return parse_config(text, "waggle.toml");
}

}  // namespace

TEST_SUITE("config") {
  TEST_CASE("every setting is read, and none need be there") {
    auto const all =
        parse(std::string("peer = [\"") + kPeer +
              "\"]\nhost = \"127.0.0.1\"\nport = 31337\nthreads = 4\nclient = "
              "true\npower = \"full\"\ndisk_gib = 5\n[guest]\n"
              "on_battery = true\non_metered = true\nidle_minutes = 10\ngpu_idle_minutes = 7\n"
              "cpu_load = 25\ntemperature = 85\nprograms = [\"blender\"]\n"
              "quiet_hours = [\"22:00-07:00\", \"sat,sun 10:00-12:00\"]\n");
    CHECK(all.trouble == "");
    CHECK(all.peers == std::vector<std::string>{kPeer});
    CHECK(all.host == "127.0.0.1");
    CHECK(all.port == 31337);
    CHECK(all.threads == 4);
    CHECK(all.client == true);
    CHECK(all.disk_gib == 5);
    device::GuestSettings guest;
    guest.power = device::PowerLevel::full;
    guest.on_battery = true;
    guest.on_metered = true;
    guest.idle_minutes = 10;
    guest.gpu_idle_minutes = 7;
    guest.cpu_load = 25;
    guest.temperature = 85;
    guest.programs = {"blender"};
    guest.quiet_hours = {{0b1111111U, 22 * 60, 7 * 60}, {0b1100000U, 10 * 60, 12 * 60}};
    CHECK(all.guest == guest);
    auto const more = parse(
        "cpu_share = 40\nteam = \"Bees\"\n[window]\ntheme = \"light\"\nlanguage = \"zh\"\n"
        "size = 1.25\nfirst_run_done = true\nclose_to_tray = false\n");
    CHECK(more.trouble == "");
    CHECK(more.cpu_share == 40);
    CHECK(more.team == "Bees");
    CHECK(more.window == WindowSettings{"light", "zh", 1.25, true, false});
    auto const limits = parse(
        "max_download = 2000000\nmax_upload = 10000\ndaily_traffic = 2048\nmax_memory = 4096\n"
        "keep_awake = true\ngpu_duty = 40\nmax_gpu_memory = 6144\ngpu_power_cap = 150\n");
    CHECK(limits.trouble == "");
    CHECK(limits.limits == Limits{2'000'000, 10'000, 4096, true, 40, 6144, 150});
    CHECK(limits.guest.daily_traffic == 2048);
    CHECK(parse("max_upload = 0\ndaily_traffic = 0\nmax_memory = 0\nmax_gpu_memory = 0\n").limits ==
          Limits{});
    CHECK(parse("trainer = \"/opt/waggle/waggle-trainer\"\n").trainer ==
          "/opt/waggle/waggle-trainer");
    CHECK(parse("trainer = \"waggle-trainer\"\n").trouble.find("whole path") != std::string::npos);
    auto const none = parse("");
    CHECK(none.trainer == "");
    CHECK(none.limits == Limits{});
    auto const met = parse("lan = false\nupdate_notice = true\n");
    CHECK(met.trouble == "");
    CHECK(met.lan == false);
    CHECK(met.update_notice);
    CHECK(!none.lan);
    CHECK(!none.update_notice);
    CHECK(none.guest == device::GuestSettings{});
    CHECK(none.trouble == "");
    CHECK(!none.port);
  }

  TEST_CASE("what is wrong is named with line and column, and then nothing of the file counts") {
    struct Case {
      char const* text;
      char const* place;
      char const* word;
    };

    for (auto const& c :
         {Case{"port = 31337\nthreds = 4\n", ":2:1:", "threds"},
          Case{"port = 31337\nthreads = \"four\"\n", ":2:11:", "whole number"},
          Case{"port = 31337\nhost = 7\n", ":2:8:", "text"},
          Case{"threads = 2\nport = 65536\n", ":2:8:", "65535"},
          Case{"threads = 2\nport = -1\n", ":2:8:", "65535"},
          Case{"threads = 2\nclient = 1\n", ":2:10:", "true or false"},
          Case{"threads = 2\npeer = \"x\"\n", ":2:8:", "list"},
          Case{"threads = 2\npeer = [\"/ip4/1.2.3.4/tcp/5\"]\n", ":2:9:", "/p2p/"},
          Case{"threads = 2\nport = \n", ":2:", ""},
          Case{"threads = 2\nthreads = 3\n", ":2:", ""},
          Case{"threads = 2\npower = \"high\"\n", ":2:9:", "medium"},
          Case{"threads = 2\npower = 1\n", ":2:9:", "medium"},
          Case{"threads = 2\ndisk_gib = 0\n", ":2:12:", "whole number"},
          Case{"threads = 2\nguest = 1\n", ":2:9:", "table"},
          Case{"[guest]\nbatery = true\n", ":2:1:", "batery"},
          Case{"threads = 2\ncpu_share = 4\n", ":2:13:", "5 to 100"},
          Case{"threads = 2\nteam = \"a\\nb\"\n", ":2:8:", "one line"},
          Case{"threads = 2\nmax_upload = 9999\n", ":2:14:", "bytes a second from 10000"},
          Case{"threads = 2\nmax_download = -1\n", ":2:16:", "max_download must be 0 or"},
          Case{"max_upload = 9223372036854775807\n", ":1:14:", "bytes a second"},
          Case{"daily_traffic = 15\n", ":1:17:", "MiB from 16"},
          Case{"max_memory = \"4 GiB\"\n", ":1:14:", "MiB from 64"},
          Case{"gpu_duty = 4\n", ":1:12:", "5 to 100"},
          Case{"max_gpu_memory = 1\n", ":1:18:", "MiB from 64"},
          Case{"gpu_power_cap = 3000\n", ":1:17:", "watts from 10 to 2000"},
          Case{"keep_awake = 1\n", ":1:14:", "true or false"},
          Case{"window = 1\n", ":1:10:", "table"},
          Case{"[window]\ntheme = \"blue\"\n", ":2:9:", "light"},
          Case{"[window]\nsize = 0.5\n", ":2:8:", "0.75"},
          Case{"[window]\ncolour = 1\n", ":2:1:", "close_to_tray"},
          Case{"[guest]\non_battery = 1\n", ":2:14:", "true or false"},
          Case{"[guest]\nidle_minutes = -1\n", ":2:16:", "1440"},
          Case{"[guest]\ncpu_load = 101\n", ":2:12:", "100"},
          Case{"[guest]\ntemperature = 85.5\n", ":2:15:", "whole number"},
          Case{"[guest]\nquiet_hours = \"22:00-07:00\"\n", ":2:15:", "list"},
          Case{"[guest]\nquiet_hours = [\n\"22:00-07:00\",\n\"late\"]\n", ":4:1:", "late"},
          Case{"[guest]\nprograms = [7]\n", ":2:13:", "text"},
          Case{"[guest]\nprograms = [\"/usr/bin/blender\"]\n", ":2:13:", "folder"},
          Case{"threads = 2\napi_port = 70000\n", ":2:12:", "65535"},
          Case{"threads = 2\napi_host = \"localhost\"\n", ":2:12:", "IP address"},
          Case{"threads = 2\napi_names = [\"http://box.lan/\"]\n", ":2:14:", "box.lan"},
          Case{"threads = 2\nlan = 1\n", ":2:7:", "true or false"},
          Case{"threads = 2\nupdate_notice = \"x\"\n", ":2:17:", "true or false"},
          Case{"[[[[", ":1:", ""},
          Case{"threads = \xc2\xbe", ":1:", ""},
          Case{"threads = 2\n[node]\nport = 3\n", ":2:", "node"}}) {
      CAPTURE(c.text);
      auto const config = parse(c.text);
      CHECK(config.trouble.starts_with(std::string("waggle.toml") + c.place));
      CHECK(config.trouble.find(c.word) != std::string::npos);
      CHECK(!config.port);
      CHECK(!config.threads);
      CHECK(config.peers.empty());
    }
  }

  TEST_CASE("says where the web page is, which is nowhere unless asked for") {
    CHECK(parse("").api_port == 0);
    auto const config =
        parse("api_port = 8642\napi_host = \"::1\"\napi_names = [\"box.lan\", \"[::1]:443\"]\n");
    CHECK(config.trouble == "");
    CHECK(config.api_port == 8642);
    CHECK(config.api_host == "::1");
    CHECK(config.api_names == std::vector<std::string>{"box.lan", "[::1]:443"});
  }

  TEST_CASE("no file is no trouble; one that cannot be read is, and stays") {
    test::Folder const folder;
    CHECK(read_config(folder.path).trouble == "");
    auto const path = folder.path / "waggle.toml";
    REQUIRE(write_file(path, as_bytes("port = 7\n"), FileMode::shared));
    CHECK(read_config(folder.path).port == 7);
    std::string const huge(100'000, '#');
    REQUIRE(write_file(path, as_bytes(huge), FileMode::shared));
    CHECK(read_config(folder.path).trouble.find("65536") != std::string::npos);
    CHECK(std::filesystem::file_size(path) == huge.size());
  }
}
