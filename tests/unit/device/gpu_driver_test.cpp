// SPDX-License-Identifier: MIT
#include "core/device/gpu_driver.hpp"

#include <doctest/doctest.h>

#include "tests/unit/device/tree.hpp"

using namespace waggle::device;

TEST_CASE("gpu_driver, names what is missing, and nothing where all is there") {
  waggle::test::Tree const tree;
  CHECK(missing_driver_files(GpuMaker::nvidia, tree.path) ==
        std::vector<std::string>{"libcuda.so.1",
                                 "libnvidia-ml.so.1",
                                 "/proc/driver/nvidia/version",
                                 "/dev/nvidiactl",
                                 "/dev/nvidia0",
                                 "/dev/nvidia-uvm"});
  tree.put("proc/driver/nvidia/version", "NVRM version: 1\n");
  for (auto const* const file : {"dev/nvidiactl", "dev/nvidia0"}) tree.put(file, "");
  tree.put("usr/lib64/libcuda.so.1", "no library: it is not loaded");
  CHECK(missing_driver_files(GpuMaker::nvidia, tree.path) ==
        std::vector<std::string>{"libnvidia-ml.so.1", "/dev/nvidia-uvm"});
  tree.put("dev/nvidia-uvm", "");
  // Elsewhere, as ldconfig lists it; listed alone is not enough.
  std::string cache = "glibc-ld.so.cache1.1";
  cache += std::string(1, '\0') + "libnvidia-ml.so.1" + std::string(1, '\0') +
           "/opt/driver/libnvidia-ml.so.1" + std::string(1, '\0');
  tree.put("etc/ld.so.cache", cache);
  CHECK(missing_driver_files(GpuMaker::nvidia, tree.path) ==
        std::vector<std::string>{"libnvidia-ml.so.1"});
  tree.put("opt/driver/libnvidia-ml.so.1", "");
  CHECK(missing_driver_files(GpuMaker::nvidia, tree.path).empty());
}

TEST_CASE("gpu_driver, a list of libraries that is cut or foreign names none") {
  waggle::test::Tree const tree;
  for (std::string const& cache :
       {std::string("/libcuda.so.1"), std::string("/libcuda.so.1\0", 14), std::string(5000, '/')}) {
    tree.put("etc/ld.so.cache", cache);
    CHECK(missing_driver_files(GpuMaker::nvidia, tree.path).size() == 6);
  }
}

TEST_CASE("gpu_driver, of AMD's driver it names the module and the devices") {
  waggle::test::Tree const tree;
  CHECK(missing_driver_files(GpuMaker::amd, tree.path) ==
        std::vector<std::string>{"/sys/module/amdgpu", "/dev/kfd", "/dev/dri/renderD*"});
  tree.put("sys/module/amdgpu/version", "6.7\n");
  tree.put("dev/dri/card0", "");
  CHECK(missing_driver_files(GpuMaker::amd, tree.path) ==
        std::vector<std::string>{"/dev/kfd", "/dev/dri/renderD*"});
  for (auto const* const file : {"dev/kfd", "dev/dri/renderD128"}) tree.put(file, "");
  CHECK(missing_driver_files(GpuMaker::amd, tree.path).empty());
}

TEST_CASE("gpu_driver, a card is on the bus with a driver or without; its sound is none") {
  waggle::test::Tree const tree;
  auto const put = [&tree](std::string const& slot, char const* kind, char const* vendor) {
    tree.put("sys/bus/pci/devices/" + slot + "/class", kind);
    tree.put("sys/bus/pci/devices/" + slot + "/vendor", vendor);
  };
  CHECK(!on_pci_bus(GpuMaker::nvidia, tree.path));
  put("0000:01:00.1", "0x040300\n", "0x10de\n");
  put("0000:00:02.0", "0x030000\n", "0x8086\n");
  CHECK(!on_pci_bus(GpuMaker::nvidia, tree.path));
  put("0000:01:00.0", "0x030200\n", "0x10de\n");
  CHECK(on_pci_bus(GpuMaker::nvidia, tree.path));
  CHECK(!on_pci_bus(GpuMaker::amd, tree.path));
  put("0000:03:00.0", "0x030000\n", "0x1002\n");
  CHECK(on_pci_bus(GpuMaker::amd, tree.path));
}

TEST_CASE("gpu_driver, each sign of a driver with a card is one") {
  for (auto const* const sign :
       {"dev/nvidiactl", "dev/nvidia0", "proc/driver/nvidia/version", "dev/dxg"}) {
    CAPTURE(sign);
    waggle::test::Tree const tree;
    tree.put("dev/dri/renderD128", "");
    CHECK(!nvidia_has_card(tree.path));
    tree.put(sign, "");
    CHECK(nvidia_has_card(tree.path));
  }
}
