// SPDX-License-Identifier: MIT
// A Waggle peer that is driven by JSON lines on its standard input, as peer.py drives a hivemind
// one.
//
//   interop_hivemind [--client] [ADDRESS…]
//
// First line out: {"peer": …, "addresses": […]}. Then one answer a command, with the command's
// "id", in the order in which they end. Ends with its input.
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/scope.hpp"
#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"

#include "tests/interop/hivemind/commands.hpp"

using namespace waggle;
using nlohmann::json;

namespace {

constexpr Duration kLook = std::chrono::milliseconds(5);

void print(json const& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

Co<void> answer(interop::DrivenPeer& peer, json command) {
  json said;
  auto const id = command.value("id", 0);
  auto const result = co_await peer.run(std::move(command));
  if (result)
    said = *result;
  else
    said["error"] = cat(name(result.error().code), ": ", result.error().detail);
  said["id"] = id;
  print(said);
}

Co<void> read_commands(Runtime& runtime, interop::DrivenPeer& peer, Scope& scope) {
  std::string pending;
  char buffer[4096];
  for (;;) {
    auto const n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) co_return;
    if (n < 0) {
      auto const slept = co_await runtime.sleep_for(kLook);
      if (!slept) co_return;
      continue;
    }
    pending.append(buffer, static_cast<std::size_t>(n));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      auto command = json::parse(pending.substr(0, end), nullptr, false);
      pending.erase(0, end + 1);
      if (command.is_object()) scope.spawn("command", answer(peer, std::move(command)));
    }
  }
}

Co<void> live(Runtime& runtime,
              crypto::Identity const& identity,
              bool client_mode,
              std::vector<std::string> initial,
              int& status) {
  interop::DrivenPeer peer(runtime, identity, client_mode);
  auto const started = co_await peer.start(std::move(initial));
  if (started) {
    json line;
    line["peer"] = peer.id();
    line["addresses"] = peer.addresses();
    print(line);
    Scope commands(runtime);
    co_await read_commands(runtime, peer, commands);
    co_await commands.close();
  } else {
    std::fprintf(stderr, "%s\n", started.error().detail.c_str());
    status = 1;
  }
  co_await peer.close();
}

}  // namespace

int main(int argc, char** argv) {
  bool client_mode = false;
  std::vector<std::string> initial;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--client")
      client_mode = true;
    else
      initial.emplace_back(argv[i]);
  }
  ::fcntl(STDIN_FILENO, F_SETFL, ::fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
  auto const identity = crypto::Identity::generate();
  SystemRuntime runtime;
  int status = 0;
  Scope scope(runtime);
  scope.spawn("main", live(runtime, identity, client_mode, std::move(initial), status));
  runtime.run_to_completion();
  return status;
}
