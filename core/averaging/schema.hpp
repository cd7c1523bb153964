// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/compress/codec.hpp"
#include "core/crypto/hash.hpp"

namespace waggle::averaging {

/// One averaged float32 tensor, as far as its shape is part of the agreement between peers.
struct TensorSpec {
  std::vector<std::int64_t> shape;
  bool requires_grad = false;
  compress::TensorRole role = compress::TensorRole::unspecified;  ///< for the codec; not hashed

  [[nodiscard]] std::size_t numel() const noexcept {
    std::size_t n = 1;
    for (auto const d : shape) n *= static_cast<std::size_t>(d);
    return n;
  }

  friend bool operator==(TensorSpec const&, TensorSpec const&) = default;
};

/// The tensors of one averager, in the order in which they lie in its flat buffer.
using Schema = std::vector<TensorSpec>;

[[nodiscard]] std::size_t total_numel(Schema const& schema) noexcept;

/// hivemind's schema hash: SHA-1 over the msgpack of the tensors' descriptions. Order, shapes and
/// requires_grad count, names do not. Source: spec/hivemind-averaging.md section 2.2.
[[nodiscard]] crypto::Sha1 schema_hash(Schema const& schema);

}  // namespace waggle::averaging
