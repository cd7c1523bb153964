// SPDX-License-Identifier: MIT
#include "core/crypto/detail/secret.hpp"

#include <filesystem>

#include <sodium.h>

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
  using std::filesystem::perms;
  std::error_code failed;
  auto const status = std::filesystem::status(path, failed);
  if (std::filesystem::is_regular_file(status) &&
      (status.permissions() & (perms::group_all | perms::others_all)) != perms::none) {
    log::warning("crypto", path.string(), " was open to other users; its mode is now 0600");
    std::filesystem::permissions(path, static_cast<perms>(FileMode::secret), failed);
    if (failed)
      return Error{Errc::io,
                   cat("cannot tighten the mode of ", path.string(), ": ", failed.message())};
  }
  WAGGLE_TRY(auto content, read_file(path, kMaxKeyFileBytes));
  return SecretBytes(std::move(content));
}

}  // namespace waggle::crypto::detail
