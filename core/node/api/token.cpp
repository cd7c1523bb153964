// SPDX-License-Identifier: MIT
#include "core/node/api/token.hpp"

#include <array>
#include <optional>

#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/base/log.hpp"

namespace waggle::node {
namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::uint64_t kMaxFileBytes = 4096;

// What the file holds, if it may still be believed to be a secret.
std::optional<std::string> kept(std::filesystem::path const& path) {
  struct stat info {};

  if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) || (info.st_mode & 077) != 0) {
    log::warning("node", path.string(), " could be read by others; a new token is made");
    return std::nullopt;
  }
  auto const content = read_file(path, kMaxFileBytes);
  if (!content) return std::nullopt;
  auto text = to_string(*content);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  auto const bytes = from_hex(text);
  if (!bytes || bytes->size() != kTokenBytes) return std::nullopt;
  return text;
}

}  // namespace

Result<std::string> api_token(std::filesystem::path const& data_dir, Runtime& runtime) {
  auto const path = data_dir / "api.token";
  if (auto token = kept(path)) return *std::move(token);
  std::array<std::byte, kTokenBytes> random{};
  runtime.fill_random(random);
  auto token = to_hex(random);
  WAGGLE_TRY_STATUS(write_file(path, as_bytes(token + "\n"), FileMode::secret));
  return token;
}

}  // namespace waggle::node
