// SPDX-License-Identifier: MIT
#include "core/node/control/pairing.hpp"

#include <algorithm>
#include <cctype>

#include "core/base/assert.hpp"
#include "core/base/text.hpp"
#include "core/wire/varint.hpp"

namespace waggle::node::control {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::string_view kOtherAddresses = "*";

// Who talks to whom: a go-between has other PeerIDs, so that it makes another key.
Bytes channel_of(PeerId const& watcher, PeerId const& machine) {
  Bytes out = to_bytes("/waggle/control/1 pair");
  for (auto const& id : {watcher, machine}) {
    out.push_back(static_cast<std::byte>(id.bytes().size()));
    append(out, id.bytes());
  }
  return out;
}

PairProof proof_of(crypto::Sha512 const& key, std::string_view whose) {
  return crypto::hmac_sha256(key, as_bytes(whose));
}

constexpr std::string_view kByMachine = "waggle pair machine";
constexpr std::string_view kByWatcher = "waggle pair watcher";

crypto::CpacePoint public_point(crypto::CpaceScalar const& secret,
                                std::string_view code,
                                PeerId const& watcher,
                                PeerId const& machine,
                                PairSession const& session) {
  auto const generator =
      crypto::cpace_generator(as_bytes(code), channel_of(watcher, machine), session);
  auto const point = crypto::cpace_multiply(secret, generator);
  // Only a secret of zero fails: 64 random bytes that are a multiple of the group's order.
  WAGGLE_ASSERT(point.has_value(), "no randomness");
  return *point;
}

// What shares a limit: an IPv4 address, or the /64 that one household has of IPv6.
std::string place_of(wire::Multiaddr const& address) {
  auto const target = address.tcp_target();
  if (!target || address.is_relayed()) return std::string(kOtherAddresses);
  if (target->kind != wire::TcpTarget::Kind::ip6) return target->host;
  // The binary form: a code of one byte, then the address.
  auto const bytes = address.bytes();
  constexpr std::size_t kHead = 1;
  constexpr std::size_t kNet = 8;
  if (bytes.size() < kHead + kNet) return std::string(kOtherAddresses);
  return to_hex(bytes.subspan(kHead, kNet));
}

}  // namespace

std::string make_code(std::span<std::byte const, kCodeLetters> random) {
  std::string code;
  for (auto const b : random) code += kAlphabet[std::to_integer<std::size_t>(b) % kAlphabet.size()];
  return code;
}

Result<std::string> parse_code(std::string_view typed) {
  std::string code;
  for (char c : typed) {
    if (c == '-' || c == ' ') continue;
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == 'o') c = '0';
    if (c == 'i' || c == 'l') c = '1';
    if (kAlphabet.find(c) == std::string_view::npos || code.size() == kCodeLetters)
      return Error{Errc::invalid, cat("a code has ", kCodeLetters, " letters, like k7m2-9xq4")};
    code += c;
  }
  if (code.size() != kCodeLetters)
    return Error{
        Errc::invalid,
        cat("a code has ", kCodeLetters, " letters, like k7m2-9xq4; this one has ", code.size())};
  return code;
}

std::string shown_code(std::string_view code) {
  return cat(code.substr(0, kCodeLetters / 2), '-', code.substr(kCodeLetters / 2));
}

WatcherPairing::WatcherPairing(std::string_view code,
                               PeerId const& watcher,
                               PeerId const& machine,
                               PairSession const& session,
                               std::span<std::byte const, 64> entropy)
    : session_(session),
      secret_(crypto::cpace_scalar(entropy)),
      point_(public_point(secret_, code, watcher, machine, session)) {
}

Result<PairProof> WatcherPairing::answer(crypto::CpacePoint const& point, PairProof const& proof) {
  auto const shared = crypto::cpace_multiply(secret_, point);
  if (!shared) return Error{Errc::refused, "the machine's answer is no point of the group"};
  auto const key = crypto::cpace_key(session_, *shared, point_, {}, point, {});
  if (!crypto::same_secret(proof, proof_of(key, kByMachine)))
    return Error{Errc::refused, "the code is another one there"};
  return proof_of(key, kByWatcher);
}

Result<MachinePairing> MachinePairing::begin(std::string_view code,
                                             PeerId const& watcher,
                                             PeerId const& machine,
                                             PairSession const& session,
                                             crypto::CpacePoint const& point,
                                             std::span<std::byte const, 64> entropy) {
  auto const secret = crypto::cpace_scalar(entropy);
  auto const shared = crypto::cpace_multiply(secret, point);
  if (!shared) return Error{Errc::malformed, "pairing: no point of the group"};
  MachinePairing made;
  made.point_ = public_point(secret, code, watcher, machine, session);
  auto const key = crypto::cpace_key(session, *shared, point, {}, made.point_, {});
  made.proof_ = proof_of(key, kByMachine);
  made.expected_ = proof_of(key, kByWatcher);
  return made;
}

bool MachinePairing::proves(PairProof const& proof) const noexcept {
  return crypto::same_secret(proof, expected_);
}

void PairingWindow::Bucket::fill(double most, double per_second, TimePoint now) noexcept {
  left = std::min(most, left + per_second * to_seconds(now - at));
  at = now;
}

PairingWindow::PairingWindow(std::string code, Right right, TimePoint until)
    : code_(std::move(code)), right_(right), until_(until) {
  for (auto& bucket : all_) bucket.left = kAllAtOnce;
}

PairingWindow::Bucket& PairingWindow::of_address(wire::Multiaddr const& from, TimePoint now) {
  // Those that have filled up again say nothing any more. The rate over all leaves few others.
  for (auto at = addresses_.begin();
       addresses_.size() >= kMaxAddresses && at != addresses_.end();) {
    at->second.fill(kAddressAtOnce, kAddressPerSecond, now);
    at = at->second.left >= kAddressAtOnce ? addresses_.erase(at) : std::next(at);
  }
  auto const [at, fresh] = addresses_.try_emplace(place_of(from));
  if (fresh) at->second = {kAddressAtOnce, now};
  at->second.fill(kAddressAtOnce, kAddressPerSecond, now);
  return at->second;
}

PairingWindow::Verdict PairingWindow::take_try(PeerId const& peer,
                                               wire::Multiaddr const& from,
                                               TimePoint now) {
  if (now >= until_) return Verdict::over;
  auto const known = tries_.find(peer);
  if (known != tries_.end() && known->second >= kEachPeer) return Verdict::enough;
  if (known == tries_.end() && tries_.size() >= kMaxPeers) return Verdict::slow;
  auto& all = all_.at(from.is_private() ? 0 : 1);
  all.fill(kAllAtOnce, kAllPerSecond, now);
  if (all.left < 1) return Verdict::slow;
  auto& here = of_address(from, now);
  if (here.left < 1) return Verdict::slow;
  --here.left;
  --all.left;
  ++tries_[peer];
  return Verdict::go;
}

}  // namespace waggle::node::control
