// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/fd.hpp"

namespace waggle::worker {

struct Packet {
  Bytes bytes;
  std::vector<Fd> descriptors;
};

/// One packet with its descriptors over a SOCK_SEQPACKET socket. Retries on EINTR, never raises
/// SIGPIPE. Errors: closed (the other end is gone), io (EAGAIN of a non-blocking socket included).
[[nodiscard]] Status send_packet(int socket, ByteView bytes, std::span<int const> descriptors);

/// Received descriptors are close-on-exec. Errors: closed (end), timeout (nothing there, of a
/// non-blocking socket), malformed (cut off: larger than kMaxMessage or too many descriptors), io.
[[nodiscard]] Result<Packet> receive_packet(int socket);

/// An anonymous memory file of `size` bytes, sealed against growing and shrinking: whoever shares
/// it cannot make us fault. Errors: io.
[[nodiscard]] Result<Fd> make_memory(char const* name, std::size_t size);

/// A shared mapping of a memory file; unmapped with it.
class Mapping {
 public:
  Mapping() = default;
  /// Maps `values` floats; nothing for 0. Errors: io, malformed (the file is too short or not
  /// sealed).
  [[nodiscard]] static Result<Mapping> map(int memory, std::size_t values);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  [[nodiscard]] std::span<float> values() const noexcept { return values_; }

 private:
  std::span<float> values_;
};

}  // namespace waggle::worker
