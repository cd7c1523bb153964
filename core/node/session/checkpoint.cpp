// SPDX-License-Identifier: MIT
#include "core/node/session/checkpoint.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/store/checkpoint_files.hpp"

namespace waggle::node {
namespace {

using wire::Msgpack;

constexpr std::string_view kMagic = "WGLS";
constexpr std::uint8_t kFormat = 1;
constexpr std::size_t kHeader = 4 + 1 + 4;  // magic, format, length of the msgpack
constexpr std::uint64_t kMaxCheckpointBytes = 64ull << 30;

std::string hex_digest(ByteView content) {
  return to_hex(crypto::sha256(content));
}

store::CheckpointFiles files_of(Services& services) {
  return {services.store(), services.options().data_dir / "checkpoints", hex_digest};
}

Msgpack schema_to_msgpack(averaging::Schema const& schema) {
  Msgpack::Array tensors;
  for (auto const& tensor : schema) {
    Msgpack::Array shape;
    for (auto const d : tensor.shape) shape.emplace_back(d);
    Msgpack::Array pair;
    pair.emplace_back(std::move(shape));
    pair.emplace_back(tensor.requires_grad);
    tensors.emplace_back(std::move(pair));
  }
  return tensors;
}

Result<averaging::Schema> schema_from_msgpack(Msgpack const& value) {
  averaging::Schema schema;
  WAGGLE_TRY(auto const tensors, value.items());
  for (auto const& entry : tensors) {
    WAGGLE_TRY(auto const pair, entry.items());
    if (pair.size() != 2 || pair[1].get<bool>() == nullptr)
      return Error{Errc::malformed, "checkpoint: a tensor is [shape, requires_grad]"};
    WAGGLE_TRY(auto const shape, pair[0].items());
    averaging::TensorSpec spec{{}, *pair[1].get<bool>()};
    for (auto const& d : shape) {
      auto const size = d.integer();
      if (!size || *size < 0 || *size > (std::int64_t{1} << 32))
        return Error{Errc::malformed, "checkpoint: a dimension is out of range"};
      spec.shape.push_back(*size);
    }
    schema.push_back(std::move(spec));
  }
  return schema;
}

}  // namespace

Bytes encode_checkpoint(averaging::StateSnapshot const& state) {
  Msgpack::Map head;
  head.emplace_back("epoch", state.epoch);
  head.emplace_back("schema", schema_to_msgpack(state.schema));
  head.emplace_back("metadata", state.optimizer_metadata);
  if (state.has_test_loss) head.emplace_back("test_loss", state.test_loss);
  auto const encoded = Msgpack(std::move(head)).encode();
  Bytes file(kHeader + encoded.size() + 4 * state.values.size());
  std::memcpy(file.data(), kMagic.data(), kMagic.size());
  file[4] = std::byte{kFormat};
  store_be(MutableBytes(file).subspan(5), static_cast<std::uint32_t>(encoded.size()));
  std::copy(encoded.begin(), encoded.end(), file.begin() + kHeader);
  if (!state.values.empty())
    std::memcpy(
        file.data() + kHeader + encoded.size(), state.values.data(), 4 * state.values.size());
  return file;
}

Result<averaging::StateSnapshot> decode_checkpoint(ByteView file) {
  if (file.size() < kHeader || as_text(file.first(4)) != kMagic)
    return Error{Errc::malformed, "not a checkpoint file"};
  if (file[4] != std::byte{kFormat})
    return Error{
        Errc::malformed,
        cat("checkpoint format ", std::to_integer<int>(file[4]), ", this program reads ", kFormat)};
  auto const length = load_be<std::uint32_t>(file.subspan(5));
  if (length > file.size() - kHeader) return Error{Errc::malformed, "checkpoint: cut short"};
  WAGGLE_TRY(auto const head, Msgpack::decode(file.subspan(kHeader, length)));
  averaging::StateSnapshot state;
  auto const* const epoch = head.find("epoch");
  auto const* const schema = head.find("schema");
  auto const* const metadata = head.find("metadata");
  if (epoch == nullptr || !epoch->integer() || schema == nullptr || metadata == nullptr)
    return Error{Errc::malformed, "checkpoint: a field is missing"};
  state.epoch = *epoch->integer();
  WAGGLE_TRY(state.schema, schema_from_msgpack(*schema));
  state.optimizer_metadata = *metadata;
  if (auto const* const loss = head.find("test_loss"); loss != nullptr && loss->number()) {
    state.test_loss = *loss->number();
    state.has_test_loss = true;
  }
  auto const values = file.subspan(kHeader + length);
  if (values.size() % 4 != 0 || values.size() / 4 != averaging::total_numel(state.schema))
    return Error{Errc::malformed,
                 cat("checkpoint: ",
                     values.size(),
                     " bytes of values for ",
                     averaging::total_numel(state.schema),
                     " numbers")};
  state.values.resize(values.size() / 4);
  if (!values.empty()) std::memcpy(state.values.data(), values.data(), values.size());
  return state;
}

Co<Status> save_checkpoint(Services& services,
                           task::TaskRecord const& record,
                           std::shared_ptr<averaging::StateSnapshot const> state) {
  auto save = [&services,
               operator_id = record.operator_id,
               prefix = record.prefix,
               state = std::move(state),
               time = services.runtime().unix_time()]() -> Status {
    auto files = files_of(services);
    WAGGLE_TRY(
        auto const note,
        files.save(operator_id.bytes(), prefix, state->epoch, time, encode_checkpoint(*state)));
    (void)note;
    return ok();
  };
  co_return co_await on(services.disk(), services.runtime(), std::move(save));
}

Co<Result<std::optional<averaging::StateSnapshot>>> load_checkpoint(Services& services,
                                                                    PeerId operator_id,
                                                                    std::string prefix) {
  using Loaded = std::pair<averaging::StateSnapshot, std::string>;
  auto load = [&services, operator_id, prefix]() -> Result<Loaded> {
    auto files = files_of(services);
    (void)files.sweep(operator_id.bytes(), prefix);
    WAGGLE_TRY(auto const newest, files.newest(operator_id.bytes(), prefix));
    WAGGLE_TRY(auto const content, read_file(newest.path, kMaxCheckpointBytes));
    WAGGLE_TRY(auto state, decode_checkpoint(content));
    return Loaded{std::move(state), newest.notice};
  };
  auto loaded = co_await on(services.disk(), services.runtime(), std::move(load));
  if (!loaded && loaded.error().code == Errc::not_found)
    co_return std::optional<averaging::StateSnapshot>{};
  if (!loaded) co_return std::move(loaded).error();
  if (!loaded->second.empty()) services.notice(loaded->second);
  co_return std::optional<averaging::StateSnapshot>(std::move(loaded->first));
}

}  // namespace waggle::node
