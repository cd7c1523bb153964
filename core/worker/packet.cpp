// SPDX-License-Identifier: MIT
#include "core/worker/packet.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/base/text.hpp"
#include "core/worker/messages.hpp"

namespace waggle::worker {
namespace {

constexpr std::size_t kControl = CMSG_SPACE(kMaxDescriptors * sizeof(int));
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Error system(char const* what) {
  return {Errc::io, cat(what, ": ", std::strerror(errno))};
}

}  // namespace

Status send_packet(int socket, ByteView bytes, std::span<int const> descriptors) {
  if (descriptors.size() > kMaxDescriptors)
    return Error{Errc::too_large, cat(descriptors.size(), " descriptors, limit ", kMaxDescriptors)};
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[kControl] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    auto const sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(bytes.size())) return ok();
    if (sent < 0 && errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return Error{Errc::closed, "trainer socket"};
    return system("trainer socket");
  }
}

Result<Packet> receive_packet(int socket) {
  Packet packet;
  packet.bytes.resize(kMaxMessage);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) char control[kControl];
  msghdr message{};
  ssize_t got = -1;
  do {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return Error{Errc::timeout, "trainer socket"};
  if (got < 0 && errno == ECONNRESET) return Error{Errc::closed, "trainer socket"};
  if (got < 0) return system("trainer socket");
  for (auto* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    auto const count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof fd);
      packet.descriptors.emplace_back(fd);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return Error{Errc::malformed, "trainer message cut off"};
  if (got == 0) return Error{Errc::closed, "trainer socket"};
  packet.bytes.resize(static_cast<std::size_t>(got));
  return packet;
}

Result<Fd> make_memory(char const* name, std::size_t size) {
  Fd memory(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return system("memfd_create");
  if (::ftruncate(memory.get(), static_cast<off_t>(size)) != 0)
    return system("memory for the trainer");
  if (::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return system("sealing memory");
  return memory;
}

Result<Mapping> Mapping::map(int memory, std::size_t values) {
  Mapping out;
  if (values == 0) return out;

  struct stat info {};

  auto const size = values * sizeof(float);
  if (::fstat(memory, &info) != 0 || info.st_size < static_cast<off_t>(size) ||
      (::fcntl(memory, F_GET_SEALS) & F_SEAL_SHRINK) == 0)
    return Error{Errc::malformed, cat("memory file shorter than ", size, " bytes, or not sealed")};
  auto* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (at == MAP_FAILED) return system("mapping memory");
  out.values_ = {static_cast<float*>(at), values};
  return out;
}

Mapping::~Mapping() {
  if (!values_.empty()) ::munmap(values_.data(), values_.size_bytes());
}

Mapping::Mapping(Mapping&& other) noexcept : values_(std::exchange(other.values_, {})) {
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(values_, other.values_);
  return *this;
}

}  // namespace waggle::worker
