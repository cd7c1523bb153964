// SPDX-License-Identifier: MIT
// Our end as a member: the run itself and what we upload to other reducers. The reducer's end is in
// allreduce_serve.cpp.
#include "core/averaging/allreduce.hpp"

#include <algorithm>

#include "core/averaging/detail/allreduce_state.hpp"
#include "core/base/assert.hpp"

namespace waggle::averaging {

namespace {

// After the last reply: for the callee's own end, so that our leaving does not look like a
// cancelled call.
constexpr Duration kLastWord = std::chrono::seconds(2);

std::vector<std::size_t> numels_of(Partition const& partition,
                                   std::vector<std::size_t> const& parts) {
  std::vector<std::size_t> numels;
  for (auto const part : parts) numels.push_back(partition.parts[part].numel);
  return numels;
}

}  // namespace

AllReduce::AllReduce(net::Host& host,
                     Executor& compute,
                     AveragerOptions const& options,
                     std::shared_ptr<Group const> group,
                     std::vector<std::uint64_t> fractions)
    : host_(host),
      runtime_(host.runtime()),
      compute_(compute),
      options_(options),
      group_(std::move(group)),
      fractions_(std::move(fractions)),
      partition_(
          make_partition(options.schema, fractions_, options.part_bytes, options.compression)),
      mine_(partition_.by_peer[group_->self]),
      rpc_name_(cat(options.prefix, "::", options.class_name, ".rpc_aggregate_part")),
      reducer_(numels_of(partition_, mine_), group_->size()),
      senders_(group_->size()),
      busy_(mine_.size()),
      changed_(host.runtime()),
      excluded_(group_->size()) {
}

AllReduce::~AllReduce() = default;

void AllReduce::abandon() noexcept {
  if (over_) return;
  cancelled_ = true;
  over_ = true;
  changed_.notify_all();
}

void AllReduce::exclude(PeerId const& member) {
  auto const position = group_->position(member);
  if (!position || *position == group_->self || started_) return;
  excluded_[*position] = true;
  senders_[*position].absent = true;
  senders_[*position].told = true;  // by that round
  ban(*position, "it was not in the round before");
}

Co<Result<RoundReport>> AllReduce::run(std::span<float> values, double weight, TimePoint deadline) {
  WAGGLE_ASSERT(!started_ && values.size() == partition_.total,
                values.size(),
                " values, schema ",
                partition_.total);
  if (over_) co_return Error{Errc::cancelled, "this round was left"};
  auto check = [values] { return compress::all_finite(values); };
  bool const finite = co_await on(compute_, runtime_, std::move(check));
  if (over_) co_return Error{Errc::cancelled, "this round was left"};
  if (!finite) {
    co_await say_goodbye();
    abandon();
    co_return Error{Errc::invalid, "a value to average is not finite; nothing was sent"};
  }
  started_ = true;
  started_at_ = runtime_.now();
  senders_[group_->self].opened = true;
  senders_[group_->self].weight = weight;

  Scope scope(runtime_);
  scope.spawn("own parts", contribute_own(values, weight));
  scope.spawn("averages", finish_parts(values));
  if (!mine_.empty()) scope.spawn("senders", watch_senders());
  for (std::size_t r = 0; r < group_->size(); ++r) {
    if (r == group_->self || partition_.by_peer[r].empty()) continue;
    if (excluded_[r]) {
      failed_reducers_.push_back(group_->members[r]);
      continue;
    }
    ++exchanging_;
    scope.spawn("exchange", exchange(r, values, weight, deadline));
  }
  Status outcome = ok();
  while (outcome && !cancelled_ && (exchanging_ > 0 || !own_done_))
    outcome = co_await changed_.wait(deadline);
  bool const left = cancelled_;
  if (!outcome || left) abandon();
  co_await scope.close();
  over_ = true;
  changed_.notify_all();
  if (left && outcome) co_return Error{Errc::cancelled, "this round was left"};
  if (!outcome) {
    auto error = std::move(outcome).error();
    if (error.code == Errc::timeout)
      error.detail = cat("the all-reduce of ",
                         group_->size(),
                         " did not end in time: ",
                         exchanging_,
                         " reducers and ",
                         reducer_.parts() - reducer_.frontier(),
                         " own parts open");
    co_return std::move(error);
  }
  auto done = report();
  done.all_reduce = runtime_.now() - started_at_;
  co_return std::move(done);
}

RoundReport AllReduce::report() const {
  RoundReport report;
  report.group = group_->members;
  for (auto const& gather : group_->gathered) report.gathered.push_back(gather.user);
  for (std::size_t s = 0; s < senders_.size(); ++s) {
    report.weights.push_back(senders_[s].weight);
    if (reducer_.banned(s)) report.banned.push_back(group_->members[s]);
    if (senders_[s].refused) report.refused.push_back(group_->members[s]);
    if (auto const* const call = senders_[s].call) {
      report.bytes_sent += call->bytes_sent();
      report.bytes_received += call->bytes_received();
    }
  }
  report.failed_reducers = failed_reducers_;
  for (auto const& part : partition_.parts) {
    auto* const last = report.spans.empty() ? nullptr : &report.spans.back();
    if (last != nullptr && last->reducer == part.peer)
      last->numel += part.numel;
    else
      report.spans.push_back({part.offset, part.numel, part.peer});
  }
  report.fraction_averaged = partition_.total == 0 ? 1.0
                                                   : static_cast<double>(averaged_elements_) /
                                                         static_cast<double>(partition_.total);
  report.bytes_sent += bytes_sent_;
  report.bytes_received += bytes_received_;
  report.values_sent = values_sent_;
  return report;
}

Co<void> AllReduce::exchange(std::size_t reducer,
                             std::span<float> values,
                             double weight,
                             TimePoint deadline) {
  auto const peer = group_->members[reducer];
  auto const open_by = std::min(deadline, runtime_.now() + options_.sender_timeout);
  auto opened = co_await net::rpc::ClientCall::open(host_, peer, rpc_name_, open_by);
  Status outcome = ok();
  if (!opened) {
    outcome = std::move(opened).error();
    // Who does not serve this call (any more) will not come either.
    senders_[reducer].absent = outcome.error().code == Errc::refused;
    if (outcome.error().code != Errc::cancelled)
      senders_[reducer].unreachable_since = runtime_.now();
  } else {
    Upload upload(runtime_, **opened, reducer);
    {
      Scope scope(runtime_);
      scope.spawn("encode", encode_uploads(upload, values));
      scope.spawn("write", write_uploads(upload, values, weight, deadline));
      outcome = co_await read_replies(upload, values, deadline);
      if (!outcome) upload.call.reset();
      co_await scope.close();
    }
    if (outcome) {
      auto const last = std::min(deadline, runtime_.now() + kLastWord);
      (void)co_await upload.call.receive(last);
    }
    bytes_sent_ += upload.call.bytes_sent();
    bytes_received_ += upload.call.bytes_received();
  }
  if (!outcome && outcome.error().code != Errc::cancelled && !over_) {
    failed_reducers_.push_back(peer);
    tell_lost(reducer,
              cat("failed as a reducer, its parts keep local values: ", outcome.error().detail));
  }
  --exchanging_;
  changed_.notify_all();
}

Co<void> AllReduce::encode_uploads(Upload& upload, std::span<float const> values) {
  for (auto const index : partition_.by_peer[upload.reducer]) {
    auto const& part = partition_.parts[index];
    auto const slice = values.subspan(part.offset, part.numel);
    auto buffer = std::make_shared<Recycled>();
    // Plain values are sent from where they lie; that they are finite was checked at the start.
    if (part.codec != compress::CompressionType::none) {
      buffer->bytes = take_buffer(compress::encoded_size(part.codec, part.numel));
      auto encode = [slice, buffer, codec = part.codec] {
        return compress::encode(codec, slice, buffer->bytes);
      };
      auto encoded = co_await on(compute_, runtime_, std::move(encode));
      if (!encoded) {
        // Finite values that do not fit the codec's scale: this reducer's parts stay local.
        upload.call.reset();
        co_return;
      }
    }
    auto const queued = co_await upload.queue.send(std::move(buffer));
    if (!queued) co_return;
  }
  upload.queue.close();
}

Co<void> AllReduce::write_uploads(Upload& upload,
                                  std::span<float const> values,
                                  double weight,
                                  TimePoint deadline) {
  auto const& parts = partition_.by_peer[upload.reducer];
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto buffer = co_await upload.queue.receive();
    if (!buffer) co_return;
    auto const& part = partition_.parts[parts[i]];
    TensorHeader header;
    header.size = {static_cast<std::uint32_t>(part.numel)};
    header.compression = part.codec;
    ByteView tail = (*buffer)->bytes;
    if (part.codec == compress::CompressionType::none)
      tail = std::as_bytes(values.subspan(part.offset, part.numel));
    auto const code = i == 0 ? MessageCode::part_for_averaging : MessageCode::no_code;
    ByteView const group_id = i == 0 ? ByteView(group_->id) : ByteView();
    auto const head = averaging_head(code, group_id, weight, header, tail.size());
    auto const sent = co_await upload.call.send(head, tail, deadline);
    if (!sent) co_return;
    values_sent_ += part.numel;
    ++upload.sent;
    upload.changed.notify_all();
  }
  auto const finished = co_await upload.call.finish(deadline);
  if (!finished) co_return;
  upload.written = true;
  upload.changed.notify_all();
}

Co<Status> AllReduce::read_replies(Upload& upload, std::span<float> values, TimePoint deadline) {
  // A client reads nothing before all is sent: its reducers hold replies back until then.
  bool const client = fractions_[group_->self] == 0;
  auto const& parts = partition_.by_peer[upload.reducer];
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto const& part = partition_.parts[parts[i]];
    // Without a bound beyond the round's: the write side itself notices a dead call.
    while (client && !upload.written && !upload.failed) {
      auto const waited = co_await upload.changed.wait(
          std::min(deadline, runtime_.now() + options_.reducer_timeout));
      if (!waited) co_return waited;
    }
    auto item =
        co_await upload.call.receive(std::min(deadline, runtime_.now() + options_.reducer_timeout));
    if (!item) co_return std::move(item).error();
    if (!*item)
      co_return Error{Errc::closed, cat("ended after ", i, " of ", parts.size(), " replies")};
    // An answer to a part that is still being encoded or sent would change what is read there.
    while (upload.sent <= i) {
      auto const waited = co_await upload.changed.wait(deadline);
      if (!waited) co_return waited;
    }
    Recycled const reply(std::move(**item));
    auto parsed = parse_averaging_data(reply.bytes);
    if (!parsed) co_return std::move(parsed).error();
    if (parsed->code == MessageCode::bad_group_id || parsed->code == MessageCode::cancelled)
      senders_[upload.reducer].absent = true;
    if (parsed->code != MessageCode::averaged_part)
      co_return Error{Errc::refused, cat("answers ", name(parsed->code))};
    if (!parsed->tensor || parsed->tensor->numel() != part.numel)
      co_return Error{Errc::malformed, cat("a reply does not have ", part.numel, " values")};
    auto const slice = values.subspan(part.offset, part.numel);
    auto apply = [slice, codec = parsed->tensor->compression, buffer = parsed->tensor->buffer] {
      return compress::decode_accumulate(codec, buffer, 1.0F, slice);
    };
    auto const applied = co_await on(compute_, runtime_, std::move(apply));
    if (!applied) co_return applied;
    averaged_elements_ += part.numel;
  }
  co_return ok();
}

Co<void> AllReduce::say_goodbye() {
  // A first part of the wrong shape gets us banned at once, by hivemind's rules too.
  Bytes const goodbye =
      averaging_head(MessageCode::part_for_averaging, group_->id, 0, TensorHeader{{0}}, 0);
  auto const deadline = runtime_.now() + kLastWord;
  for (std::size_t r = 0; r < group_->size(); ++r) {
    if (r == group_->self || partition_.by_peer[r].empty()) continue;
    auto opened =
        co_await net::rpc::ClientCall::open(host_, group_->members[r], rpc_name_, deadline);
    if (!opened) {
      if (opened.error().code == Errc::cancelled) co_return;
      continue;
    }
    auto const sent = co_await (*opened)->send(goodbye, deadline);
    if (!sent) continue;
    auto const finished = co_await (*opened)->finish(deadline);
    if (finished) (void)co_await (*opened)->receive(deadline);
  }
}

}  // namespace waggle::averaging
