// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <asio/async_result.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include "core/base/runtime.hpp"

namespace waggle {

/// Where work runs that would hold up the network thread: the codec and reduction (compute pool),
/// SQLite and files (store thread). Functions posted here touch only what was moved into them or
/// what the posting coroutine leaves alone until they are done.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Thread: any. `work` must not throw.
  virtual void post(std::function<void()> work) = 0;
};

/// `count` threads (≥ 1), each named `name`, joined by the destructor after what was posted is
/// done.
class ThreadPool final : public Executor {
 public:
  ThreadPool(std::string name, std::size_t count);
  ~ThreadPool() override;
  void post(std::function<void()> work) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs what is posted at once, in the caller: for the simulator and for unit tests.
class InlineExecutor final : public Executor {
 public:
  void post(std::function<void()> work) override { work(); }
};

namespace detail {

template <class R>
struct Outcome {
  using type = R;
};

template <>
struct Outcome<void> {
  using type = std::monostate;
};

}  // namespace detail

/// Runs `f` on `executor` and resumes on the network thread with its value (std::monostate for
/// void). Not cancellable: what `f` refers to stays alive because the caller stays suspended. `f`
/// must not throw. g++ 12: name the lambda first and move it in (see .github/CONTRIBUTING.md).
template <class F>
[[nodiscard]] Co<typename detail::Outcome<std::invoke_result_t<F&>>::type> on(Executor& executor,
                                                                              Runtime& runtime,
                                                                              F f) {
  using R = typename detail::Outcome<std::invoke_result_t<F&>>::type;
  auto initiate = [&](auto handler) {
    auto shared_handler = std::make_shared<decltype(handler)>(std::move(handler));
    auto shared_f = std::make_shared<F>(std::move(f));
    executor.post([shared_handler, shared_f, home = runtime.executor()] {
      auto value = [&]() -> R {
        if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
          (*shared_f)();
          return {};
        } else {
          return (*shared_f)();
        }
      }();
      asio::post(home, [shared_handler, value = std::make_shared<R>(std::move(value))] {
        std::move (*shared_handler)(std::move(*value));
      });
    });
  };
  co_return co_await asio::async_initiate<asio::use_awaitable_t<> const, void(R)>(
      initiate, asio::use_awaitable);
}

}  // namespace waggle
