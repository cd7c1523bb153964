// SPDX-License-Identifier: MIT
#include "core/node/tasks/wanted_task.hpp"

#include <utility>
#include <variant>

#include "core/base/text.hpp"
#include "core/crypto/peer_id.hpp"

namespace waggle::node {
namespace {

// A search is given up this often to look whether it is still wanted.
constexpr Duration kSearchTime = std::chrono::seconds(12);
constexpr Duration kSearchPause = std::chrono::seconds(2);

}  // namespace

WantedTask::WantedTask(Services& services,
                       EventSink const& events,
                       std::function<Co<void>(FoundTask)> found)
    : services_(services),
      events_(events),
      found_(std::move(found)),
      changed_(services.runtime()),
      scope_(services.runtime()) {
  scope_.spawn("find what is joined", search());
}

Co<void> WantedTask::close() {
  co_await scope_.close();
}

void WantedTask::want(task::Link link) {
  ++serial_;
  wanted_ = Wanted{};
  auto& view = wanted_->view;
  view.prefix = link.prefix;
  if (!link.operator_id.empty()) view.operator_id = crypto::to_text(link.operator_id);
  view.link = link.text();
  view.state = "finding";
  wanted_->link = std::move(link);
  events_(events::state(services_, "finding", cat("looking for ", wanted_->link.prefix)));
  changed_.notify_all();
}

void WantedTask::leave(Command const& command) {
  if (!wanted_ || !command.names(wanted_->view.operator_id, wanted_->view.prefix)) return;
  ++serial_;
  wanted_.reset();
}

TaskView const* WantedTask::view() const noexcept {
  return wanted_ ? &wanted_->view : nullptr;
}

Co<void> WantedTask::search() {
  for (;;) {
    while (!wanted_ || !wanted_->searching) {
      auto const woken = co_await changed_.wait();
      if (!woken) co_return;
    }
    auto const serial = serial_;
    auto link = wanted_->link;
    auto const deadline = services_.runtime().now() + kSearchTime;
    auto found = co_await find_task(services_, std::move(link), deadline);
    if (!found && found.error().code == Errc::cancelled) co_return;
    // Another one was joined, or this one left, meanwhile.
    if (!wanted_ || serial != serial_) continue;
    if (!found) {
      wanted_->view.reason = found.error().detail;
      bool const over = found.error().code == Errc::refused;
      if (over) {
        wanted_->view.state = "failed";
        wanted_->searching = false;
      }
      auto const slept = co_await services_.runtime().sleep_for(kSearchPause);
      if (!slept) co_return;
      continue;
    }
    if (auto const* const choice = std::get_if<NeedsChoice>(&*found)) {
      wanted_->view.state = "choice";
      wanted_->view.reason = "several operators publish under this name";
      for (auto const& id : choice->operators) wanted_->view.choices.push_back(crypto::to_text(id));
      wanted_->searching = false;
      continue;
    }
    wanted_.reset();
    co_await found_(std::get<FoundTask>(*std::move(found)));
  }
}

}  // namespace waggle::node
