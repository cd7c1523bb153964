// SPDX-License-Identifier: MIT
#include "core/node/control/machines.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include <asio/post.hpp>
#include <pthread.h>

#include "core/base/log.hpp"
#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/crypto/keys.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/address_book.hpp"
#include "core/net/swarm.hpp"
#include "core/node/control/naming.hpp"

namespace waggle::node::control {
namespace {

constexpr Duration kLookAtFile = std::chrono::seconds(2);  // another process may pair, too
constexpr std::size_t kKept = 8;                           // addresses of a machine

void add_once(std::vector<wire::Multiaddr>& to, wire::Multiaddr const& address) {
  auto plain = address.without_peer_id();
  if (to.size() < kKept && std::find(to.begin(), to.end(), plain) == to.end())
    to.push_back(std::move(plain));
}

bool same_places(std::vector<wire::Multiaddr> a, std::vector<wire::Multiaddr> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

}  // namespace

struct Machines::State {
  State(Options o, crypto::Identity key, Contacts c)
      : options(std::move(o)),
        identity(std::move(key)),
        book(runtime),
        swarm(runtime, identity, book, dialling_only(options.version)),
        ending(runtime),
        contacts(std::move(c)),
        scope(runtime) {}

  static net::SwarmOptions dialling_only(std::string const& version) {
    net::SwarmOptions out;
    out.listen_host = "";
    out.agent = cat("waggle/", version);
    return out;
  }

  // Fixed at construction.
  Options options;
  crypto::Identity identity;

  // The thread's.
  SystemRuntime runtime;
  net::AddressBook book;
  net::Swarm swarm;
  std::map<PeerId, std::shared_ptr<Link>> links;
  bool closing = false;
  Signal ending;
  std::filesystem::file_time_type file_time{};

  mutable std::mutex mutex;
  Contacts contacts;  // guarded by mutex, as all below
  std::map<PeerId, MachineState> states;
  std::function<void()> changed;

  Scope scope;
  std::thread thread;

  [[nodiscard]] std::filesystem::path file() const { return options.data_dir / "machines.toml"; }

  void told() {
    std::function<void()> f;
    {
      std::lock_guard const lock(mutex);
      f = changed;
    }
    if (f) f();
  }

  // What the file says now, changed and written: another process may have written it meanwhile.
  template <class F>
  Status change(F f) {
    WAGGLE_TRY(auto newest, Contacts::load(file()));
    std::lock_guard const lock(mutex);
    contacts = std::move(newest);
    WAGGLE_TRY_STATUS(f(contacts));
    WAGGLE_TRY_STATUS(contacts.save(file()));
    note_file_time();
    return ok();
  }

  void note_file_time() {
    std::error_code ec;
    file_time = std::filesystem::last_write_time(file(), ec);
  }

  // Another process may have paired, or forgotten one.
  void look_at_file() {
    std::error_code ec;
    auto const now = std::filesystem::last_write_time(file(), ec);
    if (ec || now == file_time) return;
    file_time = now;
    auto newest = Contacts::load(file());
    if (!newest) return log::warning("control", newest.error().detail);
    {
      std::lock_guard const lock(mutex);
      contacts = *std::move(newest);
    }
    std::vector<PeerId> gone;
    for (auto const& [peer, link] : links)
      if (contacts.find(peer) == nullptr) gone.push_back(peer);
    for (auto const& peer : gone) drop(peer);
    if (options.watch_all)
      for (auto const& contact : contacts.all()) watch(contact.peer);
    told();
  }

  // Where it is: where we reach it now, what it says of itself, and where it was before.
  [[nodiscard]] std::vector<wire::Multiaddr> places_of(PeerId const& peer,
                                                       Snapshot const& snapshot,
                                                       Contact const& known) const {
    std::vector<wire::Multiaddr> out;
    for (auto const& info : swarm.peers())
      if (info.id == peer && !info.inbound) add_once(out, info.address);
    for (auto const& text : snapshot.addresses)
      if (auto const address = wire::Multiaddr::parse(text)) add_once(out, *address);
    for (auto const& address : known.addresses) add_once(out, address);
    return out;
  }

  // Copies what a link knows to where other threads look; keeps where the machine is.
  void look(PeerId const& peer) {
    auto const at = links.find(peer);
    if (at == links.end()) return;
    auto const& link = *at->second;
    std::optional<Contact> other;
    {
      std::lock_guard const lock(mutex);
      auto const* const contact = contacts.find(peer);
      if (contact == nullptr) return;
      auto& state = states[peer];
      state.state = link.state();
      state.since = link.since();
      state.why = link.why();
      state.snapshot = link.snapshot();
      if (link.state() == LinkState::watching) {
        auto places = places_of(peer, *link.snapshot(), *contact);
        if (!same_places(places, contact->addresses) || link.contact().right != contact->right) {
          other = *contact;
          other->addresses = std::move(places);
          other->right = link.contact().right;
        }
      }
    }
    if (other) {
      swarm.add_addresses(peer, other->addresses);
      auto const kept = change([&](Contacts& all) -> Status {
        // Forgotten meanwhile: stays so.
        return all.find(peer) == nullptr ? ok() : all.put(*other);
      });
      if (!kept) log::warning("control", kept.error().detail);
    }
    told();
  }

  void watch(PeerId const& peer) {
    if (closing || links.contains(peer)) return;
    Contact contact;
    {
      std::lock_guard const lock(mutex);
      auto const* const known = contacts.find(peer);
      if (known == nullptr) return;
      contact = *known;
    }
    swarm.add_addresses(peer, contact.addresses);
    auto const link =
        std::make_shared<Link>(swarm, std::move(contact), [this, peer] { look(peer); });
    links.emplace(peer, link);
    link->start();
  }

  void drop(PeerId const& peer) {
    auto link = links.extract(peer);
    {
      std::lock_guard const lock(mutex);
      states.erase(peer);
    }
    if (!link.empty()) scope.spawn("control drop", end(std::move(link.mapped())));
  }

  Co<void> end(std::shared_ptr<Link> link) { co_await link->close(); }

  Co<Result<Contact>> find_and_pair(wire::Multiaddr address,
                                    std::string code,
                                    std::string name,
                                    TimePoint deadline) {
    WAGGLE_CO_TRY(auto const peer, co_await swarm.dial(address, deadline));
    auto const own = options.own_name.empty() ? host_name() : options.own_name;
    WAGGLE_CO_TRY(auto contact, co_await pair_with(swarm, peer, code, own, deadline));
    contact.addresses = {address.without_peer_id()};
    auto const kept = change([&](Contacts& all) -> Status {
      contact.name = all.free_name(name.empty() ? contact.name : name, peer);
      return all.put(contact);
    });
    if (!kept) co_return kept.error();
    // A link that was refused learns that it is known again.
    if (auto const at = links.find(peer); at != links.end())
      at->second->hurry();
    else
      watch(peer);
    co_return contact;
  }

  Co<void> pair(std::string address,
                std::string code,
                std::string name,
                Duration patience,
                std::function<void(Result<Contact>)> done) {
    auto const deadline = runtime.now() + patience;
    auto const where = parse_address(address);
    auto result = where ? Result<Contact>(Contact{}) : Result<Contact>(where.error());
    if (where) {
      auto const to = *where;
      result = co_await find_and_pair(to, code, name, deadline);
    }
    told();
    done(std::move(result));
  }

  Co<void> give(PeerId peer, Command command, Duration patience, std::function<void(Status)> done) {
    auto const deadline = runtime.now() + patience;
    auto const at = links.find(peer);
    Status given = Error{Errc::not_found, "this machine is not watched"};
    if (at != links.end()) {
      auto const link = at->second;  // may be dropped meanwhile
      given = co_await link->give(std::move(command), deadline);
    }
    done(std::move(given));
  }

  Co<void> main() {
    note_file_time();
    while (!closing) {
      auto const woken = co_await ending.wait(runtime.now() + kLookAtFile);
      if (!woken && woken.error().code == Errc::cancelled) break;
      if (!closing) look_at_file();
    }
    co_await scope.close();
    for (auto& [peer, link] : links) co_await link->close();
    co_await swarm.close();
    runtime.stop();
  }
};

Machines::Machines(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Result<std::unique_ptr<Machines>> Machines::open(Options options) {
  std::error_code ec;
  std::filesystem::create_directories(options.data_dir, ec);
  WAGGLE_TRY(auto contacts, Contacts::load(options.data_dir / "machines.toml"));
  WAGGLE_TRY(auto key, crypto::Identity::load_or_create(options.data_dir / "watch.key"));
  auto state = std::make_unique<State>(std::move(options), std::move(key), std::move(contacts));
  auto* const raw = state.get();
  raw->thread = std::thread([raw] {
    pthread_setname_np(pthread_self(), "watch");
    Scope root(raw->runtime);
    root.spawn("machines", raw->main());
    if (raw->options.watch_all)
      for (auto const& contact : raw->contacts.all()) raw->watch(contact.peer);
    raw->runtime.run();
    raw->runtime.run_to_completion();
  });
  return std::unique_ptr<Machines>(new Machines(std::move(state)));
}

Machines::~Machines() {
  on_change(nullptr);
  asio::post(state_->runtime.executor(), [raw = state_.get()] {
    raw->closing = true;
    raw->ending.notify_all();
  });
  state_->thread.join();
}

std::vector<MachineState> Machines::list() const {
  std::lock_guard const lock(state_->mutex);
  std::vector<MachineState> out;
  for (auto const& contact : state_->contacts.all()) {
    auto const known = state_->states.find(contact.peer);
    MachineState state = known == state_->states.end() ? MachineState{} : known->second;
    state.peer_id = crypto::to_text(contact.peer);
    state.name = contact.name;
    state.right = contact.right;
    out.push_back(std::move(state));
  }
  return out;
}

Result<Contact> Machines::find(std::string_view name_or_peer) const {
  std::lock_guard const lock(state_->mutex);
  return state_->contacts.find(name_or_peer);
}

void Machines::on_change(std::function<void()> changed) {
  std::lock_guard const lock(state_->mutex);
  state_->changed = std::move(changed);
}

void Machines::watch(PeerId const& peer) {
  asio::post(state_->runtime.executor(), [raw = state_.get(), peer] { raw->watch(peer); });
}

void Machines::give(PeerId const& peer,
                    Command command,
                    Duration patience,
                    std::function<void(Status)> done) {
  asio::post(state_->runtime.executor(),
             [raw = state_.get(), peer, command = std::move(command), patience, done] {
               raw->scope.spawn("control give", raw->give(peer, command, patience, done));
             });
}

void Machines::pair(std::string address,
                    std::string code,
                    std::string name,
                    Duration patience,
                    std::function<void(Result<Contact>)> done) {
  asio::post(state_->runtime.executor(), [raw = state_.get(), address, code, name, patience, done] {
    raw->scope.spawn("control pair", raw->pair(address, code, name, patience, done));
  });
}

void Machines::forget(PeerId const& peer, std::function<void(Status)> done) {
  asio::post(state_->runtime.executor(), [raw = state_.get(), peer, done] {
    auto const kept = raw->change([&](Contacts& all) -> Status {
      if (all.remove(peer)) return ok();
      return Error{Errc::not_found, cat(crypto::to_text(peer), " is not in machines.toml")};
    });
    raw->drop(peer);
    raw->told();
    done(kept);
  });
}

}  // namespace waggle::node::control
