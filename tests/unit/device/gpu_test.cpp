// SPDX-License-Identifier: MIT
#include "core/device/gpu.hpp"

#include <doctest/doctest.h>

#include "tests/unit/device/tree.hpp"

using namespace waggle::device;

TEST_SUITE("gpu") {
  TEST_CASE("no library, or one that is something else, is no GPU") {
    CHECK(Nvidia("libno-such-thing.so.1").read().empty());
    CHECK(Nvidia("libc.so.6").read().empty());
  }

  TEST_CASE("a library that comes later is found, though not looked for each time") {
    waggle::test::Tree const tree;
    auto const library = (tree.path / "libnvidia-ml.so.1").string();
    Nvidia nvidia(library.c_str());
    CHECK(nvidia.read().empty());
    std::filesystem::copy_file(WAGGLE_FAKE_NVML, library);
    int looks = 1;
    while (looks < 100 && nvidia.read().empty()) ++looks;
    CHECK(looks == 30);
  }

  TEST_CASE("NVML's figures come in their units; what a card does not tell is unset") {
    Nvidia nvidia(WAGGLE_FAKE_NVML);
    auto const gpus = nvidia.read();
    CHECK(nvidia.read() == gpus);
    REQUIRE(gpus.size() == 2);
    CHECK(gpus[0].name == "NVIDIA Fake 9000");
    CHECK(gpus[0].busy == doctest::Approx(0.37));
    CHECK(gpus[0].memory_total == 8ULL << 30);
    CHECK(gpus[0].memory_used == 2ULL << 30);
    CHECK(gpus[0].celsius == 66);
    CHECK(gpus[0].watts == doctest::Approx(125.5));
    CHECK(gpus[0].address == "0000:65:00.0");
    GpuReading second;
    second.name = "NVIDIA GPU";
    second.address = "0000:b3:00.0";
    CHECK(gpus[1] == second);
  }

  TEST_CASE("amdgpu is read from its files, and no other maker's card is") {
    waggle::test::Tree const sys;
    CHECK(read_amd(sys.path).empty());
    sys.put("class/drm/card0/device/vendor", "0x10de\n");
    sys.put("class/drm/card1-HDMI-A-1/device/vendor", "0x1002\n");
    sys.put("class/drm/card1/device/vendor", "0x1002\n");
    sys.put("class/drm/card1/device/gpu_busy_percent", "55\n");
    sys.put("class/drm/card1/device/mem_info_vram_total", "17163091968\n");
    sys.put("class/drm/card1/device/mem_info_vram_used", "1000\n");
    sys.put("class/drm/card1/device/hwmon/hwmon4/temp1_input", "48000\n");
    sys.put("class/drm/card1/device/hwmon/hwmon4/power1_average", "31000000\n");
    sys.put("class/drm/card1/device/uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\nA=b\n");
    auto const gpus = read_amd(sys.path);
    REQUIRE(gpus.size() == 1);
    CHECK(gpus[0].name == "AMD GPU (card1)");
    CHECK(gpus[0].address == "0000:03:00.0");
    CHECK(gpus[0].busy == doctest::Approx(0.55));
    CHECK(gpus[0].memory_total == 17163091968ULL);
    CHECK(gpus[0].celsius == doctest::Approx(48));
    CHECK(gpus[0].watts == doctest::Approx(31));
    sys.put("class/drm/card1/device/gpu_busy_percent", "-1\n");
    sys.put("class/drm/card1/device/mem_info_vram_used", "all\n");
    CHECK(!read_amd(sys.path)[0].busy);
    CHECK(!read_amd(sys.path)[0].memory_used);
  }

  TEST_CASE("a card is found by its place, or where it is the only one") {
    GpuReading one;
    one.address = "0000:65:00.0";
    GpuReading other;
    other.address = "0000:b3:00.0";
    std::vector<GpuReading> const none;
    std::vector<GpuReading> const single{one};
    std::vector<GpuReading> const both{one, other};
    CHECK(find_gpu(none, "") == nullptr);
    CHECK(find_gpu(none, "0000:65:00.0") == nullptr);
    CHECK(find_gpu(single, "") == &single[0]);
    CHECK(find_gpu(single, "0000:b3:00.0") == nullptr);
    CHECK(find_gpu(both, "") == nullptr);
    CHECK(find_gpu(both, "0000:b3:00.0") == &both[1]);
  }
}
