// SPDX-License-Identifier: MIT
#include "app/window_source.hpp"

#include <chrono>
#include <utility>

#include "core/node/api/api.hpp"
#include "core/node/api/examples_json.hpp"
#include "core/node/api/snapshot_json.hpp"

#include "app/drive.hpp"

namespace waggle::app {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(1000);
constexpr auto kOutOfSight = std::chrono::milliseconds(5000);
constexpr std::size_t kMostWaiting = 64;  // commands; a person presses slower than they are sent
// A node that just starts holds the directory's lock before it answers.
constexpr int kQuietFailures = 3;

}  // namespace

WindowSource::WindowSource(Common const& common, std::string const& look)
    : common_(common), local_(common.data_dir) {
  if (!look.empty()) commands_.push_back({.kind = node::Command::Kind::look, .link = look});
  worker_ = std::thread([this] { work(); });
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
  // Without a node the file is changed here; the next node reads it.
  if (command.kind == node::Command::Kind::set && latest_.get() == nullptr)
    return keep(std::move(command.name), std::move(command.value));
  {
    std::lock_guard const lock(mutex_);
    if (commands_.size() >= kMostWaiting) return;
    commands_.push_back(std::move(command));
  }
  changed_.notify_all();
}

std::shared_ptr<node::Examples const> WindowSource::examples(bool wanted) {
  {
    std::lock_guard const lock(mutex_);
    examples_wanted_ = wanted;
  }
  return examples_.get();
}

std::optional<std::string> WindowSource::take_trouble() {
  std::lock_guard const lock(mutex_);
  return std::exchange(trouble_, std::nullopt);
}

std::shared_ptr<LocalSettings::List const> WindowSource::settings() {
  return local_.list();
}

void WindowSource::keep(std::string name, std::string value) {
  {
    std::lock_guard const lock(mutex_);
    if (kept_.size() >= kMostWaiting) return;
    kept_.emplace_back(std::move(name), std::move(value));
  }
  changed_.notify_all();
}

void WindowSource::keep_what_was_asked() {
  std::deque<std::pair<std::string, std::string>> kept;
  {
    std::lock_guard const lock(mutex_);
    kept.swap(kept_);
  }
  for (auto const& [name, value] : kept)
    if (auto const done = local_.keep(name, value); !done) say(done.error().detail);
  local_.look();
}

void WindowSource::attend(Attention attention) {
  {
    std::lock_guard const lock(mutex_);
    if (std::exchange(attention_, attention) >= attention) return;
  }
  changed_.notify_all();
}

// Under the lock. One that is waited for is looked for soon.
std::chrono::milliseconds WindowSource::period() const {
  if (latest_.get() != nullptr && attention_ == Attention::none) return kOutOfSight;
  if (latest_.get() != nullptr && attention_ == Attention::little) return 2 * kPeriod;
  return node_ ? kPeriod / 2 : kPeriod;
}

void WindowSource::join(std::string link) {
  send({.kind = node::Command::Kind::join, .link = std::move(link)});
}

bool WindowSource::can_join() const {
  return latest_.get() != nullptr;
}

bool WindowSource::own_node() const {
  std::lock_guard const lock(mutex_);
  return own_;
}

void WindowSource::say(std::string trouble) {
  std::lock_guard const lock(mutex_);
  trouble_ = std::move(trouble);
}

void WindowSource::start_node() {
  // Nobody's machine computes, or is seen by others, before somebody said yes.
  if (!local_.agreed()) {
    if (!local_.trouble().empty() && ++failures_ == kQuietFailures) say(local_.trouble());
    return;
  }
  Result<std::unique_ptr<node::Node>> started = Error{Errc::invalid, ""};
  auto options = options_of(common_, {});
  if (options) {
    if (!std::exchange(prepared_, true)) prepare(common_);
    started = node::Node::start(*std::move(options), node::ServeJob{}, [](node::Event const&) {});
  } else {
    started = options.error();
  }
  if (!started) {
    if (++failures_ == kQuietFailures) say(started.error().detail);
    return;
  }
  failures_ = 0;
  node_ = *std::move(started);
  std::lock_guard const lock(mutex_);
  own_ = true;
}

void WindowSource::look_at_own() {
  latest_.set(node_->snapshot());
  auto const outcome = node_->outcome();
  if (!outcome) return;
  if (outcome->error && outcome->error->code != Errc::cancelled) say(outcome->error->detail);
  node_.reset();
  ended_ = true;
  latest_.set(nullptr);
  std::lock_guard const lock(mutex_);
  own_ = false;
}

void WindowSource::look() {
  if (node_) return look_at_own();
  auto const body = node::api_get(api_socket(common_), "/v1/snapshot");
  auto snapshot = body ? node::snapshot_from_json(*body) : Result<node::Snapshot>(body.error());
  if (snapshot)
    latest_.set(std::make_shared<node::Snapshot>(*std::move(snapshot)));
  else
    latest_.set(nullptr);
  if (!body && !ended_) start_node();
}

void WindowSource::ask_for_examples() {
  {
    std::lock_guard const lock(mutex_);
    if (!examples_wanted_) return;
  }
  if (node_) return examples_.set(node_->examples());
  auto const body = node::api_get(api_socket(common_), "/v1/examples");
  if (!body) return;  // an older node has none
  if (auto made = node::examples_from_json(*body))
    examples_.set(std::make_shared<node::Examples>(*std::move(made)));
}

void WindowSource::work() {
  for (;;) {
    keep_what_was_asked();
    look();
    if (latest_.get() != nullptr) ask_for_examples();
    std::deque<node::Command> commands;
    bool const answers = latest_.get() != nullptr;
    {
      std::unique_lock lock(mutex_);
      // What is asked before a node answers waits for it.
      auto const wanted = [this, answers, before = attention_] {
        return stopping_ || !kept_.empty() || (answers && !commands_.empty()) ||
               attention_ > before;
      };
      changed_.wait_for(lock, period(), wanted);
      if (stopping_) return;
      if (answers) commands.swap(commands_);
    }
    for (auto& command : commands) {
      auto const done =
          node_ ? node_->send(std::move(command)) : node::api_post(api_socket(common_), command);
      if (!done) say(done.error().detail);
    }
  }
}

}  // namespace waggle::app
