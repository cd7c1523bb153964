// SPDX-License-Identifier: MIT
#include "ui/window.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include "ui/keys.hpp"
#include "ui/mark.hpp"
#include "ui/surface.hpp"
#include "ui/tray.hpp"

namespace waggle::ui {
namespace {

constexpr double kPatience =
    0.5;                     // seconds between looks for a new snapshot; a node makes two a second
constexpr double kCalm = 5;  // seconds between frames while nothing happens
constexpr int kSettle = 3;   // frames after an input: layout and hovering need them

Theme theme_of(Choices const& choices, float display) {
  return {choices.mode, std::clamp(choices.size * display, kSmallestScale, kLargestScale)};
}

float display_scale(GLFWwindow* window) {
  float x = 1;
  float y = 1;
  glfwGetWindowContentScale(window, &x, &y);
  return std::max(x, y);
}

// GLFW's own clock, CLOCK_MONOTONIC, not counted from its start.
double monotonic_seconds() {
  return static_cast<double>(glfwGetTimerValue()) / static_cast<double>(glfwGetTimerFrequency());
}

void set_icon(GLFWwindow* window) {
  constexpr int kIconPixels = 64;
  auto pixels = mark(kIconPixels, palette(Mode::dark).accent_fill);
  GLFWimage const image{kIconPixels, kIconPixels, pixels.data()};
  glfwSetWindowIcon(window, 1, &image);
}

// Whether only clocks and counters went on: nothing that a person waits for.
bool same_story(node::Snapshot const& a, node::Snapshot const& b) {
  auto const same_task = [](node::TaskView const& x, node::TaskView const& y) {
    return x.prefix == y.prefix && x.state == y.state && x.phase == y.phase &&
           x.reason == y.reason && x.epoch == y.epoch && x.fetch_done == y.fetch_done;
  };
  return a.peers.size() == b.peers.size() && a.notices == b.notices &&
         std::ranges::equal(a.tasks, b.tasks, same_task);
}

// The loop's own memory.
struct Loop {
  Source& source;
  RunOptions options;
  Surface& surface;
  History history;
  std::shared_ptr<node::Snapshot const> snapshot;
  FrameTimes times;
  std::uint64_t painted = 0;
  double worst = 0;
  double sum = 0;
  double began = glfwGetTime();
  double looked = 0;   // when a snapshot last led to a frame
  double touched = 0;  // when a person last did something

  bool look() {
    examples = source.examples(wants_examples);
    auto newest = source.snapshot();
    if (auto trouble = source.take_trouble()) options.state.trouble = *std::move(trouble);
    auto list = source.machines();
    bool const fresh = list != machines;
    machines = std::move(list);
    if (auto const chosen = machines ? machines->chosen : std::string(); chosen != shown) {
      // Another machine: its own curves and log, as far as it was shown before.
      kept[shown] = std::exchange(history, {});
      if (auto const before = kept.extract(chosen); !before.empty())
        history = std::move(before.mapped());
      shown = chosen;
      snapshot = nullptr;
    }
    if (newest == snapshot) return fresh;
    bool const calm = !fresh && newest && snapshot && same_story(*newest, *snapshot);
    if (newest)
      history.add(*newest);
    else if (snapshot)
      history.lost(snapshot->time);
    snapshot = std::move(newest);
    // A person who has just pressed something waits for what comes of it.
    double const now = glfwGetTime();
    if (calm && now - looked < kCalm && now - touched > kCalm) return false;
    looked = now;
    return true;
  }

  /// False: it equals the one on the screen, and was not painted.
  bool frame() {
    double const start = glfwGetTime();
    auto& state = options.state;
    auto const theme = theme_of(state.choices, display_scale(surface.window));
    if (machines)
      for (auto const& machine : machines->all) {
        surface.fonts.collect(machine.name);
        surface.fonts.collect(machine.task);
      }
    if (examples) surface.fonts.collect(*examples);
    surface.prepare(theme, state.choices.language, snapshot.get());
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    Frame frame{.snapshot = snapshot.get(),
                .history = history,
                .fonts = surface.fonts,
                .theme = theme,
                .language = state.choices.language,
                .own_node = source.own_node(),
                .can_join = source.can_join(),
                .examples = examples.get()};
    auto const local = source.settings();
    if (snapshot)
      frame.settings = snapshot->settings;
    else if (local)
      frame.settings = *local;
    frame.machines = machines.get();
    draw_shell(frame, state);
    ImGui::Render();
    for (auto& request : frame.machine_requests) {
      state.trouble.clear();
      source.ask(std::move(request));
    }
    wants_examples = frame.wants_examples;
    for (auto& command : frame.commands) {
      state.trouble.clear();
      // How this window looks is nothing that a node on another machine should keep.
      if (command.kind == node::Command::Kind::set && command.name.starts_with("window."))
        source.keep(std::move(command.name), std::move(command.value));
      else
        source.send(std::move(command));
    }
    if (!frame.join.empty()) {
      state.trouble.clear();
      source.join(std::move(frame.join));
    }
    int width = 0;
    int height = 0;
    glfwGetFramebufferSize(surface.window, &width, &height);
    auto const print = fingerprint(*ImGui::GetDrawData());
    if (print == painted && times.drawn > 0 && !exposed) {
      ++times.same;
      return false;
    }
    exposed = false;
    painted = print;
    surface.paint(theme.colours(), width, height);
    double const spent = 1000 * (glfwGetTime() - start);
    sum += spent;
    worst = std::max(worst, spent);
    glfwSwapBuffers(surface.window);
    if (++times.drawn > 1) return true;
    times.first_frame_s = glfwGetTime() - began;
    times.first_frame_at = monotonic_seconds();
    return true;
  }

  /// Takes what was pressed in the tray. True: quit.
  bool obey_tray() {
    tray.update(snapshot.get(), options.state.choices.language);
    while (auto const action = tray.take()) {
      using Kind = node::Command::Kind;
      if (*action == TrayAction::quit) return true;
      if (*action == TrayAction::open) {
        glfwShowWindow(surface.window);
        glfwRestoreWindow(surface.window);
        glfwFocusWindow(surface.window);
        exposed = true;
      } else {
        source.send({.kind = *action == TrayAction::pause ? Kind::pause : Kind::resume});
      }
    }
    return false;
  }

  [[nodiscard]] bool may_stay_in_tray() {
    auto const local = source.settings();
    return !local || std::ranges::none_of(*local, [](auto const& setting) {
      return setting.name == "window.close_to_tray" && setting.value == "false";
    });
  }

  /// The window was told to close. True: it only hides, since a node of ours goes on in the tray.
  bool hide_instead() {
    if (!source.own_node() || !tray.shown() || !may_stay_in_tray()) return false;
    glfwSetWindowShouldClose(surface.window, GLFW_FALSE);
    glfwHideWindow(surface.window);
    tray.say_it_goes_on(options.state.choices.language);
    return true;
  }

  bool exposed = true;
  Keys keys;
  std::shared_ptr<Machines const> machines;
  std::string shown;                    // the machine that history and snapshot are of
  std::map<std::string, History> kept;  // of those shown before
  std::shared_ptr<node::Examples const> examples;
  bool wants_examples = false;
  TrayIcon tray{[] { glfwPostEmptyEvent(); }};
};

}  // namespace

Status run(Source& source, RunOptions options) {
  auto opened = Surface::open(true);
  if (!opened) return std::move(opened).error();
  auto& surface = **opened;
  auto* const window = surface.window;
  Loop loop{.source = source, .options = std::move(options), .surface = surface, .history = {}};
  glfwSetWindowUserPointer(window, &loop);
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) {
    static_cast<Loop*>(glfwGetWindowUserPointer(w))->exposed = true;
  });
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
    static_cast<Loop*>(glfwGetWindowUserPointer(w))->keys.on_key(w, key, scancode, action, mods);
  });
  set_icon(window);
  glfwShowWindow(window);
  int left = kSettle;
  while (glfwWindowShouldClose(window) == GLFW_FALSE || loop.hide_instead()) {
    if (loop.obey_tray()) break;
    bool const hidden = glfwGetWindowAttrib(window, GLFW_ICONIFIED) != GLFW_FALSE ||
                        glfwGetWindowAttrib(window, GLFW_VISIBLE) == GLFW_FALSE;
    if (hidden || left == 0) {
      double const before = glfwGetTime();
      glfwWaitEventsTimeout(kPatience);
      if (glfwGetTime() - before < 0.95 * kPatience) {
        left = kSettle;
        loop.touched = glfwGetTime();
      }
      // A text cursor blinks.
      if (ImGui::GetIO().WantTextInput) left = std::max(left, 1);
    } else {
      glfwPollEvents();
    }
    if (loop.look()) left = std::max(left, 1);
    if (loop.options.stop && loop.options.stop()) break;
    if (hidden || left == 0) continue;
    bool const changed = loop.frame();
    --left;
    // A card's height, and what stands below it, follow in the next ones.
    if (changed) left = std::max(left, kSettle - 1);
    if (loop.keys.frame_done(window)) left = std::max(left, 1);
    for (bool const down : ImGui::GetIO().MouseDown)
      if (down) left = std::max(left, 1);
  }
  loop.times.worst_ms = loop.worst;
  loop.times.mean_ms = loop.times.drawn == 0 ? 0 : loop.sum / static_cast<double>(loop.times.drawn);
  if (loop.options.end) loop.options.end(loop.times);
  return ok();
}

}  // namespace waggle::ui
