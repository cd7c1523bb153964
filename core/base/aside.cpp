// SPDX-License-Identifier: MIT
#include "core/base/aside.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <signal.h>

#include "core/base/assert.hpp"

namespace waggle::detail {
namespace {

constexpr Duration kLeave = std::chrono::milliseconds(500);
constexpr std::size_t kLongestName = 15;  // the kernel's

}  // namespace

struct AsideThread::State {
  std::function<void()> work;
  std::mutex mutex;
  std::condition_variable changed;
  bool busy = false;        // guarded by mutex
  bool stopping = false;    // guarded by mutex
  bool gone = false;        // guarded by mutex
  Duration leave = kLeave;  // guarded by mutex

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return busy || stopping; });
      if (stopping) break;
      lock.unlock();
      work();
      lock.lock();
      busy = false;
    }
    // What it owns ends here and before whoever leaves goes on: it may have something to put back.
    lock.unlock();
    work = nullptr;
    lock.lock();
    gone = true;
    changed.notify_all();
  }
};

AsideThread::AsideThread(std::string name, std::function<void()> work)
    : state_(std::make_shared<State>()) {
  state_->work = std::move(work);
  // Signals are for the threads that wait for them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Detached: a hung call cannot be joined, and holds what it uses by its own reference.
  std::thread([state = state_, name = std::move(name)] {
    pthread_setname_np(pthread_self(), name.substr(0, kLongestName).c_str());
    state->run();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

AsideThread::~AsideThread() {
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, state_->leave, [this] { return state_->gone; });
}

bool AsideThread::busy() const {
  std::lock_guard const lock(state_->mutex);
  return state_->busy;
}

void AsideThread::begin() {
  std::lock_guard const lock(state_->mutex);
  WAGGLE_ASSERT(!state_->busy, "asked while a question is under way");
  state_->busy = true;
  state_->changed.notify_all();
}

void AsideThread::patience(Duration at_the_end) {
  std::lock_guard const lock(state_->mutex);
  state_->leave = at_the_end;
}

}  // namespace waggle::detail
