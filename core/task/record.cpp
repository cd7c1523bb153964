// SPDX-License-Identifier: MIT
#include "core/task/record.hpp"

#include <cmath>
#include <set>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/task/proto/record.pb.h"
#include "core/wire/envelope.hpp"
#include "core/wire/utf8.hpp"

namespace waggle::task {
namespace {

constexpr std::string_view kDomain = "waggle-record";
constexpr std::string_view kPayloadType = "waggle/task/1";
// A task names its files twice over at most, and its weights.
constexpr int kMaxBlobs = 1024;
constexpr std::size_t kMaxBlobName = 256;

/// A relative path of plain names: it becomes a place below a folder of ours.
bool valid_blob_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxBlobName || !wire::is_utf8(name)) return false;
  for (char const c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') return false;
  while (true) {
    auto const slash = name.find('/');
    auto const part = name.substr(0, slash);
    if (part.empty() || part.front() == '.') return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

Result<TaskRecord> from_payload(ByteView payload) {
  pb::TaskRecord message;
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return Error{Errc::malformed, "task record: no protobuf"};
  if (!valid_prefix(message.prefix())) return Error{Errc::malformed, "task record: bad prefix"};
  if (!std::isfinite(message.valid_until()) || message.valid_until() < 0)
    return Error{Errc::malformed, "task record: bad valid_until"};
  if (message.blobs_size() > kMaxBlobs)
    return Error{Errc::too_large,
                 cat("task record: ", message.blobs_size(), " blobs, at most ", kMaxBlobs)};
  TaskRecord record;
  record.prefix = message.prefix();
  record.version = message.version();
  record.valid_until = message.valid_until();
  record.toml = message.toml();
  record.ended = message.ended();
  std::set<std::string_view> names;
  for (auto const& blob : message.blobs()) {
    BlobRef ref;
    if (!valid_blob_name(blob.name()) || !names.insert(blob.name()).second)
      return Error{Errc::malformed, "task record: a bad or repeated blob name"};
    if (blob.id().size() != ref.id.hash.size())
      return Error{Errc::malformed, "task record: bad blob id"};
    if (blob.size() > blob::kMaxBlobBytes)
      return Error{
          Errc::too_large,
          cat("task record: a blob of ", blob.size(), " bytes, at most ", blob::kMaxBlobBytes)};
    ref.name = blob.name();
    std::memcpy(ref.id.hash.data(), blob.id().data(), ref.id.hash.size());
    ref.size = blob.size();
    record.blobs.push_back(std::move(ref));
  }
  return record;
}

}  // namespace

Bytes TaskRecord::seal(crypto::Identity const& operator_key) const {
  pb::TaskRecord message;
  message.set_prefix(prefix);
  message.set_version(version);
  message.set_valid_until(valid_until);
  message.set_toml(toml);
  message.set_ended(ended);
  for (auto const& blob : blobs) {
    auto* out = message.add_blobs();
    out->set_name(blob.name);
    out->set_id(blob.id.hash.data(), blob.id.hash.size());
    out->set_size(blob.size);
  }
  return wire::Envelope::seal(
      operator_key, kDomain, as_bytes(kPayloadType), as_bytes(message.SerializeAsString()));
}

Result<TaskRecord> TaskRecord::open_any(ByteView envelope) {
  if (envelope.size() > kMaxBytes)
    return Error{Errc::too_large,
                 cat("task record of ", envelope.size(), " bytes, at most ", kMaxBytes)};
  WAGGLE_TRY(auto const opened, wire::Envelope::open(envelope, kDomain, as_bytes(kPayloadType)));
  WAGGLE_TRY(auto record, from_payload(opened.payload));
  record.operator_id = opened.signer.peer_id();
  return record;
}

Result<TaskRecord> TaskRecord::open(ByteView envelope,
                                    PeerId const& expected,
                                    std::string_view prefix) {
  WAGGLE_TRY(auto record, open_any(envelope));
  if (record.operator_id != expected)
    return Error{Errc::refused,
                 cat("task record of ",
                     prefix,
                     ": signed by ",
                     crypto::to_text(record.operator_id),
                     ", not by ",
                     crypto::to_text(expected))};
  if (record.prefix != prefix)
    return Error{Errc::refused, cat("task record of ", record.prefix, ", not of ", prefix)};
  return record;
}

std::string TaskRecord::key_text(PeerId const& operator_id, std::string_view prefix) {
  return cat("waggle/task/", crypto::to_text(operator_id), "/", prefix);
}

}  // namespace waggle::task
