// SPDX-License-Identifier: MIT
#include "ui/text.hpp"

#include <string_view>

#include <doctest/doctest.h>

using namespace waggle::ui;

namespace {

int holes(std::string_view text) {
  int n = 0;
  for (auto at = text.find("{}"); at != std::string_view::npos; at = text.find("{}", at + 2)) ++n;
  return n;
}

bool has_han(std::string_view text) {
  for (unsigned char const c : text)
    if (c >= 0xE3) return true;
  return false;
}

}  // namespace

TEST_CASE("every key has its row, in order, with words in both languages") {
  auto const rows = catalogue();
  REQUIRE(rows.size() == kTextCount);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(static_cast<std::size_t>(rows[i].key) == i);
    CHECK_FALSE(std::string_view(rows[i].english).empty());
    CHECK_FALSE(std::string_view(rows[i].chinese).empty());
  }
}

TEST_CASE("both languages take the same values") {
  for (auto const& row : catalogue()) {
    CAPTURE(row.english);
    CHECK(holes(row.english) == holes(row.chinese));
  }
}

TEST_CASE("what has words is translated, not copied") {
  for (auto const& row : catalogue()) {
    CAPTURE(row.english);
    std::string_view const english(row.english);
    CHECK_FALSE(has_han(english));
    if (english != row.chinese) CHECK((has_han(row.chinese) || holes(english) > 0));
  }
}

TEST_CASE("values go where the holes are") {
  CHECK(fill("{} of {}", {"1", "2"}) == "1 of 2");
  CHECK(fill("{} of {}", {"1"}) == "1 of ");
  CHECK(fill("none", {"1"}) == "none");
  CHECK(fill("{}", {"{}"}) == "{}");
}

TEST_CASE("no space stands between two Chinese letters, whatever fills the hole") {
  CHECK(fill("约 {} 个参数", {"31.04 万"}) == "约 31.04 万个参数");
  CHECK(fill("约 {} 个参数", {"20,864"}) == "约 20,864 个参数");
  CHECK(fill("等 {} 完成", {"衣服分类"}) == "等衣服分类完成");
  CHECK(fill("等 {} 完成", {"Stripes"}) == "等 Stripes 完成");
  CHECK(fill("{} of {}", {"起", "…"}) == "起 of …");
  CHECK(fill("约 {}", {}) == "约 ");
}

TEST_CASE("a node's sentence begins with a capital where it stands alone") {
  CHECK(sentence("on battery (62 %)") == "On battery (62 %)");
  CHECK(sentence("…Sp3QFX: claims") == "…Sp3QFX: claims");
  CHECK(sentence("正在使用电池") == "正在使用电池");
  CHECK(sentence("").empty());
}

TEST_CASE("a node's own words have a key where we know them, and stay themselves where not") {
  CHECK(translated("averaging gradients", Language::chinese) == "正在与其他人平均梯度");
  CHECK(translated("paused", Language::english) != "");
  CHECK(translated("rolling back to epoch 3", Language::chinese) == "rolling back to epoch 3");
  for (auto const* const state :
       {"finding", "fetching", "starting", "training", "paused", "finishing", "done", "failed"})
    CHECK(state_text(state));
}

TEST_CASE("a node's sentences are found by what stands around their figures") {
  using Values = std::vector<std::string_view>;
  CHECK(values_in("port 1 was busy, listening on 2", "port {} was busy, listening on {}") ==
        Values{"1", "2"});
  CHECK(values_in("a: b: c", "{}: {}") == Values{"a", "b: c"});
  CHECK(values_in("plain", "plain") == Values{});
  CHECK(values_in("", "{}") == Values{""});
  CHECK_FALSE(values_in("plainer", "plain"));
  CHECK_FALSE(values_in("port 1 was busy", "port {} was busy, listening on {}"));
  CHECK_FALSE(values_in("x end", "{} end {}"));
  // What stands before and behind may not be the same letters.
  CHECK_FALSE(values_in("ab", "ab{}b"));
}

TEST_CASE(
    "notices and reasons are said in Chinese too, one inside the other, behind a peer's name") {
  auto const zh = Language::chinese;
  CHECK(translated("nobody reachable knows the task x; is one of the addresses in its link alive?",
                   zh) == "没有可连接的节点知道项目 x；其链接中的地址是否有在线的？");
  CHECK(translated("x stopped: task x was ended by its operator", zh) ==
        "x 已停止：项目 x 已由其发起人结束");
  CHECK(translated("…Sp3QFX: claims epoch 9, the swarm is at 4", zh) ==
        "…Sp3QFX: 声明在第 9 轮，群体在第 4 轮");
  CHECK(
      translated("the GPU was lost: CUDA error: x; it trains on the processor. Missing of NVIDIA's "
                 "driver: libcuda.so.1, /dev/nvidiactl; it is tried again every 5 minutes",
                 zh) ==
      "GPU 不可用了：CUDA error: x；改用处理器训练。NVIDIA 驱动缺少：libcuda.so.1, "
      "/dev/nvidiactl；每 5 分钟重试一次");
  CHECK(translated(
            "gpu_power_cap: NVIDIA A is not limited to 150 W: only root may do that (its driver "
            "allows 100 to 350 W); run `nvidia-smi -pl 150` as root and set gpu_power_cap to 0",
            zh) ==
        "gpu_power_cap：无法将 NVIDIA A 限制在 150 瓦：只有 root 才能设置（驱动允许 100 to 350 "
        "W）；请以 root 运行 `nvidia-smi -pl 150` 并将 gpu_power_cap 设为 0");
  CHECK(
      translated("the trainer could use a GPU, but does not: this kernel has no Landlock, without "
                 "which a GPU is not let into the sandbox; it trains on the processor. Another "
                 "try does not help: start a Linux kernel from 5.13 on with Landlock, and Waggle "
                 "again",
                 zh) ==
      "训练程序支持 GPU，但未能使用：当前内核没有 Landlock，无法让沙箱中的程序使用 "
      "GPU；改用处理器训练。重试无济于事：请启动 5.13 或更新的、带 Landlock 的 Linux "
      "内核，再启动 Waggle");
  CHECK(
      translated("gpu_power_cap of 150 W is not held: only NVIDIA's cards are limited, and Radeon "
                 "X is AMD's; set gpu_power_cap to 0",
                 zh) ==
      "gpu_power_cap（150 瓦）未能生效：只能限制 NVIDIA 的显卡，而 Radeon X 是 AMD "
      "的；请将 gpu_power_cap 设为 0");
  CHECK(
      translated("the trainer could use a GPU, but does not: no GPU was found; it trains on the "
                 "processor. Missing of AMD's driver: /dev/kfd; once they are there, it is tried "
                 "within 5 minutes",
                 zh) ==
      "训练程序支持 GPU，但未能使用：未找到 GPU；改用处理器训练。AMD 驱动缺少：/dev/kfd；补齐后 5 "
      "分钟内会重试");
  CHECK(translated("the trainer could use a GPU, but does not: no GPU was found; it trains on the "
                   "processor. Its engine is for cards of NVIDIA, and this computer's is of AMD: "
                   "choose a trainer that was built for that",
                   zh) ==
        "训练程序支持 GPU，但未能使用：未找到 GPU；改用处理器训练。其引擎只支持 NVIDIA "
        "的显卡，而本机显卡是 AMD 的：请选择为其构建的训练程序");
  CHECK(translated("max_gpu_memory is not held: of a trainer with ROCm it never is; set "
                   "max_gpu_memory to 0",
                   zh) ==
        "max_gpu_memory 未能生效：使用 ROCm 的训练程序不支持该限制；请将 max_gpu_memory 设为 0");
  CHECK(translated("max_gpu_memory of 64 MiB is too small for this model, whose weights and "
                   "gradients alone take 121 MiB; it trains on the processor. Raise "
                   "max_gpu_memory, set it to 0 for no limit, or leave it so",
                   zh) ==
        "max_gpu_memory（64 MiB）对该模型太小：仅权重和梯度就需要 121 MiB；改用处理器训练。请调大 "
        "max_gpu_memory，或设为 0 不加限制，也可保持不变");
  CHECK(translated("max_gpu_memory of 64 MiB, or what other programs leave of the GPU's memory, is "
                   "too small for this model, whose weights and gradients alone take 60 MiB; it "
                   "trains on the processor. Raise max_gpu_memory, or set it to 0 for no limit. It "
                   "is tried again in 5 minutes, then more seldom",
                   zh) ==
        "max_gpu_memory（64 MiB）或其他程序剩下的显存不足以容纳该模型：仅权重和梯度就需要 60 "
        "MiB；改用处理器训练。请调大 max_gpu_memory，或设为 0 不加限制。5 "
        "分钟后重试，之后间隔逐渐加长");
  CHECK(translated("the GPU's memory is too small for this model, whose weights and gradients "
                   "alone take 120 MiB; it trains on the processor. Other programs may hold some "
                   "of it, too. It is tried again every 5 minutes",
                   zh) ==
        "显存不足以容纳该模型：仅权重和梯度就需要 120 "
        "MiB；改用处理器训练。其他程序也可能占用了显存。每 5 分钟重试一次");
  CHECK(translated("is named twice", Language::english) == "is named twice");
  // What a node calls a task is a project in the window.
  CHECK(translated("x stopped: task x was ended by its operator", Language::english) ==
        "x stopped: the project x was ended by its operator");
  CHECK(translated("nobody reachable knows the task x; is one of the addresses in its link alive?",
                   Language::english) ==
        "nobody reachable knows the project x; is one of the addresses in its link alive?");
  CHECK(translated("…Sp3QFX: missed 2 rounds running; the 128 samples that it announces count once "
                   "it brings some",
                   Language::english) ==
        "…Sp3QFX: missed 2 rounds in a row; its 128 announced samples do not count until it brings "
        "some");
  for (auto const language : {Language::english, zh})
    CHECK(translated("this machine does not know you; pair with it first: waggle pair", language) ==
          tr(Text::plain_unknown_there, language));
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "a: ";
  CHECK(translated(deep, zh) == deep);
}

TEST_CASE("the locale chooses the language") {
  CHECK(language_of_locale("zh_CN.UTF-8") == Language::chinese);
  CHECK(language_of_locale("de_DE.UTF-8") == Language::english);
  CHECK(language_of_locale("") == Language::english);
}

TEST_CASE("why a rule pauses is said in Chinese too, with its figures") {
  auto const zh = Language::chinese;
  CHECK(translated("on battery (62 %)", zh) == "正在使用电池 (62 %)");
  CHECK(translated("blender is running", zh) == "blender 正在运行");
  CHECK(translated("other programs use 31 % of the processor", zh) == "其他程序占用 31 % 的处理器");
  CHECK(translated("you are using this computer", zh) == "电脑正在使用中");
  CHECK(translated("this computer was used 3 minutes ago", zh) == "电脑正在使用中");
  CHECK(translated("this network is metered", zh) == "当前为按流量计费的网络");
  CHECK(translated("mpv keeps the screen on", zh) == "mpv 正在保持屏幕常亮");
  CHECK(translated("today's network traffic is spent: 2050 / 2048 MiB, until midnight", zh) ==
        "今天的网络流量已用完：2050 / 2048 MiB，到零点为止");
  CHECK(translated("the trainer failed 5 times in a row: killed by signal 9", zh) ==
        "训练程序连续失败 5 次：killed by signal 9");
  CHECK(translated("on battery (62 %)", Language::english) == "on battery (62 %)");
}
