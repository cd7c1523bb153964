// SPDX-License-Identifier: MIT
#include "core/node/control/contacts.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/task/strict_toml.hpp"
#include "core/wire/utf8.hpp"

namespace waggle::node::control {
namespace {

constexpr std::size_t kLeastLetters = 6;  // of a PeerID's end, as short_text shows them

// Names and PeerIDs hold no control characters; these two are all that TOML's basic string asks
// for.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

Error wrong(std::string_view file, toml::source_region const& at, std::string const& what) {
  return {Errc::malformed, cat(file, ":", at.begin.line, ":", at.begin.column, ": ", what)};
}

Result<std::string> text_of(std::string_view file, toml::table const& table, char const* name) {
  auto const value = table[name].value_exact<std::string>();
  if (!value) return wrong(file, table.source(), cat(name, " is missing or no text"));
  return *value;
}

Result<Contact> contact_of(std::string_view file, toml::table const& table) {
  Contact contact;
  WAGGLE_TRY(auto const peer, text_of(file, table, "peer"));
  auto const id = crypto::parse_peer_id(peer);
  if (!id) return wrong(file, table.source(), cat("peer: ", id.error().detail));
  contact.peer = *id;
  WAGGLE_TRY(auto const name, text_of(file, table, "name"));
  contact.name = clean_name(name);
  WAGGLE_TRY(auto const right, text_of(file, table, "right"));
  if (right != word(Right::watch) && right != word(Right::control))
    return wrong(file, table.source(), "right must be \"watch\" or \"control\"");
  contact.right = right == word(Right::control) ? Right::control : Right::watch;
  contact.since = table["since"].value_or(0.0);
  if (!std::isfinite(contact.since)) contact.since = 0;
  auto const* const list = table["address"].as_array();
  if (list == nullptr) return contact;
  for (auto const& entry : *list) {
    auto const text = entry.value_exact<std::string>();
    auto address =
        text ? wire::Multiaddr::parse(*text) : Result<wire::Multiaddr>(Error{Errc::malformed, ""});
    if (!address) return wrong(file, entry.source(), "address must be a list of multiaddrs");
    if (contact.addresses.size() < Contacts::kMaxAddresses)
      contact.addresses.push_back(*std::move(address));
  }
  return contact;
}

std::string names_of(std::vector<Contact> const& contacts) {
  std::string out;
  for (auto const& c : contacts) out += cat(out.empty() ? "" : ", ", c.name);
  return out;
}

}  // namespace

std::string_view word(Right right) noexcept {
  return right == Right::control ? "control" : "watch";
}

std::string clean_text(std::string_view text, std::size_t most) {
  // First of all: where letters are whole, leaving one out makes no other of its neighbours.
  if (!wire::is_utf8(text)) return {};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const c = static_cast<unsigned char>(text[i]);
    auto const next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    // U+0080 to U+009F steer terminals, too.
    if (c == 0xC2 && next >= 0x80 && next < 0xA0)
      ++i;
    else if (c >= 0x20 && c != 0x7f)
      out += text[i];
  }
  out.resize(utf8_prefix(out, most).size());
  while (!out.empty() && out.back() == ' ') out.pop_back();
  out.erase(0, out.find_first_not_of(' '));
  return out;
}

std::string clean_name(std::string_view name) {
  auto out = clean_text(name, Contacts::kMaxName);
  return out.empty() ? "machine" : out;
}

Result<Contacts> Contacts::parse(std::string_view toml, std::string_view file) {
  Contacts contacts;
  try {
    auto const root = toml::parse(toml, std::string_view{});
    auto const* const list = root["paired"].as_array();
    if (list == nullptr) {
      if (root.empty()) return contacts;
      return wrong(file, root.source(), "expected [[paired]]");
    }
    for (auto const& entry : *list) {
      auto const* const table = entry.as_table();
      if (table == nullptr) return wrong(file, entry.source(), "paired must be tables: [[paired]]");
      WAGGLE_TRY(auto contact, contact_of(file, *table));
      WAGGLE_TRY_STATUS(contacts.put(std::move(contact)));
    }
  } catch (toml::parse_error const& failure) {
    return wrong(file, failure.source(), std::string(failure.description()));
  } catch (std::exception const& failure) {
    return Error{Errc::malformed, cat(file, ":1:1: ", failure.what())};
  }
  return contacts;
}

std::string Contacts::text() const {
  std::string out = "# Written by waggle pair. What is removed here counts from the next start.\n";
  for (auto const& c : all_) {
    out += cat("\n[[paired]]\npeer = ",
               in_quotes(crypto::to_text(c.peer)),
               "\nname = ",
               in_quotes(c.name),
               "\nright = ",
               in_quotes(word(c.right)));
    auto since = cat(c.since);
    if (since.find_first_of(".e") == std::string::npos) since += ".0";
    out += cat("\nsince = ", since, '\n');
    if (c.addresses.empty()) continue;
    out += "address = [";
    for (std::size_t i = 0; i < c.addresses.size(); ++i)
      out += cat(i == 0 ? "" : ", ", in_quotes(c.addresses[i].text()));
    out += "]\n";
  }
  return out;
}

Result<Contacts> Contacts::load(std::filesystem::path const& file) {
  auto const text = read_file(file, kMaxFile);
  if (text) return parse(as_text(*text), file.string());
  if (text.error().code == Errc::not_found) return Contacts();
  return text.error();
}

Status Contacts::save(std::filesystem::path const& file) const {
  return write_file(file, as_bytes(text()), FileMode::secret);
}

Status Contacts::put(Contact contact) {
  contact.name = clean_name(contact.name);
  if (auto* const known = find(contact.peer)) {
    *known = std::move(contact);
    return ok();
  }
  if (all_.size() >= kMax)
    return Error{Errc::refused,
                 cat(all_.size(), " machines are paired; at most ", kMax, " can be")};
  all_.push_back(std::move(contact));
  return ok();
}

bool Contacts::remove(PeerId const& peer) {
  return std::erase_if(all_, [&](Contact const& c) { return c.peer == peer; }) > 0;
}

Contact const* Contacts::find(PeerId const& peer) const {
  auto const at =
      std::find_if(all_.begin(), all_.end(), [&](Contact const& c) { return c.peer == peer; });
  return at == all_.end() ? nullptr : &*at;
}

Contact* Contacts::find(PeerId const& peer) {
  auto const at =
      std::find_if(all_.begin(), all_.end(), [&](Contact const& c) { return c.peer == peer; });
  return at == all_.end() ? nullptr : &*at;
}

Result<Contact> Contacts::find(std::string_view name_or_peer) const {
  std::vector<Contact> found;
  for (auto const& c : all_)
    if (c.name == name_or_peer) found.push_back(c);
  if (found.empty() && name_or_peer.size() >= kLeastLetters)
    for (auto const& c : all_)
      if (crypto::to_text(c.peer).ends_with(name_or_peer)) found.push_back(c);
  if (found.size() == 1) return found.front();
  if (!found.empty())
    return Error{Errc::invalid,
                 cat(found.size(), " machines are called ", name_or_peer, "; give the PeerID")};
  if (all_.empty())
    return Error{Errc::not_found, cat("no machine ", name_or_peer, ": none is paired yet")};
  return Error{Errc::not_found, cat("no machine ", name_or_peer, "; paired are: ", names_of(all_))};
}

std::string Contacts::free_name(std::string_view wanted, PeerId const& peer) const {
  auto const base = clean_name(wanted);
  auto const taken = [&](std::string const& name) {
    return std::any_of(all_.begin(), all_.end(), [&](Contact const& c) {
      return c.name == name && c.peer != peer;
    });
  };
  auto name = base;
  for (int n = 2; taken(name); ++n) {
    auto const number = cat(' ', n);
    name = cat(clean_name(utf8_prefix(base, kMaxName - number.size())), number);
  }
  return name;
}

}  // namespace waggle::node::control
