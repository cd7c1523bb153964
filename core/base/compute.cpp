// SPDX-License-Identifier: MIT
#include "core/base/compute.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>

#include "core/base/assert.hpp"

namespace waggle {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> queue;  // guarded by mutex
  bool stopping = false;                    // guarded by mutex
  std::vector<std::thread> threads;

  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stopping || !queue.empty(); });
        if (queue.empty()) return;
        work = std::move(queue.front());
        queue.pop_front();
      }
      work();
    }
  }
};

ThreadPool::ThreadPool(std::string name, std::size_t count) : state_(std::make_unique<State>()) {
  WAGGLE_ASSERT(count >= 1);
  name.resize(std::min<std::size_t>(name.size(), 15));  // the kernel's limit
  for (std::size_t i = 0; i < count; ++i) {
    auto& thread = state_->threads.emplace_back([state = state_.get()] { state->run(); });
    pthread_setname_np(thread.native_handle(), name.c_str());
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard const lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
  for (auto& thread : state_->threads) thread.join();
}

void ThreadPool::post(std::function<void()> work) {
  {
    std::lock_guard const lock(state_->mutex);
    state_->queue.push_back(std::move(work));
  }
  state_->wake.notify_one();
}

}  // namespace waggle
