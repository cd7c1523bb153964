// SPDX-License-Identifier: MIT
#include "app/window_source.hpp"

#include <chrono>
#include <utility>

#include "core/node/api.hpp"
#include "core/node/snapshot_json.hpp"

#include "app/drive.hpp"

namespace waggle::app {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(1000);
constexpr std::size_t kMostWaiting = 64;  // commands; a person presses slower than they are sent

}  // namespace

WindowSource::WindowSource(Common const& common) : common_(common), worker_([this] { work(); }) {
}

WindowSource::~WindowSource() {
  {
    std::lock_guard const lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
  if (node_) node_->leave();
}

std::shared_ptr<node::Snapshot const> WindowSource::snapshot() {
  return latest_.get();
}

void WindowSource::send(node::Command command) {
  {
    std::lock_guard const lock(mutex_);
    if (commands_.size() >= kMostWaiting) return;
    commands_.push_back(std::move(command));
  }
  changed_.notify_all();
}

std::optional<std::string> WindowSource::take_trouble() {
  std::lock_guard const lock(mutex_);
  return std::exchange(trouble_, std::nullopt);
}

void WindowSource::join(std::string link) {
  {
    std::lock_guard const lock(mutex_);
    link_ = std::move(link);
    own_ = true;
  }
  changed_.notify_all();
}

bool WindowSource::can_join() const {
  std::lock_guard const lock(mutex_);
  return looked_ && !own_ && latest_.get() == nullptr;
}

bool WindowSource::own_node() const {
  std::lock_guard const lock(mutex_);
  return own_;
}

void WindowSource::say(std::string trouble) {
  std::lock_guard const lock(mutex_);
  trouble_ = std::move(trouble);
}

void WindowSource::start_node(std::string const& link) {
  auto options = options_of(common_, {});
  if (options) {
    prepare(common_);
    auto started = node::Node::start(
        *std::move(options), node::TrainJob{.link = link}, [](node::Event const&) {});
    if (started) {
      node_ = *std::move(started);
      return;
    }
    say(started.error().detail);
  } else {
    say(options.error().detail);
  }
  std::lock_guard const lock(mutex_);
  own_ = false;
}

void WindowSource::look() {
  if (node_) {
    latest_.set(node_->snapshot());
    auto const outcome = node_->wait_for(std::chrono::milliseconds(0));
    if (!outcome) return;
    if (outcome->error && outcome->error->code != Errc::cancelled) say(outcome->error->detail);
    node_.reset();
    latest_.set(nullptr);
    std::lock_guard const lock(mutex_);
    own_ = false;
    return;
  }
  auto const body = node::api_get(api_socket(common_), "/v1/snapshot");
  auto snapshot = body ? node::snapshot_from_json(*body) : Result<node::Snapshot>(body.error());
  if (snapshot)
    latest_.set(std::make_shared<node::Snapshot>(*std::move(snapshot)));
  else
    latest_.set(nullptr);
  std::lock_guard const lock(mutex_);
  looked_ = true;
}

void WindowSource::work() {
  for (;;) {
    look();
    std::optional<std::string> link;
    std::deque<node::Command> commands;
    {
      std::unique_lock lock(mutex_);
      auto const wanted = [this] { return stopping_ || link_ || !commands_.empty(); };
      changed_.wait_for(lock, node_ ? kPeriod / 2 : kPeriod, wanted);
      if (stopping_) return;
      link = std::exchange(link_, std::nullopt);
      commands.swap(commands_);
    }
    if (link && !node_) start_node(*link);
    for (auto& command : commands) {
      auto const done =
          node_ ? node_->send(std::move(command)) : node::api_post(api_socket(common_), command);
      if (!done) say(done.error().detail);
    }
  }
}

}  // namespace waggle::app
