// SPDX-License-Identifier: MIT
#include "core/averaging/state_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

#include "core/averaging/state_native.hpp"
#include "core/averaging/state_stream.hpp"
#include "core/base/log.hpp"
#include "core/base/scope.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/net/rpc/rpc.hpp"

namespace waggle::averaging {

namespace {

constexpr std::size_t kKept =
    2;  ///< the newest states: a download that broke off just before an epoch can go on
constexpr std::size_t kMaxRpcDownloads = 8;
constexpr std::size_t kMaxRpcDownloadsPerPeer = 2;
constexpr int kMaxResumes = 3;  ///< without progress in between
constexpr Duration kStoreTime = std::chrono::seconds(10);
constexpr Duration kWithdrawTime = std::chrono::seconds(2);
// So long a killed donor may be named still. hivemind declares each 30 seconds for 30.
constexpr Duration kLongestDeclared = std::chrono::minutes(2);

}  // namespace

struct StateSharing::State {
  State(net::Host& h, dht::Dht& d, Executor& c, StateSharingOptions o)
      : host(h),
        runtime(h.runtime()),
        dht(d),
        compute(c),
        options(std::move(o)),
        scope(runtime),
        changed(runtime) {
    service = cat(options.prefix, "::", options.class_name, ".rpc_download_state");
  }

  net::Host& host;
  Runtime& runtime;
  dht::Dht& dht;
  Executor& compute;
  StateSharingOptions options;
  std::string service;
  Scope scope;
  Signal changed;
  std::shared_ptr<StateSnapshot const> latest;
  std::deque<native::Served> served;  // newest first, hashed
  std::vector<net::Registration> registrations;
  std::map<PeerId, std::size_t> downloads;
  std::size_t downloads_total = 0;
  std::size_t active = 0;
  double declared = 0;  // expiration
  bool closing = false;

  [[nodiscard]] dht::Id key() const { return dht::Id::of_text(options.prefix + ".all_averagers"); }

  /// What the DHT takes in place of our last record, and no earlier than this.
  [[nodiscard]] double later_than_declared(double expiration) const;
  Co<bool> declare(std::int64_t epoch, Duration lasts);
  Co<void> hash_and_declare();
  Co<bool> store(wire::Msgpack value, double expiration, Duration patience);
  Co<Status> serve(net::rpc::ServerCall& call);
  Co<Status> send_all(net::rpc::ServerCall& call, std::shared_ptr<StateSnapshot const> snapshot);
  Co<Result<DownloadedState>> fetch_native(
      PeerId donor,
      Schema const& schema,
      std::function<void(std::uint64_t, std::uint64_t)> const& progress,
      TimePoint deadline);
  Co<Result<DownloadedState>> fetch_rpc(
      PeerId donor,
      Schema const& schema,
      std::function<void(std::uint64_t, std::uint64_t)> const& progress,
      TimePoint deadline);
};

// Whether anybody took it.
Co<bool> StateSharing::State::store(wire::Msgpack value, double expiration, Duration patience) {
  dht::Record record;
  record.key = key();
  record.subkey = wire::Msgpack(to_bytes(host.self().bytes())).encode();
  record.value = value.encode();
  record.expiration = expiration;
  auto const stored = co_await dht.store(std::move(record), runtime.now() + patience);
  if (!stored && stored.error().code != Errc::cancelled)
    log::debug("averaging", "advertising our state: ", stored.error().detail);
  bool const taken = stored ? *stored : false;
  co_return taken;
}

// For `lasts`; longer, where a record of ours from before we left is still remembered.
Co<bool> StateSharing::State::declare(std::int64_t epoch, Duration lasts) {
  for (auto const life : {lasts, kLongestDeclared + kWithdrawTime}) {
    declared = later_than_declared(dht.time() + to_seconds(life));
    wire::Msgpack priority(static_cast<double>(epoch));
    if (co_await store(std::move(priority), declared, kStoreTime)) co_return true;
  }
  co_return false;
}

double StateSharing::State::later_than_declared(double expiration) const {
  return std::max(expiration, std::nextafter(declared, std::numeric_limits<double>::infinity()));
}

// Hashes each new snapshot, then says in the DHT that we have it, and again before the record ends:
// ever more seldom while it stays the same, so that who trains nothing sleeps.
Co<void> StateSharing::State::hash_and_declare() {
  Duration lasts{};
  for (;;) {
    auto const snapshot = latest;
    if (!served.empty() && served.front().snapshot == snapshot) {
      // What nobody took is tried again soon.
      if (options.serve && !co_await declare(snapshot->epoch, lasts))
        lasts = options.declare_period;
      auto const renew = runtime.now() + lasts * 2 / 3;
      lasts = std::max(options.declare_period, std::min(2 * lasts, kLongestDeclared));
      Status waited = ok();
      while (waited && latest == snapshot) waited = co_await changed.wait(renew);
      if (!waited && waited.error().code == Errc::cancelled) co_return;
      continue;
    }
    if (!snapshot) {
      auto const waited = co_await changed.wait();
      if (!waited) co_return;
      continue;
    }
    auto hash = [snapshot] { return crypto::sha256(std::as_bytes(std::span(snapshot->values))); };
    auto const digest = co_await on(compute, runtime, std::move(hash));
    lasts = options.declare_period;
    served.push_front({snapshot, digest});
    while (served.size() > kKept) served.pop_back();
  }
}

Co<Status> StateSharing::State::send_all(net::rpc::ServerCall& call,
                                         std::shared_ptr<StateSnapshot const> snapshot) {
  Bytes metadata = encode_state_metadata(*snapshot);
  std::size_t offset = 0;
  for (auto const& tensor : snapshot->schema) {
    auto const numel = tensor.numel();
    auto const codec = options.compression.for_tensor(numel);
    auto const values = std::span(snapshot->values).subspan(offset, numel);
    auto buffer = std::make_shared<Bytes>();
    auto encode = [values, codec, buffer] { return compress::encode(codec, values, *buffer); };
    auto const encoded = co_await on(compute, runtime, std::move(encode));
    if (!encoded) co_return encoded;
    auto const messages = split_tensor(metadata, tensor, codec, *buffer);
    for (auto const& message : messages) {
      auto const sent =
          co_await call.send(message.head, message.tail, runtime.now() + options.request_timeout);
      if (!sent) co_return sent;
    }
    metadata.clear();
    offset += numel;
  }
  co_return ok();
}

Co<Status> StateSharing::State::serve(net::rpc::ServerCall& call) {
  if (closing) co_return Error{Errc::closed, "leaving"};
  auto const caller = call.caller();
  if (downloads_total >= kMaxRpcDownloads || downloads[caller] >= kMaxRpcDownloadsPerPeer)
    co_return Error{Errc::refused, cat(downloads_total, " downloads are running")};
  ++active;
  ++downloads_total;
  ++downloads[caller];
  Status outcome = ok();
  auto const request = co_await call.receive(runtime.now() + options.request_timeout);
  if (!request)
    outcome = request.error();
  else if (latest)
    outcome = co_await send_all(call, latest);
  --active;
  --downloads_total;
  if (--downloads[caller] == 0) downloads.erase(caller);
  changed.notify_all();
  co_return outcome;
}

Co<Result<DownloadedState>> StateSharing::State::fetch_native(
    PeerId donor,
    Schema const& schema,
    std::function<void(std::uint64_t, std::uint64_t)> const& progress,
    TimePoint deadline) {
  native::Request request;
  request.prefix = options.prefix;
  native::Partial partial;
  Status fetched = ok();
  std::uint64_t before = 0;
  for (int stalls = 0; stalls<kMaxResumes; stalls = partial.done> before ? 0 : stalls + 1) {
    before = partial.done;
    fetched = co_await native::fetch(
        host, donor, request, schema, partial, progress, options.request_timeout, deadline);
    if (fetched || partial.done == 0) break;
    if (fetched.error().code != Errc::closed && fetched.error().code != Errc::timeout) break;
    if (runtime.now() >= deadline) break;
  }
  if (!fetched) co_return std::move(fetched).error();
  auto const shared = std::make_shared<native::Partial>(std::move(partial));
  auto check = [shared]() -> Status {
    auto const digest = crypto::sha256(std::as_bytes(std::span(shared->values)));
    if (!equal(digest, shared->header->state_hash))
      return Error{Errc::malformed, "the state's hash does not fit"};
    if (!compress::all_finite(shared->values))
      return Error{Errc::malformed, "the state holds values that are not finite"};
    return ok();
  };
  auto checked = co_await on(compute, runtime, std::move(check));
  if (!checked) co_return std::move(checked).error();
  auto metadata = wire::Msgpack::decode(shared->header->optimizer_metadata);
  if (!metadata) co_return std::move(metadata).error();
  DownloadedState result;
  result.donor = donor;
  result.native = true;
  result.state.epoch = shared->header->epoch;
  result.state.schema = schema;
  result.state.values = std::move(shared->values);
  result.state.optimizer_metadata = *std::move(metadata);
  result.state.has_test_loss =
      shared->header->test_loss && std::isfinite(*shared->header->test_loss);
  if (result.state.has_test_loss) result.state.test_loss = *shared->header->test_loss;
  co_return std::move(result);
}

Co<Result<DownloadedState>> StateSharing::State::fetch_rpc(
    PeerId donor,
    Schema const& schema,
    std::function<void(std::uint64_t, std::uint64_t)> const& progress,
    TimePoint deadline) {
  auto const by = [&] { return std::min(deadline, runtime.now() + options.request_timeout); };
  auto opened = co_await net::rpc::ClientCall::open(host, donor, service, by());
  if (!opened) co_return std::move(opened).error();
  auto& call = **opened;
  auto asked = co_await call.send(ByteView{}, by());
  if (asked) asked = co_await call.finish(by());
  if (!asked) co_return std::move(asked).error();
  StateAssembler assembler(schema);
  for (;;) {
    auto item = co_await call.receive(by());
    if (!item) co_return std::move(item).error();
    if (!*item) break;
    auto feed = [&assembler, item = std::make_shared<Bytes>(*std::move(*item))] {
      return assembler.feed(*item);
    };
    auto fed = co_await on(compute, runtime, std::move(feed));
    if (!fed) co_return std::move(fed).error();
    if (progress) progress(assembler.bytes(), 0);
  }
  auto finish = [&assembler] { return assembler.finish(); };
  auto state = co_await on(compute, runtime, std::move(finish));
  if (!state) co_return std::move(state).error();
  DownloadedState result;
  result.donor = donor;
  result.state = *std::move(state);
  co_return std::move(result);
}

StateSharing::StateSharing(net::Host& host,
                           dht::Dht& dht,
                           Executor& compute,
                           StateSharingOptions options)
    : state_(std::make_shared<State>(host, dht, compute, std::move(options))) {
  auto& s = *state_;
  s.scope.spawn("state sharing", s.hash_and_declare());
  if (!s.options.serve) return;
  net::rpc::StreamHandler handler = [state = state_](net::rpc::ServerCall& call) {
    return state->serve(call);
  };
  s.registrations.push_back(net::rpc::serve_stream(host, s.service, std::move(handler)));
  native::Find find = [state = std::weak_ptr(state_)] {
    auto const alive = state.lock();
    return alive && !alive->closing
               ? std::vector<native::Served>(alive->served.begin(), alive->served.end())
               : std::vector<native::Served>{};
  };
  s.registrations.push_back(
      native::serve(host, s.options.prefix, std::move(find), s.options.request_timeout));
}

StateSharing::~StateSharing() = default;

Co<void> StateSharing::close() {
  auto const state = state_;
  bool const withdraw = state->declared > state->dht.time() && !state->closing;
  state->closing = true;
  state->registrations.clear();
  co_await state->scope.close();
  if (withdraw) {
    // hivemind overwrites with nil, so that nobody asks us any more.
    (void)co_await state->store(wire::Msgpack(), state->later_than_declared(0), kWithdrawTime);
  }
}

void StateSharing::publish(std::shared_ptr<StateSnapshot const> snapshot) {
  state_->latest = std::move(snapshot);
  state_->changed.notify_all();
}

Co<Result<std::vector<StateSharing::Donor>>> StateSharing::donors(TimePoint deadline) {
  auto const state = state_;
  auto const found = co_await state->dht.get(state->key(), dht::Freshness::latest, deadline);
  if (!found) co_return found.error();
  std::vector<std::pair<Donor, std::uint64_t>> drawn;
  if (found->dictionary) {
    for (auto const& [subkey, timed] : *found->dictionary) {
      auto const name = wire::Msgpack::decode(subkey);
      auto const value = wire::Msgpack::decode(timed.value);
      if (!name || !value) continue;
      auto const* const raw = name->get<Bytes>();
      auto const peer = raw != nullptr ? PeerId::from_bytes(*raw) : std::nullopt;
      auto const priority = value->number();
      if (!peer || !priority || !std::isfinite(*priority) || *peer == state->host.self()) continue;
      drawn.push_back({{*peer, *priority}, state->runtime.random_u64()});
    }
  }
  std::sort(drawn.begin(), drawn.end(), [](auto const& a, auto const& b) {
    return a.first.priority != b.first.priority ? a.first.priority > b.first.priority
                                                : a.second < b.second;
  });
  std::vector<Donor> donors;
  for (auto& [donor, draw] : drawn) donors.push_back(std::move(donor));
  co_return std::move(donors);
}

Co<Result<DownloadedState>> StateSharing::download(
    PeerId donor,
    Schema const& schema,
    std::function<void(std::uint64_t, std::uint64_t)> progress,
    TimePoint deadline) {
  auto const state = state_;
  auto const expected = schema;
  auto native = co_await state->fetch_native(donor, expected, progress, deadline);
  // Refused: the donor does not know our protocol. Everything else would be no better over
  // hivemind's.
  if (native || native.error().code != Errc::refused) {
    if (!native && native.error().code == Errc::not_found) native.error().code = Errc::refused;
    co_return native;
  }
  co_return co_await state->fetch_rpc(donor, expected, progress, deadline);
}

}  // namespace waggle::averaging
