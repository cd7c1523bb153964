// SPDX-License-Identifier: MIT
#include "ui/window.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include "ui/keys.hpp"
#include "ui/mark.hpp"
#include "ui/pace.hpp"
#include "ui/surface.hpp"
#include "ui/tray.hpp"

namespace waggle::ui {
namespace {

constexpr int kSettle = 3;           // frames after an input: layout and hovering need them
constexpr double kHiddenLook = 5;    // seconds between looks for news that the tray shows
constexpr double kFrame = 1.0 / 60;  // seconds; between frames that change nothing on the screen

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

// Gauges and ages are what these panels are about.
Change as_shown(Change change, Panel panel) {
  bool const gauges = panel == Panel::hardware || panel == Panel::swarm || panel == Panel::machines;
  return gauges && change == Change::ambient ? Change::figures : change;
}

// Of two shared values, either of them null.
template <class T>
Change change_of(std::shared_ptr<T const> const& before, std::shared_ptr<T const> const& after) {
  if (before == after) return Change::none;
  return before && after ? change(*before, *after) : Change::story;
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
  double spent = 0;  // seconds, by layouts since the last paint
  double began = glfwGetTime();
  Pace pace;
  bool touched = false;  // a person did something since the last look
  bool iconified = false;
  bool shown_at_all = true;      // false: closed, and in the tray
  std::uint64_t last_print = 0;  // of the last layout, painted or not

  void note(Change change) { pace.note(as_shown(change, options.state.panel)); }

  /// Takes what is new.
  void look() {
    auto pictures = source.examples(wants_examples);
    if (pictures != examples) note(Change::figures);
    examples = std::move(pictures);
    auto newest = source.snapshot();
    auto file = source.settings();
    if (file != local) note(Change::story);
    local = std::move(file);
    if (auto trouble = source.take_trouble()) {
      options.state.trouble = *std::move(trouble);
      note(Change::story);
    }
    auto list = source.machines();
    note(change_of(machines, list));
    machines = std::move(list);
    if (auto const chosen = machines ? machines->chosen : std::string(); chosen != shown) {
      // Another machine: its own curves and log, as far as it was shown before.
      kept[shown] = std::exchange(history, {});
      if (auto const before = kept.extract(chosen); !before.empty())
        history = std::move(before.mapped());
      shown = chosen;
      snapshot = nullptr;
    }
    if (newest == snapshot) return;
    note(change_of(snapshot, newest));
    if (newest)
      history.add(*newest);
    else
      history.lost(snapshot->time);
    snapshot = std::move(newest);
  }

  /// Lays a frame out and passes on what was asked for in it. True: it differs from the last one.
  bool lay_out() {
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
    ImGui::GetIO().ConfigInputTextCursorBlink = pace.blinks(start);
    ImGui::NewFrame();
    Frame frame{.snapshot = snapshot.get(),
                .history = history,
                .fonts = surface.fonts,
                .theme = theme,
                .language = state.choices.language,
                .own_node = source.own_node(),
                .can_join = source.can_join(),
                .examples = examples.get()};
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
    if (options.focus && focused != state.tab.name) options.focus(focused = state.tab.name);
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
    pace.laid_out(start);
    ++times.laid_out;
    spent += glfwGetTime() - start;
    auto const before = std::exchange(last_print, fingerprint(*ImGui::GetDrawData()));
    return last_print != before;
  }

  /// Puts the last layout on the screen. False: it is there already.
  bool paint() {
    double const layouts = std::exchange(spent, 0);
    if (last_print == painted && times.drawn > 0 && !exposed) return false;
    double const start = glfwGetTime();
    exposed = false;
    painted = last_print;
    int width = 0;
    int height = 0;
    glfwGetFramebufferSize(surface.window, &width, &height);
    surface.paint(theme_of(options.state.choices, 1).colours(), width, height);
    double const took = 1000 * (layouts + glfwGetTime() - start);
    sum += took;
    worst = std::max(worst, took);
    glfwSwapBuffers(surface.window);
    if (++times.drawn > 1) return true;
    times.first_frame_s = glfwGetTime() - began;
    times.first_frame_at = monotonic_seconds();
    // What talks to the desktop only once there is something to see.
    tray.emplace([] { glfwPostEmptyEvent(); });
    return true;
  }

  /// Lays out until nothing moves any more, cards' heights follow in a frame or two, and paints
  /// once. For frames that nobody asked for.
  void refresh() {
    for (int i = 0; i < kSettle && lay_out(); ++i) {
    }
    (void)paint();
  }

  /// Asks the display only where this is not known: some window managers just unmap a window.
  [[nodiscard]] bool hidden() const {
    return iconified || !shown_at_all ||
           glfwGetWindowAttrib(surface.window, GLFW_VISIBLE) == GLFW_FALSE;
  }

  /// Takes what was pressed in the tray. True: quit.
  bool obey_tray() {
    if (!tray) return false;
    tray->update(snapshot.get(), options.state.choices.language);
    while (auto const action = tray->take()) {
      using Kind = node::Command::Kind;
      touched = true;
      if (*action == TrayAction::quit) return true;
      if (*action == TrayAction::open) {
        glfwShowWindow(surface.window);
        glfwRestoreWindow(surface.window);
        glfwFocusWindow(surface.window);
        shown_at_all = true;
        exposed = true;
      } else {
        source.send({.kind = *action == TrayAction::pause ? Kind::pause : Kind::resume});
      }
    }
    return false;
  }

  [[nodiscard]] bool may_stay_in_tray() {
    auto const file = source.settings();
    return !file || std::ranges::none_of(*file, [](auto const& setting) {
      return setting.name == "window.close_to_tray" && setting.value == "false";
    });
  }

  /// The window was told to close. True: it only hides, since a node of ours goes on in the tray.
  bool hide_instead() {
    if (!source.own_node() || !tray || !tray->shown() || !may_stay_in_tray()) return false;
    glfwSetWindowShouldClose(surface.window, GLFW_FALSE);
    glfwHideWindow(surface.window);
    shown_at_all = false;
    tray->say_it_goes_on(options.state.choices.language);
    return true;
  }

  bool exposed = true;
  Keys keys;
  std::shared_ptr<Machines const> machines;
  std::shared_ptr<std::vector<node::SettingView> const> local;  // what waggle.toml says
  std::string shown;                    // the machine that history and snapshot are of
  std::map<std::string, History> kept;  // of those shown before
  std::shared_ptr<node::Examples const> examples;
  bool wants_examples = false;
  std::string focused;           // what options.focus was last told
  std::optional<TrayIcon> tray;  // from the first frame on
};

Loop& loop_of(GLFWwindow* window) {
  return *static_cast<Loop*>(glfwGetWindowUserPointer(window));
}

// What a person does goes to ImGui, and wakes us up.
void listen(GLFWwindow* window) {
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int mods) {
    loop_of(w).touched = true;
    loop_of(w).keys.on_key(w, key, scancode, action, mods);
  });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned letter) {
    loop_of(w).touched = true;
    ImGui_ImplGlfw_CharCallback(w, letter);
  });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int mods) {
    loop_of(w).touched = true;
    ImGui_ImplGlfw_MouseButtonCallback(w, button, action, mods);
  });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double x, double y) {
    loop_of(w).touched = true;
    ImGui_ImplGlfw_ScrollCallback(w, x, y);
  });
  glfwSetCursorPosCallback(window,
                           [](GLFWwindow* w, double, double) { loop_of(w).touched = true; });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int entered) {
    loop_of(w).touched = true;
    ImGui_ImplGlfw_CursorEnterCallback(w, entered);
  });
  glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int focused) {
    loop_of(w).touched = true;
    loop_of(w).pace.focused(focused != GLFW_FALSE);
    ImGui_ImplGlfw_WindowFocusCallback(w, focused);
  });
  glfwSetWindowIconifyCallback(window, [](GLFWwindow* w, int iconified) {
    loop_of(w).touched = true;
    loop_of(w).iconified = iconified != GLFW_FALSE;
  });
  glfwSetFramebufferSizeCallback(window,
                                 [](GLFWwindow* w, int, int) { loop_of(w).touched = true; });
  glfwSetWindowContentScaleCallback(window,
                                    [](GLFWwindow* w, float, float) { loop_of(w).touched = true; });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { loop_of(w).exposed = true; });
}

}  // namespace

void wake() {
  glfwPostEmptyEvent();
}

Status run(Source& source, RunOptions options) {
  auto opened = Surface::open(true);
  if (!opened) return std::move(opened).error();
  auto& surface = **opened;
  auto* const window = surface.window;
  Loop loop{.source = source, .options = std::move(options), .surface = surface, .history = {}};
  glfwSetWindowUserPointer(window, &loop);
  listen(window);
  set_icon(window);
  glfwShowWindow(window);
  auto& pace = loop.pace;
  pace.touched(glfwGetTime());  // who opens a window looks at it
  int left = kSettle;           // frames that an input still wants
  bool moved = true;            // the last one of them was painted
  bool hidden = false;          // when it last had something to show
  auto const mind_touch = [&] {
    if (!std::exchange(loop.touched, false)) return;
    left = kSettle;
    pace.touched(glfwGetTime());
  };
  while (glfwWindowShouldClose(window) == GLFW_FALSE || loop.hide_instead()) {
    if (loop.obey_tray()) break;
    mind_touch();
    bool const typing = ImGui::GetIO().WantTextInput;
    if (hidden && !pace.lively(glfwGetTime()))
      glfwWaitEventsTimeout(kHiddenLook);
    else if (hidden || left == 0)
      glfwWaitEventsTimeout(pace.sleep(glfwGetTime(), typing));
    else if (moved)
      glfwPollEvents();  // the display sets the pace
    else
      glfwWaitEventsTimeout(kFrame);
    mind_touch();
    loop.look();
    if (loop.options.stop && loop.options.stop()) break;
    bool const wanted = left > 0 || loop.exposed || pace.due(glfwGetTime(), typing);
    if (wanted) hidden = loop.hidden();
    source.attend(hidden                         ? Source::Attention::none
                  : pace.attended(glfwGetTime()) ? Source::Attention::full
                                                 : Source::Attention::little);
    if (!wanted || hidden) continue;
    if (left == 0) {
      loop.refresh();
      continue;
    }
    (void)loop.lay_out();
    moved = loop.paint();
    --left;
    // A card's height, and what stands below it, follow in the next ones.
    if (moved) left = std::max(left, kSettle - 1);
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
