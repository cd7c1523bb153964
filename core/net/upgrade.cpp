// SPDX-License-Identifier: MIT
#include "core/net/upgrade.hpp"

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/multistream.hpp"

namespace waggle::net {
namespace {

Co<Status> select(Stream& pipe,
                  NoiseHandshake::Role role,
                  std::string_view protocol,
                  TimePoint deadline) {
  std::string const name(protocol);
  if (role == NoiseHandshake::Role::initiator)
    co_return co_await multistream::propose(pipe, name, deadline);
  std::function<bool(std::string_view)> const serves = [&name](std::string_view proposal) {
    return proposal == name;
  };
  WAGGLE_CO_TRY_STATUS(co_await multistream::answer(pipe, serves, deadline));
  co_return ok();
}

}  // namespace

Co<Result<Secured>> upgrade(Runtime& runtime,
                            std::unique_ptr<Stream> pipe,
                            NoiseHandshake::Role role,
                            crypto::Identity const& self,
                            std::optional<PeerId> expected,
                            TimePoint deadline) {
  WAGGLE_CO_TRY_STATUS(co_await select(*pipe, role, kNoiseProtocol, deadline));
  WAGGLE_CO_TRY(auto secured, co_await secure(runtime, std::move(pipe), role, self, deadline));
  if (expected && secured.remote != *expected)
    co_return Error{
        Errc::refused,
        cat("expected ", crypto::to_text(*expected), ", found ", crypto::to_text(secured.remote))};
  if (secured.remote == self.peer_id())
    co_return Error{Errc::refused, "the other end is this peer itself"};
  if (secured.muxer == NoiseHandshake::Muxer::undecided) {
    WAGGLE_CO_TRY_STATUS(co_await select(*secured.stream, role, kYamuxProtocol, deadline));
  }
  co_return std::move(secured);
}

}  // namespace waggle::net
