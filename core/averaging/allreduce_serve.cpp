// SPDX-License-Identifier: MIT
// Our end as a reducer: parts come in, sums become means, differences go out.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/averaging/detail/allreduce_state.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::averaging {

namespace {

constexpr Duration kWatchEvery = std::chrono::milliseconds(100);
// A member that we cannot reach and that has not come by then is gone.
constexpr Duration kUnreachableGrace = std::chrono::seconds(2);

}  // namespace

void AllReduce::ban(std::size_t sender, std::string const& why) {
  if (reducer_.banned(sender) || over_) return;
  reducer_.ban(sender);
  tell_lost(sender, cat("is no longer waited for: ", why));
  changed_.notify_all();
}

// Who is gone is so as a sender and as a reducer, and in the rounds that follow: one line is news.
void AllReduce::tell_lost(std::size_t member, std::string const& what) {
  auto const peer = crypto::short_text(group_->members[member]);
  if (std::exchange(senders_[member].told, true))
    log::debug("averaging", peer, ' ', what);
  else
    log::info("averaging", peer, ' ', what);
}

Co<Status> AllReduce::lock_part(std::size_t part) {
  while (busy_[part]) {
    auto const waited = co_await changed_.wait();
    if (!waited) co_return waited;
  }
  busy_[part] = true;
  co_return ok();
}

void AllReduce::unlock_part(std::size_t part) noexcept {
  busy_[part] = false;
  changed_.notify_all();
}

MessageCode AllReduce::refuse(net::rpc::ServerCall const& call, AveragingData const& first) const {
  if (!equal(first.group_id, group_->id)) return MessageCode::bad_group_id;
  if (cancelled_) return MessageCode::cancelled;
  if (over_) return MessageCode::internal_error;
  auto const sender = group_->position(call.caller());
  if (!sender || *sender == group_->self) return MessageCode::protocol_violation;
  if (first.code != MessageCode::part_for_averaging) return MessageCode::internal_error;
  if (senders_[*sender].opened || reducer_.banned(*sender)) return MessageCode::protocol_violation;
  return MessageCode::accepted;
}

Co<Status> AllReduce::serve(net::rpc::ServerCall& call, Bytes first) {
  auto const self = shared_from_this();
  auto const parsed = parse_averaging_data(first);
  auto const verdict = parsed ? refuse(call, *parsed) : MessageCode::protocol_violation;
  if (verdict != MessageCode::accepted) {
    auto const answer = averaging_message(verdict, group_->id);
    co_return co_await call.send(answer, {}, runtime_.now() + options_.sender_timeout);
  }
  auto const sender = *group_->position(call.caller());
  senders_[sender].opened = true;
  senders_[sender].call = &call;
  ++serving_;
  Status outcome = ok();
  {
    Scope reading(runtime_);
    reading.spawn("upload", read_upload(call, std::move(first), sender));
    outcome = co_await send_replies(call, sender);
    if (!outcome && !reducer_.banned(sender)) ban(sender, outcome.error().detail);
    co_await reading.close();
  }
  bytes_sent_ += call.bytes_sent();
  bytes_received_ += call.bytes_received();
  senders_[sender].unanswered.clear();
  senders_[sender].call = nullptr;
  --serving_;
  changed_.notify_all();
  co_return outcome;
}

Co<void> AllReduce::read_upload(net::rpc::ServerCall& call, Bytes first, std::size_t sender) {
  auto& from = senders_[sender];
  bool const client = fractions_[sender] == 0;
  for (std::size_t part = 0; part < reducer_.parts(); ++part) {
    auto const ahead = std::max<std::size_t>(1, options_.parts_in_flight);
    // Back-pressure: by the slowest member, and by our own replies if they are not read (a client
    // reads them last).
    while (part >= reducer_.frontier() + ahead ||
           (!client && from.unanswered.size() >= 2 * ahead)) {
      auto const waited = co_await changed_.wait();
      if (!waited || over_) co_return;
    }
    auto item = std::exchange(first, {});
    if (part > 0) {
      auto next = co_await call.receive(runtime_.now() + options_.sender_timeout);
      if (!next && next.error().code == Errc::cancelled) co_return;
      if (!next || !*next) {
        ban(sender,
            next ? cat("sent ", part, " of ", reducer_.parts(), " parts") : next.error().detail);
        co_return;
      }
      item = *std::move(*next);
    }
    auto const taken = co_await take_part(std::move(item), sender, part);
    if (!taken) {
      if (taken.error().code != Errc::cancelled) ban(sender, taken.error().detail);
      co_return;
    }
  }
  from.uploaded = true;
  changed_.notify_all();
}

Co<Status> AllReduce::take_part(Bytes item, std::size_t sender, std::size_t part) {
  auto const numel = reducer_.numel(part);
  auto parsed = parse_averaging_data(item);
  if (!parsed) co_return std::move(parsed).error();
  if (!parsed->tensor) co_return Error{Errc::malformed, cat("part ", part, " has no tensor")};
  auto const& tensor = *parsed->tensor;
  if (tensor.numel() != numel ||
      tensor.buffer.size() != compress::encoded_size(tensor.compression, numel))
    co_return Error{Errc::malformed,
                    cat("part ",
                        part,
                        " should have ",
                        numel,
                        " values, has ",
                        tensor.buffer.size(),
                        " bytes")};
  auto const weight = parsed->weight;
  auto const& peer = group_->members[sender];
  auto const limit = options_.weight_limit ? options_.weight_limit(peer) : 3e38;
  if (!std::isfinite(weight) || weight < 0 || weight > limit) {
    senders_[sender].refused = true;
    co_return Error{Errc::refused, cat("weight ", weight, ", allowed are 0 to ", limit)};
  }
  Sent sent{Recycled(std::move(item)),
            tensor.buffer,
            tensor.compression};  // the heap block, and so the view, stays

  auto locked = co_await lock_part(part);
  if (!locked) co_return locked;
  if (over_ || reducer_.banned(sender)) {
    unlock_part(part);
    co_return Error{Errc::cancelled, "banned meanwhile"};
  }
  auto add = [this, part, weight, codec = sent.codec, buffer = sent.buffer] {
    return reducer_.add(part, codec, buffer, weight);
  };
  auto const added = co_await on(compute_, runtime_, std::move(add));
  if (added) {
    reducer_.counted(part, sender, weight);
    senders_[sender].weight = weight;
    senders_[sender].unanswered.push_back(std::move(sent));
  }
  unlock_part(part);
  co_return added;
}

Co<Status> AllReduce::send_replies(net::rpc::ServerCall& call, std::size_t sender) {
  auto& from = senders_[sender];
  bool const client = fractions_[sender] == 0;
  for (std::size_t part = 0; part < reducer_.parts(); ++part) {
    while (
        !(part < reducer_.frontier() && !from.unanswered.empty() && (!client || from.uploaded))) {
      if (reducer_.banned(sender)) co_return Error{Errc::refused, "banned from this round"};
      if (cancelled_) co_return Error{Errc::closed, "this round was left"};
      auto waited = co_await changed_.wait();
      if (!waited) co_return waited;
    }
    auto const sent = std::make_shared<Sent>(std::move(from.unanswered.front()));
    from.unanswered.pop_front();
    changed_.notify_all();
    // Plain values become their reply where they lie; others are encoded anew.
    bool const in_place = sent->codec == compress::CompressionType::none;
    auto const size = compress::encoded_size(sent->codec, reducer_.numel(part));
    auto buffer = std::make_shared<Recycled>(in_place ? Bytes() : take_buffer(size));
    auto encode = [this, part, sent, buffer, in_place] {
      if (in_place) return reducer_.reply_in_place(part, sent->writable());
      return reducer_.reply(part, sent->codec, sent->buffer, buffer->bytes);
    };
    auto const encoded = co_await on(compute_, runtime_, std::move(encode));
    if (!encoded) co_return encoded;
    TensorHeader header;
    header.size = {static_cast<std::uint32_t>(reducer_.numel(part))};
    header.compression = sent->codec;
    ByteView tail = buffer->bytes;
    if (in_place) tail = sent->buffer;
    auto const head = averaging_head(MessageCode::averaged_part, {}, 0, header, tail.size());
    auto const out = co_await call.send(head, tail, runtime_.now() + options_.reducer_timeout);
    if (!out) co_return out;
    values_sent_ += reducer_.numel(part);
  }
  co_return ok();
}

Co<void> AllReduce::contribute_own(std::span<float const> values, double weight) {
  for (std::size_t part = 0; part < mine_.size(); ++part) {
    while (part >= reducer_.frontier() + std::max<std::size_t>(1, options_.parts_in_flight)) {
      auto const waited = co_await changed_.wait();
      if (!waited) co_return;
    }
    auto const& where = partition_.parts[mine_[part]];
    auto const slice = values.subspan(where.offset, where.numel);
    auto const locked = co_await lock_part(part);
    if (!locked) co_return;
    auto add = [this, part, slice, weight] { reducer_.add_own(part, slice, weight); };
    co_await on(compute_, runtime_, std::move(add));
    reducer_.counted(part, group_->self, weight);
    unlock_part(part);
  }
}

Co<void> AllReduce::finish_parts(std::span<float> values) {
  while (!reducer_.done()) {
    auto const part = reducer_.frontier();
    if (!reducer_.ready() || busy_[part]) {
      auto const waited = co_await changed_.wait();
      if (!waited) co_return;
      continue;
    }
    auto const& where = partition_.parts[mine_[part]];
    auto const slice = values.subspan(where.offset, where.numel);
    busy_[part] = true;
    auto finish = [this, part, slice] {
      reducer_.finish(part);
      auto const mean = reducer_.average(part);
      std::copy(mean.begin(), mean.end(), slice.begin());
      return !mean.empty();
    };
    bool const averaged = co_await on(compute_, runtime_, std::move(finish));
    if (averaged) averaged_elements_ += where.numel;
    reducer_.advance();
    unlock_part(part);
  }
  own_done_ = true;
  changed_.notify_all();
}

Co<void> AllReduce::watch_senders() {
  while (!reducer_.done() && !over_) {
    auto const slept = co_await runtime_.sleep_for(kWatchEvery);
    if (!slept) co_return;
    auto const now = runtime_.now();
    auto const missing = reducer_.missing();
    std::size_t remote = 0;
    for (std::size_t s = 0; s < senders_.size(); ++s)
      remote += s != group_->self && !reducer_.banned(s) ? 1 : 0;
    for (auto const s : missing) {
      auto& sender = senders_[s];
      if (s == group_->self) continue;
      if (!sender.opened) {
        if (sender.absent)
          ban(s, "is not in this round");
        else if (now - started_at_ > options_.sender_timeout)
          ban(s, "did not come");
        else if (sender.unreachable_since && now - *sender.unreachable_since > kUnreachableGrace &&
                 !host_.connected(group_->members[s]))
          ban(s, "cannot be reached");
        continue;
      }
      if (2 * missing.size() > remote)
        continue;  // everybody is as slow: nobody waits for this one alone
      sender.lag += kWatchEvery;
      if (sender.lag > options_.sender_timeout && sender.lag > (now - started_at_) - sender.lag)
        ban(s, cat("made the others wait for ", to_seconds(sender.lag), " s"));
    }
  }
}

}  // namespace waggle::averaging
