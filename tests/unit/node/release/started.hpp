// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <utility>

#include <doctest/doctest.h>

#include "core/node/services.hpp"

namespace waggle::test {

/// A node of this machine alone, without its API.
inline node::Options alone(std::filesystem::path folder) {
  node::Options options;
  options.data_dir = std::move(folder);
  options.listen_host = "127.0.0.1";
  options.serve_api = false;
  return options;
}

/// `work` between the begin and the close of what runs below any task.
inline Co<void> with_services(Runtime& runtime,
                              node::Options options,
                              std::function<Co<void>(node::Services&)> work) {
  auto opened = node::Services::open(runtime, std::move(options));
  REQUIRE(opened);
  auto& services = **opened;
  auto const begun = co_await services.begin();
  REQUIRE(begun);
  co_await work(services);
  co_await services.close();
}

}  // namespace waggle::test
