// SPDX-License-Identifier: MIT
#include "core/device/gpu_driver.hpp"

#include <doctest/doctest.h>

#include "tests/unit/device/tree.hpp"

using namespace waggle::device;

TEST_CASE("gpu_driver, names what is missing, and nothing where all is there") {
  waggle::test::Tree const tree;
  CHECK(missing_driver_files(tree.path, {"libno-such-thing.so.1", "libc.so.6"}) ==
        std::vector<std::string>{"libno-such-thing.so.1",
                                 "/proc/driver/nvidia/version",
                                 "/dev/nvidiactl",
                                 "/dev/nvidia0",
                                 "/dev/nvidia-uvm"});
  tree.put("proc/driver/nvidia/version", "NVRM version: 1\n");
  for (auto const* const file : {"dev/nvidiactl", "dev/nvidia0"}) tree.put(file, "");
  CHECK(missing_driver_files(tree.path, {"libc.so.6"}) ==
        std::vector<std::string>{"/dev/nvidia-uvm"});
  tree.put("dev/nvidia-uvm", "");
  CHECK(missing_driver_files(tree.path, {WAGGLE_FAKE_NVML}).empty());
}
