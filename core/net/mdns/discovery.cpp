// SPDX-License-Identifier: MIT
#include "core/net/mdns/discovery.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace waggle::net::mdns {
namespace {

constexpr std::string_view kAttribute = "dnsaddr=";

Name instance(std::string_view peer_name) {
  auto name = name_of(kService);
  name.insert(name.begin(), std::string(peer_name));
  return name;
}

// RFC 6763 section 6.4: the case of a key does not matter.
bool is_attribute(std::string_view text) {
  return text.size() > kAttribute.size() &&
         std::ranges::equal(text.substr(0, kAttribute.size()), kAttribute, [](char a, char b) {
           return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
         });
}

bool believable(wire::Multiaddr const& address, Source source) {
  auto const target = address.tcp_target();
  if (!target || !address.is_plain_tcp() || target->port == 0) return false;
  using Kind = wire::TcpTarget::Kind;
  if (target->kind != Kind::ip4 && target->kind != Kind::ip6) return false;
  if (address.is_loopback()) return source == Source::this_machine;
  return address.is_private();
}

void note(std::vector<FoundPeer>& found, PeerId const& id, wire::Multiaddr address) {
  auto at = std::ranges::find(found, id, &FoundPeer::id);
  if (at == found.end()) {
    if (found.size() >= kMaxPeersInAnswer) return;
    at = found.insert(found.end(), FoundPeer{id, {}});
  }
  auto& all = at->addresses;
  if (all.size() < kMaxAddressesOfPeer && std::ranges::find(all, address) == all.end())
    all.push_back(std::move(address));
}

}  // namespace

std::string peer_name(Runtime& runtime) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string name;
  while (name.size() < kPeerNameLetters) name += kLetters[runtime.random_below(kLetters.size())];
  return name;
}

Bytes query() {
  Message message;
  message.questions.push_back({name_of(kService), static_cast<std::uint16_t>(Type::ptr)});
  return *message.encode();
}

bool asks_for_peers(Message const& message) {
  if (message.response) return false;
  auto const service = name_of(kService);
  return std::ranges::any_of(message.questions, [&](Question const& question) {
    bool const fits = question.type == static_cast<std::uint16_t>(Type::ptr) ||
                      question.type == static_cast<std::uint16_t>(Type::any);
    return fits && same(question.name, service);
  });
}

Bytes answer(std::string_view peer_name,
             PeerId const& self,
             std::span<wire::Multiaddr const> addresses) {
  Message message;
  message.response = true;
  message.answers.push_back({name_of(kService), Type::ptr, kTtl, instance(peer_name), {}});
  message.additional.push_back({instance(peer_name), Type::txt, kTtl, {}, {}});
  auto& texts = message.additional.front().texts;
  Bytes fitting;
  for (auto const& address : addresses) {
    auto text = cat(kAttribute, address.with_peer_id(self).text());
    if (text.size() > Message::kMaxText) continue;
    texts.push_back(std::move(text));
    auto const bytes = message.encode();
    if (!bytes || bytes->size() > Message::kMaxSent) break;
    fitting = *bytes;
  }
  return fitting;
}

Source source_of(std::string_view host) {
  auto const address = wire::Multiaddr::tcp(host, 1);
  if (!address) return Source::elsewhere;
  if (address->is_loopback()) return Source::this_machine;
  return address->is_private() ? Source::local_network : Source::elsewhere;
}

std::vector<FoundPeer> peers_in(Message const& message, Source source) {
  std::vector<FoundPeer> found;
  if (!message.response || source == Source::elsewhere) return found;
  auto const service = name_of(kService);
  for (auto const& record : message.answers) {
    // <peer name>._p2p._udp.local
    if (record.type != Type::txt || record.ttl == 0 || record.name.size() != service.size() + 1 ||
        !same(Name(record.name.begin() + 1, record.name.end()), service))
      continue;
    for (auto const& text : record.texts) {
      if (!is_attribute(text)) continue;
      auto const address = wire::Multiaddr::parse(std::string_view(text).substr(kAttribute.size()));
      if (!address) continue;
      auto const id = address->peer_id();
      if (id && believable(*address, source)) note(found, *id, address->without_peer_id());
    }
  }
  return found;
}

}  // namespace waggle::net::mdns
