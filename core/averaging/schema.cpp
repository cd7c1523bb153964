// SPDX-License-Identifier: MIT
#include "core/averaging/schema.hpp"

#include "core/base/text.hpp"
#include "core/wire/msgpack.hpp"

namespace waggle::averaging {

namespace {

std::string torch_size(std::vector<std::int64_t> const& shape) {
  std::string text = "torch.Size([";
  for (std::size_t i = 0; i < shape.size(); ++i) text += cat(i == 0 ? "" : ", ", shape[i]);
  return text + "])";
}

}  // namespace

std::size_t total_numel(Schema const& schema) noexcept {
  std::size_t total = 0;
  for (auto const& tensor : schema) total += tensor.numel();
  return total;
}

crypto::Sha1 schema_hash(Schema const& schema) {
  wire::Msgpack::Array tensors;
  for (auto const& tensor : schema) {
    wire::Msgpack::Map description;
    auto const put = [&](char const* key, std::string value) {
      description.emplace_back(wire::Msgpack(key), wire::Msgpack(std::move(value)));
    };
    put("size", torch_size(tensor.shape));
    put("dtype", "torch.float32");
    put("layout", "torch.strided");
    put("device", "cpu");
    put("requires_grad", tensor.requires_grad ? "True" : "False");
    put("pin_memory", "False");
    put("compression", "0");
    tensors.emplace_back(std::move(description));
  }
  auto const encoded = wire::Msgpack(std::move(tensors)).encode();
  return crypto::sha1(encoded);
}

}  // namespace waggle::averaging
