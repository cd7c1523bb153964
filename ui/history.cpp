// SPDX-License-Identifier: MIT
#include "ui/history.hpp"

#include <algorithm>

#include "core/base/text.hpp"

#include "ui/format.hpp"
#include "ui/task_words.hpp"
#include "ui/values.hpp"

namespace waggle::ui {
namespace {

std::string key_of(node::TaskView const& task) {
  return cat(task.operator_id, "/", task.prefix);
}

// Values that are figures or words of the node are written for one language only once they are
// shown.
std::vector<std::string_view> shown(std::vector<std::string> const& values) {
  return {values.begin(), values.end()};
}

}  // namespace

void Ring::add(double x, double y) {
  // Dropped in blocks: the vectors stay contiguous for the charts at O(1) a point.
  if (x_.size() >= capacity_ + capacity_ / 8 + 1) {
    auto const drop = static_cast<std::ptrdiff_t>(x_.size() - capacity_ + 1);
    x_.erase(x_.begin(), x_.begin() + drop);
    y_.erase(y_.begin(), y_.begin() + drop);
  }
  x_.push_back(x);
  y_.push_back(y);
}

std::optional<double> Ring::last() const {
  if (y_.empty()) return std::nullopt;
  return y_.back();
}

std::string LogLine::text(Language language) const {
  if (!key) return values.empty() ? std::string() : translated(values.front(), language);
  std::string out;
  std::string_view pattern = tr(*key, language);
  for (auto const& value : shown(values)) {
    auto const at = pattern.find("{}");
    if (at == std::string_view::npos) break;
    out += pattern.substr(0, at);
    pattern.remove_prefix(at + 2);
    // The last one of a round is how long it took, in seconds.
    if (*key == Text::event_round_averaged && pattern.find("{}") == std::string_view::npos)
      out += took(number_of(value), language);
    else
      out += state_text(value) ? state_words(value, language) : translated(value, language);
  }
  out += pattern;
  return out;
}

TaskCurves::TaskCurves()
    : loss(History::kEpochs),
      swarm_loss(History::kEpochs),
      test_loss(History::kEpochs),
      accuracy(History::kEpochs) {
}

History::History()
    : own_speed_(kSeconds),
      swarm_speed_(kSeconds),
      download_(kSeconds),
      upload_(kSeconds),
      processor_(kSeconds),
      others_(kSeconds),
      memory_(kSeconds) {
}

void History::push(LogLine line) {
  if (!lines_.empty()) {
    auto& last = lines_.back();
    if (last.key == line.key && last.values == line.values) {
      last.time = line.time;
      ++last.times;
      return;
    }
  }
  if (lines_.size() >= kLines) lines_.pop_front();
  lines_.push_back(std::move(line));
}

void History::line(double time, LogLine::Level level, Text key, std::vector<std::string> values) {
  push({.time = time, .level = level, .key = key, .values = std::move(values)});
}

void History::begin(node::Snapshot const& s) {
  auto lines = std::move(lines_);
  *this = History();
  lines_ = std::move(lines);
  pid_ = s.pid;
  // What is there already is no news.
  for (auto const& peer : s.peers) peers_.insert(peer.id);
  line(s.time, LogLine::Level::info, Text::event_attached, {cat(s.pid)});
}

void History::lost(double unix_time) {
  if (gone_ || !pid_) return;
  gone_ = true;
  line(unix_time, LogLine::Level::warning, Text::event_lost, {});
}

void History::add(node::Snapshot const& s) {
  if (pid_ && *pid_ == s.pid && s.time <= time_ && !gone_) return;
  if (!pid_ || *pid_ != s.pid || gone_) begin(s);
  time_ = s.time;
  add_rates(s);
  add_peers(s);
  for (auto const& task : s.tasks) add_task(s, task);
  for (auto const& notice : s.notices)
    if (notices_.size() < kLines && notices_.insert(notice).second)
      push({.time = s.time, .level = LogLine::Level::warning, .key = {}, .values = {notice}});
}

void History::add_rates(node::Snapshot const& s) {
  bool const first = rates_at_ == 0;
  double const gap = s.time - rates_at_;
  if (!first && gap < kMinGap) return;
  // A counter that went backwards is a node that began anew.
  if (!first && s.socket_bytes_in >= bytes_in_ && s.socket_bytes_out >= bytes_out_) {
    download_.add(s.time, static_cast<double>(s.socket_bytes_in - bytes_in_) / gap);
    upload_.add(s.time, static_cast<double>(s.socket_bytes_out - bytes_out_) / gap);
  }
  rates_at_ = s.time;
  add_machine(s);
  bytes_in_ = s.socket_bytes_in;
  bytes_out_ = s.socket_bytes_out;
  double own = 0;
  double swarm = 0;
  for (auto const& task : s.tasks) {
    bool const computes = task.state == "training" || task.state == "finishing";
    own += computes ? task.samples_per_second : 0;
    swarm += task.swarm_samples_per_second;
  }
  if (s.tasks.empty()) return;
  own_speed_.add(s.time, own);
  swarm_speed_.add(s.time, swarm);
}

void History::add_machine(node::Snapshot const& s) {
  auto const& m = s.machine;
  if (m.cpu) processor_.add(s.time, *m.cpu);
  if (m.cpu_others) others_.add(s.time, *m.cpu_others);
  if (m.memory_total > 0 && m.memory_available <= m.memory_total)
    memory_.add(s.time,
                1 - static_cast<double>(m.memory_available) / static_cast<double>(m.memory_total));
  for (std::size_t i = 0; i < std::min(m.gpus.size(), kGraphics); ++i) {
    if (graphics_.size() <= i) graphics_.emplace_back(kSeconds);
    if (m.gpus[i].busy) graphics_[i].add(s.time, *m.gpus[i].busy);
  }
}

Ring const* History::graphics(std::size_t index) const {
  return index < graphics_.size() && !graphics_[index].empty() ? &graphics_[index] : nullptr;
}

void History::add_peers(node::Snapshot const& s) {
  std::set<std::string> now;
  for (auto const& peer : s.peers) {
    now.insert(peer.id);
    if (!peers_.contains(peer.id))
      line(s.time, LogLine::Level::info, Text::event_peer_joined, {short_id(peer.id)});
  }
  for (auto const& id : peers_)
    if (!now.contains(id))
      line(s.time, LogLine::Level::info, Text::event_peer_left, {short_id(id)});
  peers_ = std::move(now);
}

void History::add_task(node::Snapshot const& s, node::TaskView const& task) {
  auto const key = key_of(task);
  if (!tasks_.contains(key) && tasks_.size() >= kTasks) return;
  auto& curves = tasks_[key];
  auto& last = last_[key];
  if (task.state != last.state) {
    bool const bad = task.state == "failed";
    auto const level = bad ? LogLine::Level::warning : LogLine::Level::info;
    if (task.reason.empty())
      line(s.time, level, Text::event_state, {task.title, task.state});
    else
      line(s.time, level, Text::event_state_why, {task.title, task.state, task.reason});
    last.state = task.state;
  }
  auto const epoch = static_cast<double>(task.epoch);
  if (task.epoch > last.epoch) {
    // Nought stands for an epoch to which this machine gave no sample.
    if (task.loss && *task.loss != 0) curves.loss.add(epoch, *task.loss);
    if (task.swarm_loss && task.swarm_loss_peers > 1)
      curves.swarm_loss.add(epoch, *task.swarm_loss);
    last.epoch = task.epoch;
  }
  // The same figure stands in many snapshots: it was measured when it changed.
  if (task.test_accuracy && task.test_accuracy != last.accuracy) {
    curves.accuracy.add(epoch, *task.test_accuracy);
    line(s.time,
         LogLine::Level::good,
         Text::event_accuracy,
         {cat(task.epoch), percent(*task.test_accuracy)});
    last.accuracy = task.test_accuracy;
  }
  if (task.test_loss && task.test_loss != curves.test_loss.last())
    curves.test_loss.add(epoch, *task.test_loss);
  if (task.last_round && task.last_round->epoch > last.round) {
    auto const& round = *task.last_round;
    if (round.outcome == "averaged")
      line(s.time,
           LogLine::Level::good,
           Text::event_round_averaged,
           {cat(round.epoch), cat(round.group.size()), literal(round.seconds)});
    else if (!round.why.empty())
      line(s.time,
           // Where nobody else is, nothing went wrong.
           round.why == "alone" ? LogLine::Level::info : LogLine::Level::warning,
           Text::event_round_alone,
           {cat(round.epoch), round.why});
    last.round = round.epoch;
  }
  for (auto const& id : task.ignored_peers)
    if (last.ignored.size() < kLines && last.ignored.insert(id).second)
      push({.time = s.time,
            .level = LogLine::Level::warning,
            .key = {},
            .values = {named(id, s, task)}});
}

TaskCurves const* History::curves(node::TaskView const& task) const {
  auto const at = tasks_.find(key_of(task));
  return at == tasks_.end() ? nullptr : &at->second;
}

}  // namespace waggle::ui
