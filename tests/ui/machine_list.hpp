// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "ui/machine.hpp"

namespace waggle::test {

/// Machines to draw: one in each state, the shown one as `which` says ("here", "lost", "refused",
/// "watch"); "code": a code is shown; "alone": only this machine.
inline ui::Machines machine_list(std::string_view which) {
  using State = ui::Machine::State;
  ui::Machines list;
  list.now = 1.8e9;
  list.all.push_back({.name = "Desktop", .task = "Fashion", .task_state = "training"});
  list.here.served = true;
  list.address =
      "/ip4/192.168.1.20/tcp/31337/p2p/12D3KooWGC6TvWhfapngX6wvJHMYvKpDMXPb3ZnCZ6dMoaMtimQ5";
  if (which == "alone") return list;
  list.all.push_back({.id = "12D3KooWServer",
                      .name = "server",
                      .state = State::watching,
                      .task = "Fashion, resnet-18",
                      .task_state = "training"});
  list.all.push_back({.id = "12D3KooWRack",
                      .name = "rack-07.lab.example.org",
                      .state = State::watching,
                      .may_control = false,
                      .task = "Bible",
                      .task_state = "resting"});
  list.all.push_back({.id = "12D3KooWCellar",
                      .name = "地下室",
                      .state = State::lost,
                      .since = list.now - 200,
                      .why = "nothing heard for 15 s"});
  list.all.push_back({.id = "12D3KooWOld",
                      .name = "old laptop",
                      .state = State::refused,
                      .why = "this machine does not know you; pair with it first: waggle pair"});
  list.all.push_back({.id = "12D3KooWNew", .name = "attic", .state = State::connecting});
  list.here.paired.push_back({.peer_id = "12D3KooWGC6TvWhfapngX6wvJHMYvKpDMXPb3ZnCZ6dMoaMtimQ5",
                              .name = "phone desk",
                              .right = "control",
                              .connected = true,
                              .last_seen = {}});
  list.here.paired.push_back({.peer_id = "12D3KooWCNZMDBYCxTBFNrmTsRGKrUyHVoDFKTjx1hcpTUXsUZnt",
                              .name = "lab wall",
                              .right = "watch",
                              .last_seen = {}});
  if (which == "lost") list.chosen = "12D3KooWCellar";
  if (which == "refused") list.chosen = "12D3KooWOld";
  if (which == "watch") list.chosen = "12D3KooWRack";
  if (which == "code") {
    list.code = "k7m2-9xq4";
    list.here.pairing_until = list.now + 290;
    list.here.pairing_tries = 2;
    list.trouble = "the code is another one there";
  }
  return list;
}

}  // namespace waggle::test
