// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "core/base/log.hpp"
#include "core/crypto/peer_id.hpp"
#include "core/optim/detail/optimizer_state.hpp"

namespace waggle::optim {

namespace {

constexpr Duration kTrainerTimeout = std::chrono::minutes(10);
constexpr Duration kListDonors = std::chrono::seconds(5);
constexpr Duration kRefresh = std::chrono::seconds(3);
constexpr Duration kFirstPause = std::chrono::milliseconds(200);
constexpr Duration kLastPause = std::chrono::seconds(5);
// Ahead of at least half for so long: it is we who left the road.
constexpr Duration kAheadPatience = std::chrono::seconds(10);
constexpr std::size_t kDonorsATurn = 8;
// A state may be this many epochs old when it is here; each turn that came too late allows one
// more, so that a slow link does not chase a fast swarm for ever.
constexpr std::int64_t kMostLag = 16;
// What we know of where the swarm stands may be so old; a state's label may be as many epochs ahead
// as go into that.
constexpr double kViewAge = 5;
constexpr double kMostAhead = 1000;
// DESIGN.md section 6: what a downloaded state's probe loss may be.
constexpr double kNativeBound = 1.5;  // a claim may be half a minute old, and losses go up and down
constexpr double kOwnBound = 1.5;
constexpr double kRounding = 1e-3;
constexpr int kProbationEpochs = 3;

}  // namespace

bool CollaborativeOptimizer::State::must_load(View const& view) {
  auto const others = std::count_if(view.peers.begin(), view.peers.end(), [](Standing const& p) {
    return p.believed && p.connected && !p.client_mode;
  });
  if (joining) {
    if (!view.has_peers || others == 0) return false;
    // Against one other that is behind us we keep what we have: it will come to us.
    return view.swarm_epoch > epoch || (view.swarm_epoch < epoch && others >= 2);
  }
  auto const lead = view.progress.epoch - epoch;
  if (lead >= 2) return true;
  if (lead == 1 && (samples == 0 || missed_running >= 2) && !pending) return true;
  if (view.swarm_epoch > epoch - 2 || others < 2) {
    ahead_since.reset();
    return false;
  }
  if (!ahead_since) ahead_since = runtime.now();
  if (runtime.now() < *ahead_since + kAheadPatience) return false;
  ahead_since.reset();
  joining = true;
  tracker.set_joining(true);
  return true;
}

void CollaborativeOptimizer::State::refuse_donor(PeerId const& donor, std::string why) {
  log::warning("optim", "state of ", crypto::short_text(donor), " refused: ", why);
  donors.refused(donor, std::move(why), runtime.now());
}

// How far ahead of what we know a donor's state may say to be. Whatever it says, we enter the epoch
// that the swarm is known to be at.
std::int64_t CollaborativeOptimizer::State::most_ahead(View const& view) const {
  auto const epochs =
      kViewAge * view.progress.samples_per_second / static_cast<double>(options.target_batch_size);
  return 1 + static_cast<std::int64_t>(std::clamp(epochs, 0.0, kMostAhead));
}

/// Believed peers that stand at the swarm's epoch, then those that declared a state of it or of a
/// little earlier; a label further ahead is a lie.
std::vector<PeerId> CollaborativeOptimizer::State::choose_donors(
    View const& view, std::vector<averaging::StateSharing::Donor> const& declared) const {
  auto const wanted = joining ? view.swarm_epoch : view.progress.epoch;
  std::vector<PeerId> chosen;
  auto const add = [&](PeerId const& peer) {
    if (peer == host.self() || !donors.may_ask(peer, runtime.now())) return;
    if (std::find(chosen.begin(), chosen.end(), peer) == chosen.end()) chosen.push_back(peer);
  };
  auto const standing = [&](PeerId const& peer) -> Standing const* {
    for (auto const& p : view.peers)
      if (p.peer == peer) return &p;
    return nullptr;
  };
  for (auto const& donor : declared) {
    auto const* known = standing(donor.peer);
    if (known && known->believed && known->epoch == wanted) add(donor.peer);
  }
  for (auto const& p : view.peers)
    if (p.believed && p.connected && !p.client_mode && p.epoch == wanted) add(p.peer);
  for (auto const& donor : declared) {
    auto const* known = standing(donor.peer);
    if (known && !known->believed) continue;
    if (donor.priority <= static_cast<double>(wanted + most_ahead(view))) add(donor.peer);
  }
  if (chosen.size() > kDonorsATurn) chosen.resize(kDonorsATurn);
  return chosen;
}

/// Until we stand where the swarm stands, or nobody is left to follow. Errors: cancelled, closed
/// (the trainer).
Co<Status> CollaborativeOptimizer::State::catch_up() {
  say("loading state");
  gradient_round.reset();
  gradient_assembled.reset();
  state_round.reset();
  while (pending && !pending->done) {
    auto waited = co_await wake.wait();
    if (!waited) co_return waited;
  }
  pending.reset();
  samples = 0;
  loss_sum = 0;
  trainer.clear_gradients();
  tracker.dropped();
  auto pause = kFirstPause;
  for (std::int64_t turn = 1;; ++turn) {
    if (finishing || paused) co_return ok();
    auto const view = tracker.view();
    if (!must_load(view)) {
      joining = false;
      tracker.set_joining(false);
      enter(epoch);
      co_return ok();
    }
    auto declared = co_await sharing.donors(runtime.now() + kListDonors);
    if (!declared && declared.error().code == Errc::cancelled) co_return declared.error();
    auto const chosen =
        choose_donors(view, declared ? *declared : std::vector<averaging::StateSharing::Donor>{});
    for (auto const& donor : chosen) {
      auto const loaded = co_await load_from(donor, std::min(turn, kMostLag));
      if (loaded) {
        missed_running = 0;
        co_return ok();
      }
      if (loaded.error().code == Errc::cancelled) co_return loaded;
      log::info("optim", "no state from ", crypto::short_text(donor), ": ", loaded.error().detail);
      say(cat("loading state: ", loaded.error().detail));
    }
    if (chosen.empty()) say("loading state: nobody offers it yet");
    // Nobody has it: better a step on our own gradients than none.
    if (!joining && missed_running >= 2 && view.progress.epoch == epoch + 1 && turn >= 2) {
      missed_running = 0;
      co_return co_await train_one_batch();
    }
    auto const slept = co_await runtime.sleep_for(pause);
    if (!slept) co_return slept;
    pause = std::min(2 * pause, kLastPause);
    (void)co_await tracker.refresh(runtime.now() + kRefresh);
  }
}

Co<Status> CollaborativeOptimizer::State::load_from(PeerId donor, std::int64_t lag) {
  auto const deadline = runtime.now() + options.load_state_timeout;
  std::function<void(std::uint64_t, std::uint64_t)> progress = [this](std::uint64_t done,
                                                                      std::uint64_t total) {
    say(total > 0 ? cat("loading state: ", done / 1024, " of ", total / 1024, " KiB")
                  : cat("loading state: ", done / 1024, " KiB"));
  };
  auto got = co_await sharing.download(donor, trainer.facts().download, progress, deadline);
  if (!got) {
    if (got.error().code == Errc::malformed) refuse_donor(donor, got.error().detail);
    if (got.error().code != Errc::cancelled) donors.failed(donor, runtime.now());
    co_return std::move(got).error();
  }
  auto view = tracker.view();
  auto wanted = joining ? view.swarm_epoch : view.progress.epoch;
  if (got->state.epoch > wanted) {
    // It may have stepped since our last fetch.
    auto const fresh = co_await tracker.refresh(runtime.now() + kRefresh);
    if (!fresh && fresh.error().code == Errc::cancelled) co_return fresh;
    view = tracker.view();
    wanted = joining ? view.swarm_epoch : view.progress.epoch;
  }
  if (got->state.epoch > wanted + most_ahead(view)) {
    auto why = cat("offers a state of epoch ", got->state.epoch, ", the swarm is at ", wanted);
    refuse_donor(donor, why);
    co_return Error{Errc::refused, std::move(why)};
  }
  if (got->state.epoch < wanted - lag)
    co_return Error{Errc::refused,
                    cat("its state is of epoch ", got->state.epoch, ", the swarm is at ", wanted)};
  auto const others = std::count_if(view.peers.begin(), view.peers.end(), [](Standing const& p) {
    return p.believed && p.connected;
  });
  auto const judged = co_await judge_download(*got, others <= 1);
  if (!judged) co_return judged;
  auto const restored = co_await trainer.restore(got->state, runtime.now() + kTrainerTimeout);
  if (!restored) co_return restored;
  log::info("optim", "state of epoch ", got->state.epoch, " from ", crypto::short_text(donor));
  donors.gave(donor);
  joining = false;
  tracker.set_joining(false);
  good.reset();
  current = std::make_shared<averaging::StateSnapshot const>(std::move(got->state));
  // An epoch or two old: the next average of state closes the difference, as in hivemind.
  enter(wanted);
  co_return ok();
}

Co<Result<double>> CollaborativeOptimizer::State::own_best_loss() {
  if (best_loss) co_return *best_loss;
  auto const& own = good ? good : current;
  if (!own) co_return Error{Errc::not_found, "no state of our own to compare with"};
  auto const loss = co_await trainer.probe(*own, runtime.now() + kTrainerTimeout);
  if (!loss) co_return loss.error();
  if (std::isfinite(*loss)) best_loss = *loss;
  co_return *loss;
}

/// Schema and finiteness were checked by the download; this asks whether it has learnt what it
/// says. Errors: refused (and the donor is not asked again), those of the trainer.
Co<Status> CollaborativeOptimizer::State::judge_download(averaging::DownloadedState const& got,
                                                         bool only_donor) {
  auto const deadline = runtime.now() + kTrainerTimeout;
  if (!compress::all_finite(got.state.values)) {
    refuse_donor(got.donor, "its state is not finite");
    co_return Error{Errc::refused, "its state is not finite"};
  }
  WAGGLE_CO_TRY(double const own, co_await own_best_loss());
  WAGGLE_CO_TRY(double const loss, co_await trainer.probe(got.state, deadline));
  std::string why;
  if (!std::isfinite(loss))
    why = "its state gives no finite loss";
  else if (got.native && got.state.has_test_loss &&
           loss > kNativeBound * got.state.test_loss + kRounding)
    why = cat("its state has a test loss of ", loss, ", it claimed ", got.state.test_loss);
  else if (loss > kOwnBound * own + kRounding) {
    why = cat("its state has a test loss of ", loss, ", ours was ", own);
    // Nobody else is there to ask; it must prove itself.
    if (only_donor && !probation) {
      probation = Probation{got.donor, kProbationEpochs, kOwnBound * own + kRounding, current};
      log::info("optim", why, "; accepted on probation");
      co_return ok();
    }
  }
  if (why.empty()) co_return ok();
  refuse_donor(got.donor, why);
  co_return Error{Errc::refused, std::move(why)};
}

Co<Status> CollaborativeOptimizer::State::watch_probation() {
  if (!probation || --probation->epochs_left > 0 || !current) co_return ok();
  auto const trial = *std::move(probation);
  probation.reset();
  auto const loss = co_await trainer.probe(*current, runtime.now() + kTrainerTimeout);
  if (!loss) {
    if (loss.error().code == Errc::cancelled) co_return loss.error();
    co_return ok();
  }
  if (std::isfinite(*loss) && *loss <= trial.bound) co_return ok();
  refuse_donor(
      trial.donor,
      cat("its state still had a test loss of ", *loss, " after ", kProbationEpochs, " epochs"));
  if (!trial.before) co_return ok();
  auto const restored = co_await trainer.restore(*trial.before, runtime.now() + kTrainerTimeout);
  if (!restored) co_return restored;
  current = trial.before;
  sharing.publish(current);
  enter(trial.before->epoch);
  co_return ok();
}

}  // namespace waggle::optim
