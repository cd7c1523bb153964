// SPDX-License-Identifier: MIT
#include "core/node/api/detail/socket_path.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/un.h>

#include "core/base/text.hpp"

namespace waggle::node::detail {
namespace {

constexpr std::size_t kMost = sizeof(sockaddr_un::sun_path) - 1;

}  // namespace

Result<SocketPath> SocketPath::of(std::filesystem::path const& path) {
  SocketPath out{{}, path.string()};
  if (out.text.size() <= kMost) return out;
  auto const parent = path.parent_path();
  out.folder = Fd(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!out.folder)
    return Error{Errc::io, cat("cannot open ", parent.string(), ": ", std::strerror(errno))};
  out.text = cat("/proc/self/fd/", out.folder.get(), '/', path.filename().string());
  if (out.text.size() > kMost)
    return Error{Errc::io,
                 cat("a socket's path has at most ",
                     kMost,
                     " bytes, that of ",
                     path.string(),
                     " has ",
                     out.text.size())};
  return out;
}

}  // namespace waggle::node::detail
