// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/compute.hpp"
#include "core/node/control/client.hpp"
#include "core/node/control/server.hpp"

#include "tests/sim/memory_host.hpp"
#include "tests/sim/world.hpp"

namespace waggle::test {

/// A machine that may be watched, on a memory host, and what its hooks were told.
struct WatchedMachine {
  explicit WatchedMachine(sim::MemoryNetwork& network,
                          std::uint64_t n = 1,
                          node::control::Contacts paired = {})
      : host(network, sim::peer(n)), snapshot(std::make_shared<node::Snapshot>()) {
    node::control::Server::Hooks hooks;
    hooks.snapshot = [this] { return snapshot; };
    hooks.command = [this](node::Command command) { return obey(std::move(command)); };
    hooks.keep = [this](node::control::Contacts const& all) { kept = all; };
    hooks.notice = [this](std::string text) { notices.push_back(std::move(text)); };
    server = std::make_shared<node::control::Server>(
        host, compute, "server", std::move(paired), std::move(hooks));
    server->start();
  }

  Co<Status> obey(node::Command command) {
    commands.push_back(std::move(command));
    co_return answer;
  }

  void show(double time) {
    auto next = std::make_shared<node::Snapshot>();
    next->time = time;
    next->control.served = true;
    next->addresses = {"/ip4/10.0.0.1/tcp/4001"};
    snapshot = next;
  }

  Co<void> close() {
    co_await server->close();
    co_await host.close();
  }

  sim::MemoryHost host;
  InlineExecutor compute;
  std::shared_ptr<node::Snapshot const> snapshot;
  Status answer = ok();
  std::vector<node::Command> commands;
  node::control::Contacts kept;
  std::vector<std::string> notices;
  std::shared_ptr<node::control::Server> server;
};

inline node::control::Contacts may(PeerId const& peer,
                                   node::control::Right right,
                                   std::string name = "laptop") {
  node::control::Contact contact;
  contact.peer = peer;
  contact.name = std::move(name);
  contact.right = right;
  node::control::Contacts all;
  (void)all.put(std::move(contact));
  return all;
}

/// A stream on which one talks by hand.
struct ByHand {
  std::unique_ptr<net::Stream> stream;

  Co<void> open(sim::MemoryHost& from, PeerId to) {
    auto opened =
        co_await from.open(to, node::control::kProtocol, from.runtime().now() + seconds(10));
    if (opened) stream = *std::move(opened);
  }

  Co<void> say(Runtime& runtime, node::control::Request request) {
    auto const frame = encode(request);
    (void)co_await net::write_frame(*stream, frame, runtime.now() + seconds(10));
  }

  Co<Result<node::control::Reply>> hear(Runtime& runtime, double patience = 10) {
    auto const frame = co_await net::read_frame(
        *stream, node::control::kMaxReplyBytes, runtime.now() + seconds(patience));
    if (!frame) co_return frame.error();
    co_return node::control::decode_reply(*frame);
  }
};

}  // namespace waggle::test
