// SPDX-License-Identifier: MIT
#include "core/node/control/client.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/api/snapshot_json.hpp"
#include "core/node/control/detail/outbox.hpp"

namespace waggle::node::control {
namespace {

constexpr Duration kOpenTime = std::chrono::seconds(20);
constexpr Duration kTalkTime = std::chrono::seconds(15);  // for one answer of a pairing
constexpr Duration kAgain = std::chrono::seconds(2);      // after "too many at once"

/// A pairing's end, or that it is worth another try.
struct Tried {
  std::optional<Result<Contact>> done;
};

Co<Result<Reply>> ask(net::Stream& stream, Request request, TimePoint deadline) {
  auto const frame = encode(request);
  // Who refuses may do so before it has heard what we ask.
  auto const written = co_await net::write_frame(stream, frame, deadline);
  auto const reply = co_await net::read_frame(stream, kMaxReplyBytes, deadline);
  if (reply) co_return decode_reply(*reply);
  co_return written ? reply.error() : written.error();
}

Error refusal(Refusal const& said) {
  return {Errc::refused,
          said.words.empty() ? cat("the machine refused (", said.why, ")") : said.words};
}

Error out_of_turn() {
  return {Errc::malformed, "the machine answered out of turn"};
}

bool worth_another_try(Reply const& reply) {
  auto const* const said = std::get_if<Refusal>(&reply);
  return said != nullptr && said->why == Why::too_many_tries;
}

Co<Result<Reply>> try_once(
    net::Host& host, PeerId machine, std::string code, std::string own_name, TimePoint deadline) {
  auto& runtime = host.runtime();
  WAGGLE_CO_TRY(auto const stream, co_await host.open(machine, kProtocol, deadline));
  PairSession session{};
  runtime.fill_random(session);
  std::array<std::byte, 64> entropy{};
  runtime.fill_random(entropy);
  WatcherPairing mine(code, host.self(), machine, session, entropy);
  auto const soon = std::min(deadline, runtime.now() + kTalkTime);
  Request start = PairStart{mine.session(), mine.point()};
  WAGGLE_CO_TRY(auto first, co_await ask(*stream, std::move(start), soon));
  auto const* const answer = std::get_if<PairAnswer>(&first);
  if (answer == nullptr) co_return first;
  WAGGLE_CO_TRY(auto const proof, mine.answer(answer->point, answer->proof));
  Request proved = PairProved{proof, clean_name(own_name)};
  co_return co_await ask(*stream, std::move(proved), soon);
}

}  // namespace

Co<Result<Contact>> pair_with(
    net::Host& host, PeerId machine, std::string code, std::string own_name, TimePoint deadline) {
  auto& runtime = host.runtime();
  WAGGLE_CO_TRY(auto const plain, parse_code(code));
  for (;;) {
    WAGGLE_CO_TRY(auto const reply, co_await try_once(host, machine, plain, own_name, deadline));
    if (auto const* const paired = std::get_if<Paired>(&reply)) {
      Contact contact;
      contact.peer = machine;
      contact.name = paired->name;
      contact.right = paired->right;
      contact.since = runtime.unix_time();
      co_return contact;
    }
    auto const* const said = std::get_if<Refusal>(&reply);
    if (said == nullptr) co_return out_of_turn();
    // At another moment than all others who were told so.
    auto const again = runtime.now() + kAgain + seconds(runtime.random_unit());
    if (!worth_another_try(reply) || again >= deadline) co_return refusal(*said);
    auto const slept = co_await runtime.sleep_until(again);
    if (!slept) co_return slept.error();
  }
}

/// One stream to the machine.
struct Link::Talk {
  explicit Talk(Runtime& runtime) : outbox(runtime) {}

  std::unique_ptr<net::Stream> stream;
  detail::Outbox outbox;
  bool welcome = false;
};

Link::Link(net::Host& host, Contact contact, std::function<void()> changed)
    : host_(host),
      contact_(std::move(contact)),
      changed_(std::move(changed)),
      since_(host.runtime().unix_time()),
      stirred_(host.runtime()),
      scope_(host.runtime()) {
}

Link::~Link() = default;

void Link::start() {
  scope_.spawn("control link", run());
}

Co<void> Link::close() {
  co_await scope_.close();
}

void Link::hurry() {
  hurry_ = true;
  stirred_.notify_all();
}

void Link::become(LinkState state, std::string why) {
  bool const fresh = state != state_;
  if (!fresh && why == why_) return;
  // Lost is told from when it was last heard.
  if (fresh) since_ = host_.runtime().unix_time();
  state_ = state;
  why_ = std::move(why);
  changed_();
}

Co<void> Link::run() {
  auto& runtime = host_.runtime();
  Duration wait = kFirstWait;
  for (;;) {
    heard_ = false;
    auto const ended = co_await talk();
    talk_.reset();
    for (auto& [id, given] : given_)
      if (!given.answer) given.answer = Error{Errc::closed, "the connection was lost meanwhile"};
    if (scope_.cancelled()) {
      stirred_.notify_all();
      co_return;
    }
    auto const why = ended ? std::string("it ended the conversation") : ended.error().detail;
    bool const no = !ended && ended.error().code == Errc::refused;
    if (no)
      become(LinkState::refused, why);
    else if (snapshot_)
      become(LinkState::lost, why);
    else
      become(LinkState::connecting, why);
    stirred_.notify_all();
    if (heard_) wait = kFirstWait;
    auto const until = runtime.now() + (no ? kLongestWait : wait);
    while (!hurry_ && runtime.now() < until) {
      auto const woken = co_await stirred_.wait(until);
      if (!woken && woken.error().code == Errc::cancelled) co_return;
    }
    hurry_ = false;
    wait = std::min(wait * 2, kLongestWait);
  }
}

Co<Status> Link::talk() {
  auto& runtime = host_.runtime();
  auto const now = std::make_shared<Talk>(runtime);
  WAGGLE_CO_TRY(now->stream,
                co_await host_.open(contact_.peer, kProtocol, runtime.now() + kOpenTime));
  Request hello = Hello{};
  now->outbox.push(encode(hello));
  talk_ = now;
  Scope scope(runtime);
  scope.spawn("control write", write(now));
  scope.spawn("control pulse", pulse(now));
  auto ended = co_await listen(now);
  now->outbox.drop();
  co_await scope.close();
  co_return ended;
}

Co<void> Link::write(std::shared_ptr<Talk> talk) {
  co_await talk->outbox.run(*talk->stream);
}

Co<void> Link::pulse(std::shared_ptr<Talk> talk) {
  for (;;) {
    auto const slept = co_await host_.runtime().sleep_for(kSilence / 3);
    if (!slept) co_return;
    auto const room = co_await talk->outbox.room(1);
    if (!room) co_return;
    talk->outbox.push(encode(Request(Ping{})));
  }
}

Co<Status> Link::listen(std::shared_ptr<Talk> talk) {
  auto& runtime = host_.runtime();
  for (;;) {
    auto const frame =
        co_await net::read_frame(*talk->stream, kMaxReplyBytes, runtime.now() + kSilence);
    if (!frame) {
      if (frame.error().code == Errc::timeout)
        co_return Error{Errc::timeout, cat("nothing heard for ", to_seconds(kSilence), " s")};
      co_return frame.error();
    }
    WAGGLE_CO_TRY(auto reply, decode_reply(*frame));
    WAGGLE_CO_TRY_STATUS(take(*talk, std::move(reply)));
  }
}

Status Link::take(Talk& talk, Reply reply) {
  if (auto const* const said = std::get_if<Refusal>(&reply)) return refusal(*said);
  if (auto const* const welcome = std::get_if<Welcome>(&reply)) {
    if (talk.welcome) return out_of_turn();
    talk.welcome = true;
    heard_ = true;
    contact_.right = welcome->right;
    talk.outbox.push(encode(Request(Next{})));
    stirred_.notify_all();
    changed_();
    return ok();
  }
  if (!talk.welcome) return out_of_turn();
  if (auto const* const view = std::get_if<View>(&reply)) {
    WAGGLE_TRY(auto const json, unpack(*view));
    WAGGLE_TRY(auto snapshot, snapshot_from_json(json));
    snapshot_ = std::make_shared<Snapshot const>(std::move(snapshot));
    talk.outbox.push(encode(Request(Next{})));
    if (state_ == LinkState::watching)
      changed_();
    else
      become(LinkState::watching, {});
    return ok();
  }
  if (auto const* const answer = std::get_if<Answer>(&reply)) {
    auto const at = given_.find(answer->id);
    if (at == given_.end()) return ok();  // its giver no longer waits
    at->second.answer = answer->done ? ok() : Status(Error{Errc::refused, answer->words});
    stirred_.notify_all();
    return ok();
  }
  return std::holds_alternative<Pong>(reply) ? ok() : Status(out_of_turn());
}

Co<Status> Link::give(Command command, TimePoint deadline) {
  if (given_.size() >= kMaxOrders)
    co_return Error{Errc::refused, cat(kMaxOrders, " commands are under way already")};
  hurry();
  while (!talk_ || !talk_->welcome) {
    // Without hope as long as nobody decides otherwise there.
    if (state_ == LinkState::refused && !hurry_ && !talk_) co_return Error{Errc::refused, why_};
    auto const waited = co_await stirred_.wait(deadline);
    if (!waited && waited.error().code == Errc::timeout)
      co_return Error{Errc::timeout,
                      cat(contact_.name, " does not answer", why_.empty() ? "" : ": ", why_)};
    if (!waited) co_return waited.error();
  }
  auto const id = next_id_++;
  given_.try_emplace(id);
  talk_->outbox.push(encode(Request(Order{id, command.to_json()})));
  for (;;) {
    auto const at = given_.find(id);
    if (at->second.answer) {
      auto answer = *std::move(at->second.answer);
      given_.erase(at);
      co_return answer;
    }
    auto const waited = co_await stirred_.wait(deadline);
    if (waited) continue;
    given_.erase(id);
    if (waited.error().code == Errc::timeout)
      co_return Error{Errc::timeout, cat(contact_.name, " did not answer in time")};
    co_return waited.error();
  }
}

}  // namespace waggle::node::control
