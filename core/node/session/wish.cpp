// SPDX-License-Identifier: MIT
#include "core/node/session/wish.hpp"

#include <charconv>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::node {
namespace {

// The state stands with the task; the epoch of a finish has a setting of its own.
std::string epoch_key(PeerId const& operator_id, std::string_view prefix) {
  return cat("finish_at/", crypto::to_text(operator_id), '/', prefix);
}

std::string_view state_of(Wish wish) {
  if (wish.kind == Wish::Kind::pause) return "paused";
  return wish.kind == Wish::Kind::finish ? "finishing" : "idle";
}

}  // namespace

Status write_wish(store::Store& store,
                  PeerId const& operator_id,
                  std::string_view prefix,
                  Wish wish) {
  WAGGLE_TRY(auto known, store.task(operator_id.bytes(), prefix));
  if (!known) return Error{Errc::not_found, cat("task ", prefix, " is not noted yet")};
  // First what only counts together with the state.
  if (wish.kind == Wish::Kind::finish)
    WAGGLE_TRY_STATUS(store.put_setting(epoch_key(operator_id, prefix), cat(wish.at_epoch)));
  known->state = state_of(wish);
  return store.put_task(*known);
}

Result<Wish> read_wish(store::Store const& store,
                       PeerId const& operator_id,
                       std::string_view prefix) {
  WAGGLE_TRY(auto const known, store.task(operator_id.bytes(), prefix));
  Wish wish;
  if (!known) return wish;
  if (known->state == "paused") wish.kind = Wish::Kind::pause;
  if (known->state != "finishing") return wish;
  wish.kind = Wish::Kind::finish;
  WAGGLE_TRY(auto const epoch, store.setting(epoch_key(operator_id, prefix)));
  if (epoch) std::from_chars(epoch->data(), epoch->data() + epoch->size(), wish.at_epoch);
  if (wish.at_epoch < 0) wish.at_epoch = 0;
  return wish;
}

Status forget_wish(store::Store& store, PeerId const& operator_id, std::string_view prefix) {
  return store.remove_setting(epoch_key(operator_id, prefix));
}

void keep_wish(Services& services, PeerId const& operator_id, std::string_view prefix, Wish wish) {
  services.disk().post([&services, operator_id, prefix = std::string(prefix), wish] {
    if (auto const kept = write_wish(services.store(), operator_id, prefix, wish); !kept)
      services.not_kept(cat("what you asked of ", prefix, " was not kept: ", kept.error().detail));
  });
}

Co<Wish> recall_wish(Services& services, PeerId operator_id, std::string prefix) {
  auto read = [&store = services.store(), operator_id, prefix] {
    return read_wish(store, operator_id, prefix);
  };
  auto const wish = co_await on(services.disk(), services.runtime(), std::move(read));
  if (wish) co_return *wish;
  log::warning("store", wish.error().detail);
  co_return Wish{};
}

}  // namespace waggle::node
