// SPDX-License-Identifier: MIT
#include "core/averaging/state_native.hpp"

#include <algorithm>

#include "core/averaging/messages.hpp"
#include "core/averaging/proto/averaging.pb.h"
#include "core/base/text.hpp"

namespace waggle::averaging::native {

namespace {

constexpr std::size_t kMaxTensors = 100'000;

std::string text(ByteView bytes) {
  return std::string(as_text(bytes));
}

Bytes serialized(google::protobuf::MessageLite const& message) {
  Bytes out(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(as_u8(MutableBytes(out)));
  return out;
}

bool same_shapes(Schema const& a, Schema const& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](TensorSpec const& x, TensorSpec const& y) {
        return x.shape == y.shape;
      });
}

// What one host serves under the protocol's one name. The network thread's, like its host.
struct Services {
  std::map<std::string, std::pair<Find, Duration>> by_prefix;
  std::map<PeerId, std::size_t> downloads;
  std::size_t total = 0;
  net::Registration registration;
};

std::map<net::Host*, std::weak_ptr<Services>>& registry() {
  thread_local std::map<net::Host*, std::weak_ptr<Services>> services;
  return services;
}

Co<void> send_state(net::Incoming& incoming,
                    Served served,
                    std::uint64_t offset,
                    Runtime& runtime,
                    Duration patience) {
  auto const bytes = std::as_bytes(std::span(served.snapshot->values));
  for (auto at = static_cast<std::size_t>(offset); at < bytes.size(); at += kPieceBytes) {
    auto const piece = bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at));
    auto const written = co_await incoming.stream->write(piece, runtime.now() + patience);
    if (!written) co_return;
  }
  auto const closed = co_await incoming.stream->close_write(runtime.now() + patience);
  if (!closed) co_return;
  // Until the reader is done: our leaving would reset what it has not read yet.
  std::array<std::byte, 1> byte{};
  (void)co_await incoming.stream->read_some(byte, runtime.now() + patience);
}

Co<void> serve_one(std::shared_ptr<Services> services, Runtime& runtime, net::Incoming incoming) {
  auto const raw = co_await net::read_frame(
      *incoming.stream, kMaxRequestBytes, runtime.now() + std::chrono::seconds(15));
  if (!raw) co_return;
  auto const request = parse_request(*raw);
  if (!request) {
    incoming.stream->reset();
    co_return;
  }
  auto const service = services->by_prefix.find(request->prefix);
  Served served;
  Header header;
  Duration patience = std::chrono::seconds(15);
  if (service == services->by_prefix.end()) {
    header.status = StateStatus::none;
    header.reason = "no such task here";
  } else if (services->total >= kMaxDownloads ||
             services->downloads[incoming.remote] >= kMaxDownloadsPerPeer) {
    header.status = StateStatus::busy;
    header.reason = cat(services->total, " downloads are running");
  } else {
    patience = service->second.second;
    auto answered = answer(*request, service->second.first());
    served = std::move(answered.first);
    header = std::move(answered.second);
  }
  ++services->total;
  ++services->downloads[incoming.remote];
  auto const bytes = encode(header);
  auto const written = co_await net::write_frame(*incoming.stream, bytes, runtime.now() + patience);
  if (written && header.status == StateStatus::ok)
    co_await send_state(incoming, std::move(served), header.offset, runtime, patience);
  --services->total;
  if (--services->downloads[incoming.remote] == 0) services->downloads.erase(incoming.remote);
}

}  // namespace

Bytes encode(Request const& request) {
  pb::StateRequest out;
  out.set_epoch(request.epoch);
  out.set_offset(request.offset);
  out.set_state_hash(text(request.state_hash));
  out.set_prefix(request.prefix);
  return serialized(out);
}

Result<Request> parse_request(ByteView bytes) {
  pb::StateRequest in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error{Errc::malformed, "no StateRequest"};
  return Request{in.epoch(), in.offset(), to_bytes(in.state_hash()), in.prefix()};
}

Bytes encode(Header const& header) {
  pb::StateHeader out;
  out.set_status(static_cast<std::int32_t>(header.status));
  out.set_reason(header.reason);
  out.set_epoch(header.epoch);
  for (auto const& tensor : header.schema) {
    auto* const t = out.add_schema();
    for (auto const dim : tensor.shape) t->add_size(dim);
    t->set_requires_grad(tensor.requires_grad);
  }
  out.set_optimizer_metadata(text(header.optimizer_metadata));
  out.set_has_test_loss(header.test_loss.has_value());
  out.set_test_loss(header.test_loss.value_or(0));
  out.set_total_bytes(header.total_bytes);
  out.set_state_hash(text(header.state_hash));
  out.set_offset(header.offset);
  return serialized(out);
}

Result<Header> parse_header(ByteView bytes) {
  pb::StateHeader in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error{Errc::malformed, "no StateHeader"};
  if (in.status() < 0 || in.status() > 3)
    return Error{Errc::malformed, cat("state status ", in.status())};
  if (static_cast<std::size_t>(in.schema_size()) > kMaxTensors)
    return Error{Errc::too_large, cat(in.schema_size(), " tensors, at most ", kMaxTensors)};
  Header header;
  header.status = static_cast<StateStatus>(in.status());
  header.reason = in.reason().substr(0, 256);
  header.epoch = in.epoch();
  for (auto const& t : in.schema()) {
    if (static_cast<std::size_t>(t.size_size()) > kMaxTensorDims)
      return Error{Errc::malformed, "tensor dimensions"};
    header.schema.push_back({{t.size().begin(), t.size().end()}, t.requires_grad()});
  }
  header.optimizer_metadata = to_bytes(in.optimizer_metadata());
  if (in.has_test_loss()) header.test_loss = in.test_loss();
  header.total_bytes = in.total_bytes();
  header.state_hash = to_bytes(in.state_hash());
  header.offset = in.offset();
  return header;
}

std::pair<Served, Header> answer(Request const& request, std::vector<Served> const& states) {
  Header header;
  if (states.empty()) {
    header.status = StateStatus::none;
    header.reason = "no state yet";
    return {{}, std::move(header)};
  }
  auto const fits = [&](Served const& s) {
    if (request.epoch >= 0 && s.snapshot->epoch != request.epoch) return false;
    return request.offset == 0 || equal(s.hash, request.state_hash);
  };
  auto const found = std::find_if(states.begin(), states.end(), fits);
  if (found == states.end() || request.offset > found->snapshot->values.size() * sizeof(float)) {
    header.status = StateStatus::another_state;
    header.epoch = states.front().snapshot->epoch;
    header.reason = cat("the state is now of epoch ", header.epoch);
    return {{}, std::move(header)};
  }
  auto const& state = *found->snapshot;
  header.epoch = state.epoch;
  header.schema = state.schema;
  header.optimizer_metadata = state.optimizer_metadata.encode();
  if (state.has_test_loss) header.test_loss = state.test_loss;
  header.total_bytes = state.values.size() * sizeof(float);
  header.state_hash = to_bytes(ByteView(found->hash));
  header.offset = request.offset;
  return {*found, std::move(header)};
}

net::Registration serve(net::Host& host, std::string prefix, Find find, Duration patience) {
  auto& slot = registry()[&host];
  auto services = slot.lock();
  if (!services) {
    services = std::make_shared<Services>();
    slot = services;
    net::Handler handler = [weak = std::weak_ptr(services),
                            &runtime = host.runtime()](net::Incoming incoming) -> Co<void> {
      return serve_one(weak.lock(), runtime, std::move(incoming));
    };
    services->registration = host.serve(std::string(kProtocol), std::move(handler));
  }
  services->by_prefix.insert_or_assign(prefix, std::pair(std::move(find), patience));
  return net::Registration([services, prefix, at = &host] {
    services->by_prefix.erase(prefix);
    if (!services->by_prefix.empty()) return;
    services->registration.reset();
    registry().erase(at);
  });
}

Co<Status> fetch(net::Host& host,
                 PeerId donor,
                 Request request,
                 Schema const& schema,
                 Partial& into,
                 std::function<void(std::uint64_t, std::uint64_t)> const& progress,
                 Duration patience,
                 TimePoint deadline) {
  auto& runtime = host.runtime();
  auto const by = [&] { return std::min(deadline, runtime.now() + patience); };
  auto opened = co_await host.open(donor, kProtocol, by());
  if (!opened) {
    auto error = std::move(opened).error();
    if (error.code == Errc::not_found)
      error.code = Errc::closed;  // nobody there, which is not "no state"
    co_return std::move(error);
  }
  auto const stream = std::move(*opened);
  request.offset = into.done;
  if (into.header) request.state_hash = into.header->state_hash;
  auto const bytes = encode(request);
  auto const asked = co_await net::write_frame(*stream, bytes, by());
  if (!asked) co_return asked;
  auto const raw = co_await net::read_frame(*stream, kMaxHeaderBytes, by());
  if (!raw) co_return raw.error();
  auto header = parse_header(*raw);
  if (!header) co_return std::move(header).error();
  if (header->status != StateStatus::ok)
    co_return Error{Errc::not_found, cat("the donor says: ", header->reason)};
  auto const total = total_numel(schema) * sizeof(float);
  if (!same_shapes(header->schema, schema) || header->total_bytes != total || header->epoch < 0)
    co_return Error{Errc::malformed,
                    "its state belongs to another model than ours, under the same prefix"};
  if (header->offset != into.done || (into.header && header->state_hash != into.header->state_hash))
    co_return Error{Errc::malformed, "the donor does not resume where we asked"};
  into.header = *std::move(header);
  into.values.resize(total / sizeof(float));
  auto const all = std::as_writable_bytes(std::span(into.values));
  while (into.done < total) {
    auto const read =
        co_await stream->read_some(all.subspan(static_cast<std::size_t>(into.done)), by());
    if (!read) co_return read.error();
    if (*read == 0)
      co_return Error{Errc::closed,
                      cat("the donor ended after ", into.done, " of ", total, " bytes")};
    into.done += *read;
    if (progress) progress(into.done, total);
  }
  co_return ok();
}

}  // namespace waggle::averaging::native
