// SPDX-License-Identifier: MIT
// A machine's side of pairing: while a code is shown, who proves to know it becomes a contact.
#include <array>
#include <utility>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/control/server.hpp"

namespace waggle::node::control {
namespace {

constexpr Duration kProofTime = std::chrono::seconds(15);

constexpr std::string_view kNoCode = "no code is shown there now: waggle pair";

}  // namespace

bool Server::pairing_open() const {
  return window_ && host_.runtime().now() < window_->until();
}

Status Server::open_pairing(std::string_view code, Right right) {
  WAGGLE_TRY(auto parsed, parse_code(code));
  auto const until = host_.runtime().now() + kWindow;
  window_.emplace(std::move(parsed), right, until);
  wrong_tries_ = 0;
  serve_if_wanted();
  scope_.spawn("pairing window", expire(until));
  return ok();
}

void Server::close_pairing() {
  window_.reset();
  serve_if_wanted();
}

Co<void> Server::expire(TimePoint until) {
  auto const slept = co_await host_.runtime().sleep_until(until);
  if (slept && window_ && window_->until() == until) close_pairing();
}

Co<void> Server::pair(net::Incoming& incoming, PairStart start) {
  auto& runtime = host_.runtime();
  auto& stream = *incoming.stream;
  if (!pairing_open()) {
    co_await refuse(stream, Why::no_code, kNoCode);
    co_return;
  }
  auto const verdict =
      window_->take_try(incoming.remote, address_of(incoming.remote), runtime.now());
  if (verdict == PairingWindow::Verdict::enough) {
    co_await refuse(stream, Why::wrong_code, "too many wrong codes; show a new one there");
    co_return;
  }
  if (verdict != PairingWindow::Verdict::go) {
    co_await refuse(stream, Why::too_many_tries, "too many tries at once; again in a few seconds");
    co_return;
  }
  std::array<std::byte, 64> entropy{};
  runtime.fill_random(entropy);
  auto const code = window_->code();
  auto const right = window_->right();
  auto const mine = MachinePairing::begin(
      code, incoming.remote, host_.self(), start.session, start.point, entropy);
  ++wrong_tries_;
  if (!mine) {
    log::debug("control", crypto::short_text(incoming.remote), ": ", mine.error().detail);
    co_return;
  }
  auto const answer = encode(Reply(PairAnswer{mine->point(), mine->proof()}));
  auto const deadline = runtime.now() + kProofTime;
  auto const written = co_await net::write_frame(stream, answer, deadline);
  if (!written) co_return;
  auto const frame = co_await net::read_frame(stream, kMaxRequestBytes, deadline);
  if (!frame) co_return;
  auto const request = decode_request(*frame);
  auto const* const proved = request ? std::get_if<PairProved>(&*request) : nullptr;
  if (proved == nullptr || !mine->proves(proved->proof)) {
    co_await refuse(stream, Why::wrong_code, "the code is another one here");
    co_return;
  }
  // Somebody else may have used it meanwhile, or it was withdrawn.
  if (!pairing_open() || window_->code() != code) {
    co_await refuse(stream, Why::no_code, kNoCode);
    co_return;
  }
  Contact contact;
  contact.peer = incoming.remote;
  contact.name = paired_.free_name(proved->name, incoming.remote);
  contact.right = right;
  contact.since = runtime.unix_time();
  auto const name = contact.name;
  auto const put = paired_.put(std::move(contact));
  if (!put) {
    auto const words = put.error().detail;
    co_await refuse(stream, Why::busy, words);
    co_return;
  }
  --wrong_tries_;
  hooks_.keep(paired_);
  close_pairing();
  hooks_.notice(cat(name,
                    " (",
                    crypto::short_text(incoming.remote),
                    ") may now ",
                    right == Right::control ? "watch and control" : "watch",
                    " this machine"));
  auto const paired = encode(Reply(Paired{right, name_}));
  auto const told = co_await net::write_frame(stream, paired, runtime.now() + kRefusalTime);
  if (!told) co_return;
  (void)co_await stream.close_write(runtime.now() + kRefusalTime);
  co_await hear_out(stream);
}

}  // namespace waggle::node::control
