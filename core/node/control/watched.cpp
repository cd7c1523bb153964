// SPDX-License-Identifier: MIT
#include "core/node/control/watched.hpp"

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/control/naming.hpp"

namespace waggle::node {
namespace {

std::filesystem::path file_of(Services& services) {
  return services.options().data_dir / "paired.toml";
}

}  // namespace

Watched::Watched(Services& services, Snapshots& snapshots, std::function<Status(Command)> take)
    : services_(services), take_(std::move(take)) {
  auto paired = control::Contacts::load(file_of(services));
  if (!paired) {
    // Not written over: whoever may watch is decided by what a person finds in there.
    services.notice(cat(paired.error().detail, "; nobody may watch until this is right"));
    return;
  }
  control::Server::Hooks hooks;
  hooks.snapshot = [&snapshots] { return snapshots.if_fresh(); };
  hooks.command = [this](Command command) { return obey(std::move(command)); };
  hooks.keep = [this](control::Contacts const& all) { keep(all); };
  hooks.notice = [&services](std::string text) { services.notice(std::move(text)); };
  server_ = std::make_shared<control::Server>(services.swarm(),
                                              services.compute(),
                                              control::host_name(),
                                              *std::move(paired),
                                              std::move(hooks));
  server_->start();
}

Watched::~Watched() = default;

Co<void> Watched::close() {
  if (server_) co_await server_->close();
}

void Watched::keep(control::Contacts const& paired) {
  services_.disk().post([&services = services_, paired, file = file_of(services_)] {
    if (auto const kept = paired.save(file); !kept)
      services.not_kept(cat("who may watch was not kept: ", kept.error().detail));
  });
}

// On the store's thread: a changed setting is a file.
Co<Status> Watched::obey(Command command) {
  auto work = [this, command = std::move(command)] { return take_(command); };
  co_return co_await on(services_.disk(), services_.runtime(), std::move(work));
}

void Watched::command(Command const& command) {
  Status done = ok();
  if (!server_) {
    done = Error{Errc::refused, "nobody may watch until paired.toml is right"};
  } else if (command.kind == Command::Kind::pair) {
    auto const right = command.name == word(control::Right::control) ? control::Right::control
                                                                     : control::Right::watch;
    done = server_->open_pairing(command.value, right);
  } else if (command.value.empty()) {
    server_->close_pairing();
  } else {
    auto const peer = crypto::parse_peer_id(command.value);
    done = peer ? server_->remove(*peer) : Status(peer.error());
  }
  if (!done) services_.notice(done.error().detail);
}

ControlView Watched::view() const {
  return server_ ? server_->view() : ControlView{};
}

}  // namespace waggle::node
