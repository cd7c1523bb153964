// SPDX-License-Identifier: MIT
// A swarm of real processes on this machine: one publishes a task and trains, the others get only
// its link; one is killed, another joins late; at the end every survivor measures the model and
// their parameters are compared.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/node/api/api.hpp"

#include "app/command.hpp"
#include "app/demo/bigram.hpp"
#include "app/demo/summary.hpp"
#include "app/demo/table.hpp"
#include "app/demo/task_files.hpp"
#include "app/demo/volunteer.hpp"
#include "app/signals.hpp"

namespace waggle::app {
namespace {

namespace fs = std::filesystem;
using namespace demo;

constexpr std::int64_t kKillAfter = 5;  // rounds
constexpr std::int64_t kJoinAfter = 10;
constexpr std::int64_t kRoundsAfterJoin = 20;
constexpr std::int64_t kFinishAhead = 3;  // epochs: time enough for the word to reach everyone
constexpr double kStartSeconds = 90;      // publish until every volunteer trains
constexpr double kLeaveSeconds = 90;      // finish, evaluate 10,000 images, save
constexpr double kAskEvery = 15;          // seconds between two looks at all held-out data
constexpr std::uint64_t kMaxTextBytes = 64u << 20;

struct DemoOptions {
  Goal goal{"resnet", 0, 4, 600};
  fs::path keep;
  bool kill = true;
};

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Demo {
 public:
  Demo(DemoOptions options, bool json)
      : options_(std::move(options)), json_(json), table_(json), begin_(now_s()) {}

  int run(Common const& common) {
    auto prepared = prepare();
    if (!prepared) return fail(common, prepared.error());
    auto played = play();
    bool const interrupted = signals::count() > 0;
    if (!played) problems_.push_back(played.error().detail);
    auto const differences = interrupted ? std::vector<double>{} : compare();
    auto const summary =
        summarize(options_.goal, volunteers_, differences, now_s() - begin_, problems_);
    if (json_)
      std::printf("%s\n", summary.dump().c_str());
    else
      print_summary(summary);
    std::fflush(stdout);
    if (options_.keep.empty())
      remove_folder();
    else if (!json_)
      std::printf("kept in %s\n", folder_.c_str());
    if (interrupted) return kInterrupted;
    return summary["ok"].get<bool>() ? kDone : kFailed;
  }

 private:
  Status prepare() {
    if (options_.keep.empty()) {
      std::string pattern = (fs::temp_directory_path() / "waggle-demo-XXXXXX").string();
      if (::mkdtemp(pattern.data()) == nullptr)
        return Error{Errc::io, cat("cannot make a folder like ", pattern)};
      folder_ = pattern;
    } else {
      folder_ = fs::absolute(options_.keep);
      std::error_code ec;
      fs::create_directories(folder_, ec);
      if (!fs::is_empty(folder_, ec))
        return Error{Errc::refused,
                     cat(folder_.string(), " is not empty; give --keep a new folder")};
    }
    WAGGLE_TRY(auto const definition, demo_task(options_.goal.is_text()));
    options_.goal.codec = definition.swarm.compression;
    WAGGLE_TRY(task_, lay_out_task(options_.goal.is_text(), folder_ / "task"));
    if (options_.goal.is_text()) {
      WAGGLE_TRY(auto const text, read_file(task_.data / "bible.txt", kMaxTextBytes));
      options_.goal.bigram_loss = bigram_loss(text, definition.data.test_fraction);
    }
    return ok();
  }

  Status start(std::vector<std::string> arguments, bool late) {
    auto const index = volunteers_.size() + 1;
    auto const name = cat("peer ", index);
    auto const data_dir = folder_ / cat("peer", index);
    std::vector<std::string> full{own_program()};
    for (auto& argument : arguments) full.push_back(std::move(argument));
    for (auto const& more : {std::string("--data-dir"),
                             data_dir.string(),
                             std::string("--always"),
                             std::string("--host"),
                             std::string("127.0.0.1"),
                             std::string("--threads"),
                             std::string("1"),
                             std::string("--json")})
      full.push_back(more);
    WAGGLE_TRY(auto process, Child::start(full, folder_ / cat("peer", index, ".log")));
    volunteers_.push_back(
        {.name = name, .data_dir = data_dir, .process = std::move(process), .late = late});
    return ok();
  }

  // Listens, draws, and looks after the dead. False when it is time to stop.
  bool tick() {
    std::vector<pollfd> outputs;
    for (auto& v : volunteers_)
      if (!v.process.ended()) outputs.push_back({v.process.output(), POLLIN, 0});
    ::poll(outputs.data(), outputs.size(), 100);
    for (auto& v : volunteers_) v.listen();
    table_.draw(volunteers_, options_.goal, now_s() - begin_);
    return signals::count() == 0;
  }

  template <class Condition>
  Status wait_until(Condition condition, double seconds, char const* what) {
    double const deadline = now_s() + seconds;
    while (!condition()) {
      if (!tick()) return Error{Errc::cancelled, "interrupted"};
      WAGGLE_TRY_STATUS(nobody_died());
      if (now_s() > deadline)
        return Error{Errc::timeout,
                     cat(what, " took more than ", seconds, " s (logs in ", folder_.string(), ")")};
    }
    return ok();
  }

  Status nobody_died() {
    if (leaving_) return ok();
    for (auto& v : volunteers_)
      if (auto const status = v.process.ended(); status && !v.killed) {
        // Whoever was killed from outside is as dead as ours; the swarm must bear both.
        if (*status == 128 + SIGKILL) {
          v.killed = true;
          continue;
        }
        v.listen();
        return Error{Errc::closed, cat(v.name, " ended with status ", *status, ": ", v.last_error)};
      }
    return ok();
  }

  std::int64_t swarm_epoch() const {
    std::int64_t epoch = 0;
    for (auto const& v : volunteers_) epoch = std::max(epoch, v.epoch);
    return epoch;
  }

  std::vector<Volunteer*> survivors() {
    std::vector<Volunteer*> alive;
    for (auto& v : volunteers_)
      if (!v.killed) alive.push_back(&v);
    return alive;
  }

  double time_left() const { return options_.goal.time_limit_s - (now_s() - begin_); }

  // The peers measure on a sample as they go. Once that promises the target, one of them is asked
  // for all held-out data, and again after a while: figures go up and down, so that two running
  // must be beyond the target for it to hold at the end.
  bool target_seen() {
    if (reached_) return true;
    auto const sample = latest_figure(volunteers_);
    if (!sample || !options_.goal.reached_by(*sample)) return false;
    for (auto& v : volunteers_)
      if (auto const whole = std::exchange(v.whole_figure, std::nullopt))
        beyond_ = options_.goal.safely_reached_by(*whole) ? beyond_ + 1 : 0;
    reached_ = beyond_ >= 2;
    if (reached_) return true;
    if (now_s() - asked_at_ < kAskEvery) return false;
    asked_at_ = now_s();
    for (auto* v : survivors())
      if (node::api_post(v->data_dir / "api.sock",
                         node::Command{node::Command::Kind::measure, "", {}}))
        break;
    return false;
  }

  Status play() {
    WAGGLE_TRY_STATUS(
        start({"publish", task_.toml.string(), "--files", task_.data.string(), "--run"}, false));
    auto& first = volunteers_.front();
    WAGGLE_TRY_STATUS(
        wait_until([&] { return !first.link.empty(); }, kStartSeconds, "publishing the task"));
    for (std::size_t i = 1; i < options_.goal.peers; ++i)
      WAGGLE_TRY_STATUS(start({"run", first.link}, false));
    WAGGLE_TRY_STATUS(wait_until(
        [&] { return swarm_epoch() >= kKillAfter; }, kStartSeconds + 60, "the first five rounds"));

    kill_one();
    WAGGLE_TRY_STATUS(wait_until([&] { return swarm_epoch() >= kJoinAfter; },
                                 120,
                                 "five rounds after a volunteer was killed"));

    WAGGLE_TRY_STATUS(start({"run", first.link}, true));
    auto& late = volunteers_.back();
    WAGGLE_TRY_STATUS(wait_until(
        [&] { return late.epoch >= kJoinAfter; }, 120, "the late volunteer's first round"));
    auto const joined_at = swarm_epoch();
    WAGGLE_TRY_STATUS(wait_until([&] { return swarm_epoch() >= joined_at + kRoundsAfterJoin; },
                                 240,
                                 "twenty rounds after the late volunteer"));
    while (!target_seen() && time_left() > kLeaveSeconds)
      WAGGLE_TRY_STATUS(wait_until(
          [&] { return target_seen() || time_left() <= kLeaveSeconds; }, 1e9, "training"));
    return leave_together();
  }

  // Unless somebody outside has been faster.
  void kill_one() {
    if (!options_.kill) return;
    if (std::any_of(volunteers_.begin(), volunteers_.end(), [](auto const& v) { return v.killed; }))
      return;
    auto& victim = *std::next(volunteers_.begin());
    victim.process.signal(SIGKILL);
    victim.killed = true;
  }

  // All leave after the same epoch, whose state round makes them agree.
  Status leave_together() {
    leaving_ = true;
    node::Command finish{node::Command::Kind::finish, "", swarm_epoch() + kFinishAhead};
    for (auto* v : survivors())
      if (auto sent = node::api_post(v->data_dir / "api.sock", finish); !sent)
        problems_.push_back(cat(v->name, ": ", sent.error().detail));
    return wait_until(
        [&] {
          auto alive = survivors();
          return std::all_of(
              alive.begin(), alive.end(), [](auto* v) { return v->process.ended().has_value(); });
        },
        kLeaveSeconds + 60,
        "leaving");
  }

  // Exports every survivor's weights with the program that a user has, and compares them with the
  // first's.
  std::vector<double> compare() {
    std::vector<double> differences;
    std::vector<fs::path> files;
    for (auto* v : survivors()) {
      v->listen();
      if (auto const status = v->process.ended(); !status || *status != 0)
        problems_.push_back(
            cat(v->name, " ended with status ", status.value_or(-1), ": ", v->last_error));
      auto const file = v->data_dir / "export.safetensors";
      auto child = Child::start({own_program(),
                                 "export",
                                 "--data-dir",
                                 v->data_dir.string(),
                                 "--to",
                                 file.string(),
                                 "--json"},
                                folder_ / "export.log");
      if (!child) {
        problems_.push_back(child.error().detail);
        continue;
      }
      double const deadline = now_s() + 60;
      while (!child->ended() && now_s() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (child->ended() != 0)
        problems_.push_back(
            cat(v->name, ": export ended with status ", child->ended().value_or(-1)));
      else
        files.push_back(file);
    }
    for (std::size_t i = 1; i < files.size(); ++i) {
      auto const difference = relative_difference(files[0], files[i]);
      if (difference)
        differences.push_back(*difference);
      else
        problems_.push_back(difference.error().detail);
    }
    return differences;
  }

  void remove_folder() const {
    std::error_code ec;
    fs::remove_all(folder_, ec);
  }

  DemoOptions options_;
  bool json_;
  Table table_;
  double begin_;
  fs::path folder_;
  TaskFiles task_;
  bool leaving_ = false;
  int beyond_ = 0;  ///< figures running on all held-out data that are beyond the target
  bool reached_ = false;
  double asked_at_ = -1e9;
  std::list<Volunteer> volunteers_;
  std::vector<std::string> problems_;
};

}  // namespace

void add_demo(CLI::App& app, Common& common, Action& chosen) {
  auto* const command =
      app.add_subcommand("demo", "A swarm of real processes on this machine trains a real network");
  auto const options = std::make_shared<DemoOptions>();
  command
      ->add_option(
          "--task", options->goal.task, "resnet (Fashion-MNIST) or gpt (the King James Bible)")
      ->check(CLI::IsMember({"resnet", "gpt"}))
      ->capture_default_str();
  command
      ->add_option("--peers",
                   options->goal.peers,
                   "Processes that train, before one is killed and one joins")
      ->check(CLI::Range(3, 16))
      ->capture_default_str();
  command->add_option("--target-accuracy",
                      options->goal.target,
                      "Stop when it is reached; for gpt: the fraction of a bigram table's loss "
                      "(default 0.88; gpt 0.80)");
  command
      ->add_option("--time-limit", options->goal.time_limit_s, "Seconds after which it ends anyway")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--keep", options->keep, "Keep everything in this new folder");
  command->add_flag("!--no-kill", options->kill, "Kill nobody: somebody outside does");
  command->add_flag("--json", common.json, "The summary as one JSON object on the last line");
  add_examples(*command,
               "  waggle demo\n  waggle demo --peers 6 --target-accuracy 0.9\n  waggle demo --task "
               "gpt --json\n");
  command->callback([&common, &chosen, options] {
    chosen = [&common, options] {
      if (options->goal.target == 0)
        options->goal.target = options->goal.task == "gpt" ? 0.80 : 0.88;
      signals::catch_interrupts();
      return Demo(*options, common.json).run(common);
    };
  });
}

}  // namespace waggle::app
