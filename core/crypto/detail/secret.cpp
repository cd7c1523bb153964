// SPDX-License-Identifier: MIT
#include "core/crypto/detail/secret.hpp"

#include <cerrno>
#include <cstring>

#include <sodium.h>
#include <sys/stat.h>

#include "core/base/assert.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"

namespace waggle::crypto::detail {

void wipe(MutableBytes secret) noexcept {
  if (!secret.empty()) sodium_memzero(secret.data(), secret.size());
}

void start_sodium() {
  static int const started = sodium_init();
  WAGGLE_ASSERT(started >= 0, "libsodium does not start");
}

Result<SecretBytes> read_secret(std::filesystem::path const& path) {
  struct stat info {};

  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
      (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    log::warning("crypto", path.string(), " was open to other users; its mode is now 0600");
    if (::chmod(path.c_str(), static_cast<mode_t>(FileMode::secret)) != 0)
      return Error{Errc::io,
                   cat("cannot tighten the mode of ", path.string(), ": ", std::strerror(errno))};
  }
  WAGGLE_TRY(auto content, read_file(path, kMaxKeyFileBytes));
  return SecretBytes(std::move(content));
}

}  // namespace waggle::crypto::detail
