// SPDX-License-Identifier: MIT
#include "core/node/session/kept_failures.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/node/session/crash_guard.hpp"

namespace waggle::node {
namespace {

std::string key_of(PeerId const& operator_id, std::string_view prefix) {
  return cat("trainer_failures/", crypto::to_text(operator_id), '/', prefix);
}

// Before the count: "7 0.1.0 ".
std::string tried_words(Tried const& tried) {
  return cat(tried.task_version, ' ', tried.version, ' ');
}

}  // namespace

Status write_failures(store::Store& store, Tried const& tried, Failures const& failures) {
  if (failures == Failures{}) return forget_failures(store, tried.operator_id, tried.prefix);
  return store.put_setting(key_of(tried.operator_id, tried.prefix),
                           cat(tried_words(tried), failures.in_a_row, ' ', failures.given_up));
}

Result<Failures> read_failures(store::Store const& store, Tried const& tried) {
  WAGGLE_TRY(auto const kept, store.setting(key_of(tried.operator_id, tried.prefix)));
  Failures failures;
  auto const before = tried_words(tried);
  if (!kept || !kept->starts_with(before)) return failures;
  auto const rest = std::string_view(*kept).substr(before.size());
  auto const space = std::min(rest.find(' '), rest.size());
  auto const read = std::from_chars(rest.data(), rest.data() + space, failures.in_a_row);
  if (read.ec != std::errc{} || failures.in_a_row < 0 || failures.in_a_row > CrashGuard::kMost)
    return Failures{};
  auto const why = rest.substr(std::min(space + 1, rest.size()));
  failures.given_up = utf8_prefix(why, kMostCrashReason);
  return failures;
}

Status forget_failures(store::Store& store, PeerId const& operator_id, std::string_view prefix) {
  return store.remove_setting(key_of(operator_id, prefix));
}

void keep_failures(Services& services, Tried tried, Failures failures) {
  services.disk().post([&services, tried = std::move(tried), failures = std::move(failures)] {
    if (auto const kept = write_failures(services.store(), tried, failures); !kept)
      services.not_kept(
          cat("how ", tried.prefix, "'s trainer failed was not kept: ", kept.error().detail));
  });
}

Co<Failures> recall_failures(Services& services, Tried tried) {
  auto read = [&store = services.store(), tried] { return read_failures(store, tried); };
  auto const kept = co_await on(services.disk(), services.runtime(), std::move(read));
  if (kept) co_return *kept;
  log::warning("store", kept.error().detail);
  co_return Failures{};
}

}  // namespace waggle::node
