// SPDX-License-Identifier: MIT
#include "core/node/node.hpp"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include <asio/post.hpp>
#include <pthread.h>
#include <unistd.h>

#include "core/base/latest.hpp"
#include "core/base/log.hpp"
#include "core/base/system_runtime.hpp"
#include "core/base/text.hpp"
#include "core/node/api/api.hpp"
#include "core/node/api/examples_json.hpp"
#include "core/node/api/token.hpp"
#include "core/node/command_progress.hpp"
#include "core/node/control/watched.hpp"
#include "core/node/events.hpp"
#include "core/node/jobs.hpp"
#include "core/node/observer.hpp"
#include "core/node/release/watch.hpp"
#include "core/node/settings/settings.hpp"
#include "core/node/snapshots.hpp"
#include "core/task/link.hpp"

namespace waggle::node {
namespace {

constexpr Duration kSettle = std::chrono::seconds(2);
constexpr Duration kLook = std::chrono::milliseconds(200);  // while told to leave
constexpr std::size_t kMostEarly = 64;  // commands; the network opens in seconds

Error nobody_there(Command const& command) {
  return {Errc::not_found,
          command.prefix.empty() ? "nothing trains here"
                                 : cat("no task ", command.prefix, " trains here")};
}

}  // namespace

struct Node::State {
  State(Options o, Job j, EventSink e)
      : options(std::move(o)), job(std::move(j)), events(std::move(e)) {}

  // Fixed at construction.
  Options options;
  Job job;
  EventSink events;

  // The network thread's.
  SystemRuntime runtime;
  Signal stirred{runtime};  ///< the job is done, or told to leave
  std::unique_ptr<Services> services;
  std::unique_ptr<JobRunner> runner;
  std::unique_ptr<Observer> observer;
  std::unique_ptr<Watched> watched;  // null where nobody can connect
  std::unique_ptr<ReleaseWatch> releases;

  bool leaving = false;  ///< told to
  bool takes_commands = false;
  bool over = false;                        ///< and takes none any more
  std::deque<std::function<void()>> early;  ///< commands that came before that

  Snapshots snapshots{runtime};
  Latest<Examples> latest_examples;
  std::unique_ptr<Api> api;
  std::thread thread;

  std::mutex mutex;
  std::condition_variable ended;
  std::optional<Outcome> outcome;  // guarded by mutex

  void emit(Event const& event) {
    if (events) events(event);
    // A notice is in the log already.
    if (!event.text.empty() && event.text.rfind("note: ", 0) != 0) log::info("node", event.text);
    if (api) api->publish(event.json);
  }

  // The API by TCP, and the web page. Whatever keeps them away keeps nobody from training.
  void open_door() {
    if (!api || options.api_port == 0) return;
    ApiDoor door{options.api_host, options.api_port, options.api_names, {}};
    auto token = api_token(options.data_dir, runtime);
    if (token) door.token = *std::move(token);
    auto const opened = token ? api->open(door) : Status(std::move(token).error());
    if (!opened) {
      services->notice(cat("no web page: ", opened.error().detail));
      return;
    }
    if (!is_loopback(door.host))
      services->notice(cat("the web page listens on ",
                           door.host,
                           ", where others can reach it, without encryption: whoever reads its "
                           "traffic has its token"));
    emit(events::page(*services, page_url(door)));
  }

  // Runs `work` on the network thread and waits until it calls what it is given, or for kSettle: a
  // network thread that ends calls nothing. Thread: neither the network's nor the store's.
  void ask(std::function<void(std::function<void()>)> work) {
    auto done = std::make_shared<std::promise<void>>();
    auto const asked = done->get_future();
    asio::post(runtime.executor(), [work = std::move(work), done = std::move(done)] {
      work([done] { done->set_value(); });
    });
    (void)asked.wait_for(kSettle);
  }

  std::shared_ptr<Examples const> examples() {
    ask([this](std::function<void()> const& done) {
      if (runner) {
        runner->want_examples();
        latest_examples.set(runner->examples());
      }
      done();
    });
    return latest_examples.get();
  }

  // On the network thread.
  void leave() {
    leaving = true;
    if (runner) runner->leave();
    stirred.notify_all();
  }

  // On the network thread.
  void carry_out(Command const& command, std::shared_ptr<CommandProgress> const& progress) {
    using Kind = Command::Kind;
    if (command.kind == Kind::set) {
      runner->settings_changed([this, progress] {
        snapshots.outdate();
        progress->carried_out();
      });
      return;
    }
    auto& all = *services;
    all.disk().post([&all] { (void)all.take_not_kept(); });  // of others
    auto heard = JobRunner::Heard::obeyed;
    bool const about_watchers = command.kind == Kind::pair || command.kind == Kind::unpair;
    if (about_watchers && watched)
      watched->command(command);
    else
      heard = runner->command(command);
    if (heard == JobRunner::Heard::nobody) return progress->refused(nobody_there(command));
    snapshots.outdate();
    progress->carried_out();
    // What the next session hears, it also keeps.
    bool const later = heard == JobRunner::Heard::later;
    all.disk().post([&all, progress, later] { progress->kept(!all.take_not_kept() && !later); });
  }

  // On the network thread: now, or once there is a job that takes it.
  void hear(Command const& command, std::shared_ptr<CommandProgress> const& progress) {
    if (command.kind == Command::Kind::stop) {
      leave();
      progress->carried_out();
      progress->kept(true);  // nothing changes that would be
    } else if (takes_commands) {
      carry_out(command, progress);
    } else if (over || early.size() >= kMostEarly) {
      progress->refused({Errc::closed, over ? "it is leaving" : "it is still starting"});
    } else {
      early.push_back([this, command, progress] { carry_out(command, progress); });
    }
  }

  void hear_early() {
    takes_commands = true;
    for (auto const& command : std::exchange(early, {})) command();
  }

  // A setting on the caller's thread, which waits for the answer anyway: a file is slow.
  Status take(Command command, std::shared_ptr<CommandProgress> progress) {
    if (command.kind == Command::Kind::set) {
      WAGGLE_TRY_STATUS(change_setting(options.data_dir, command.name, command.value));
      progress->kept(true);
    }
    bool const about_watchers =
        command.kind == Command::Kind::pair || command.kind == Command::Kind::unpair;
    if (about_watchers && (options.client_mode || std::holds_alternative<MonitorJob>(job)))
      return Error{Errc::refused, "this node takes no connections, so nobody can watch it"};
    asio::post(runtime.executor(),
               [this, command = std::move(command), progress = std::move(progress)] {
                 hear(command, progress);
               });
    return ok();
  }

  // As take(); returns once it is carried out and kept, so that neither a look nor a kill right
  // after it finds the state of before; or after kSettle, and says how far it has come. Thread:
  // neither the network's nor the store's.
  Result<Taken> take_and_settle(Command command) {
    auto const progress = std::make_shared<CommandProgress>();
    WAGGLE_TRY_STATUS(take(std::move(command), progress));
    return progress->wait(kSettle);
  }

  void let_watch() {
    if (options.client_mode || std::holds_alternative<MonitorJob>(job)) return;
    auto obey = [this](Command command) {
      return take(std::move(command), std::make_shared<CommandProgress>());
    };
    watched = std::make_unique<Watched>(*services, snapshots, std::move(obey));
    observer->also([this](Snapshot& snapshot) { snapshot.control = watched->view(); });
  }

  // Runs the job beside the observer until it ends or is told to leave; then closes everything, in
  // order.
  Co<void> main() {
    Scope scope(runtime);
    auto result = co_await serve(scope);
    takes_commands = false;
    over = true;
    if (watched) co_await watched->close();
    if (releases) co_await releases->close();
    if (observer) co_await observer->close();
    if (runner) co_await runner->close();
    co_await scope.close();
    co_await services->close();
    {
      std::lock_guard const lock(mutex);
      outcome = std::move(result);
    }
    ended.notify_all();
    runtime.stop();
  }

  Co<Outcome> serve(Scope& scope) {
    // Peers in a link can say, too, whether somebody runs with a copy of our keys.
    if (auto const* const train = std::get_if<TrainJob>(&job))
      if (auto const link = task::Link::parse(train->link)) services->add_peers(link->peers);
    auto begun = co_await services->begin();
    if (!begun) co_return Outcome{std::move(begun).error(), {}};
    if (leaving) co_return Outcome{Error{Errc::cancelled, "stopped"}, {}};
    EventSink sink = [this](Event const& event) { emit(event); };
    runner = std::make_unique<JobRunner>(*services, std::move(sink));
    observer = std::make_unique<Observer>(*services, *runner, snapshots);
    releases = std::make_unique<ReleaseWatch>(*services, release_key());
    let_watch();
    observer->begin();
    runner->announce_start();
    open_door();
    std::optional<Outcome> done;
    scope.spawn("job", run_job(done));
    while (!done) {
      // Told to leave while nothing is under way that would be lost: do not wait for it.
      if (runner->may_stop()) scope.cancel();
      auto const woken = co_await stirred.wait(leaving ? runtime.now() + kLook : kNoDeadline);
      if (!woken && woken.error().code == Errc::cancelled) break;
    }
    co_return done ? *std::move(done) : Outcome{Error{Errc::cancelled, "stopped"}, {}};
  }

  Co<void> run_job(std::optional<Outcome>& done) {
    std::function<void()> begun = [this] { hear_early(); };
    done = co_await runner->run(job, std::move(begun));
    stirred.notify_all();
  }
};

Node::Node(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Result<std::unique_ptr<Node>> Node::start(Options options, Job job, EventSink events) {
  auto state = std::make_unique<State>(std::move(options), std::move(job), std::move(events));
  WAGGLE_TRY(state->services, Services::open(state->runtime, state->options));
  // Whoever asks while the network is not open yet gets what is known: who runs, and since when.
  auto starting = std::make_shared<Snapshot>();
  starting->version = state->options.version;
  starting->pid = ::getpid();
  starting->time = state->runtime.unix_time();
  state->snapshots.set(std::move(starting));
  if (state->options.serve_api) {
    auto forward = [raw = state.get()](Command command) {
      return raw->take_and_settle(std::move(command));
    };
    WAGGLE_TRY(state->api,
               Api::start(state->options.data_dir / "api.sock",
                          state->snapshots,
                          state->runtime,
                          std::move(forward)));
  }
  auto* const raw = state.get();
  if (state->api)
    state->api->offer("/v1/examples", [raw] {
      auto const examples = raw->examples();
      return examples ? to_json(*examples) : std::string("{}");
    });
  state->thread = std::thread([raw] {
    pthread_setname_np(pthread_self(), "net");
    Scope root(raw->runtime);
    root.spawn("node", raw->main());
    raw->runtime.run();
    raw->runtime.run_to_completion();  // what main() left posted
  });
  return std::unique_ptr<Node>(new Node(std::move(state)));
}

Node::~Node() {
  leave();
  if (state_->thread.joinable()) state_->thread.join();
}

Outcome Node::wait() {
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [&] { return state_->outcome.has_value(); });
  return *state_->outcome;
}

std::optional<Outcome> Node::outcome() const {
  std::lock_guard const lock(state_->mutex);
  return state_->outcome;
}

void Node::leave() {
  asio::post(state_->runtime.executor(), [raw = state_.get()] { raw->leave(); });
}

std::shared_ptr<Examples const> Node::examples() {
  return state_->examples();
}

std::shared_ptr<Snapshot const> Node::snapshot() const {
  return state_->snapshots.fresh();
}

Result<Taken> Node::send(Command command) {
  return state_->take_and_settle(std::move(command));
}

}  // namespace waggle::node
