// SPDX-License-Identifier: MIT
// The only file that knows GLFW and OpenGL.
#include "ui/window.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include "core/base/text.hpp"

#include "ui/mark.hpp"
#include "ui/tray.hpp"

namespace waggle::ui {
namespace {

constexpr int kWidth = 1120;  // units, at first
constexpr int kHeight = 760;
constexpr int kLeastWidth = 480;
constexpr int kLeastHeight = 360;
constexpr double kPatience =
    0.5;                     // seconds between looks for a new snapshot; a node makes two a second
constexpr double kCalm = 5;  // seconds between frames while nothing happens
constexpr int kSettle = 3;   // frames after an input: layout and hovering need them

// The few functions beyond the backend's, looked up at run time: nothing links to libGL.
struct Gl {
  decltype(&glViewport) viewport = nullptr;
  decltype(&glClearColor) clear_colour = nullptr;
  decltype(&glClear) clear = nullptr;
  decltype(&glReadPixels) read_pixels = nullptr;
  decltype(&glPixelStorei) pixel_store = nullptr;
  void (*gen_framebuffers)(GLsizei, GLuint*) = nullptr;
  void (*bind_framebuffer)(GLenum, GLuint) = nullptr;
  void (*delete_framebuffers)(GLsizei, GLuint const*) = nullptr;
  void (*gen_renderbuffers)(GLsizei, GLuint*) = nullptr;
  void (*bind_renderbuffer)(GLenum, GLuint) = nullptr;
  void (*delete_renderbuffers)(GLsizei, GLuint const*) = nullptr;
  void (*renderbuffer_storage)(GLenum, GLenum, GLsizei, GLsizei) = nullptr;
  void (*framebuffer_renderbuffer)(GLenum, GLenum, GLenum, GLuint) = nullptr;

  template <class F>
  static bool get(char const* name, F& into) {
    into = reinterpret_cast<F>(glfwGetProcAddress(name));
    return into != nullptr;
  }

  bool load() {
    return get("glViewport", viewport) && get("glClearColor", clear_colour) &&
           get("glClear", clear) && get("glReadPixels", read_pixels) &&
           get("glPixelStorei", pixel_store) && get("glGenFramebuffers", gen_framebuffers) &&
           get("glBindFramebuffer", bind_framebuffer) &&
           get("glDeleteFramebuffers", delete_framebuffers) &&
           get("glGenRenderbuffers", gen_renderbuffers) &&
           get("glBindRenderbuffer", bind_renderbuffer) &&
           get("glDeleteRenderbuffers", delete_renderbuffers) &&
           get("glRenderbufferStorage", renderbuffer_storage) &&
           get("glFramebufferRenderbuffer", framebuffer_renderbuffer);
  }
};

constexpr GLenum kFramebuffer = 0x8D40;
constexpr GLenum kRenderbuffer = 0x8D41;
constexpr GLenum kColourAttachment = 0x8CE0;
constexpr GLenum kRgba8 = 0x8058;

std::string glfw_trouble() {
  char const* words = nullptr;
  glfwGetError(&words);
  return words != nullptr ? words : "unknown";
}

// A GLFW window with OpenGL 3 and an ImGui context.
class Surface {
 public:
  static Result<std::unique_ptr<Surface>> open(bool visible) {
    if (glfwInit() == GLFW_FALSE)
      return Error{Errc::refused, cat("no window can be opened here: ", glfw_trouble())};
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "waggle");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "waggle");
    auto* const window =
        glfwCreateWindow(visible ? kWidth : 64, visible ? kHeight : 64, "Waggle", nullptr, nullptr);
    if (window == nullptr) {
      auto const why = glfw_trouble();
      glfwTerminate();
      return Error{Errc::refused, cat("no OpenGL 3 window can be opened: ", why)};
    }
    auto surface = std::unique_ptr<Surface>(new Surface(window));
    if (!surface->gl.load()) return Error{Errc::refused, "OpenGL has no framebuffer objects"};
    glfwSetWindowSizeLimits(window, kLeastWidth, kLeastHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
    return surface;
  }

  ~Surface() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    glfwDestroyWindow(window);
    glfwTerminate();
  }

  Surface(Surface const&) = delete;
  Surface& operator=(Surface const&) = delete;

  /// Fonts and style for what is to be drawn next.
  void prepare(Theme const& theme, Language language, node::Snapshot const* snapshot) {
    if (fonts.prepare(theme.scale, language, snapshot)) {
      ImGui_ImplOpenGL3_DestroyFontsTexture();
      ImGui_ImplOpenGL3_CreateFontsTexture();
    }
    if (theme.mode != mode_ || theme.scale != scale_) apply(theme);
    mode_ = theme.mode;
    scale_ = theme.scale;
  }

  void paint(Palette const& colours, int width, int height) {
    gl.viewport(0, 0, width, height);
    auto const part = [](std::uint8_t c) { return static_cast<float>(c) / 255.0F; };
    auto const& back = colours.background;
    gl.clear_colour(part(back.r), part(back.g), part(back.b), 1);
    gl.clear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  }

  GLFWwindow* window;
  Gl gl;
  Fonts fonts;

 private:
  explicit Surface(GLFWwindow* w) : window(w) {
    glfwMakeContextCurrent(window);
    glfwSwapInterval(1);
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    auto& io = ImGui::GetIO();
    io.IniFilename = nullptr;  // waggle.toml is the only file of settings
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    ImGui_ImplOpenGL3_Init("#version 130");
  }

  Mode mode_ = Mode::dark;
  float scale_ = 0;
};

/// What draw_shell laid out, as one number: equal frames need no painting.
std::uint64_t fingerprint(ImDrawData const& data) {
  std::uint64_t h = 14'695'981'039'346'656'037ULL;
  auto const take = [&h](void const* begin, std::size_t size) {
    auto const* bytes = static_cast<unsigned char const*>(begin);
    for (; size >= sizeof(std::uint64_t); bytes += sizeof h, size -= sizeof h) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, sizeof word);
      h = (h ^ word) * 1'099'511'628'211ULL;
      h ^= h >> 29;
    }
    for (; size > 0; ++bytes, --size) h = (h ^ *bytes) * 1'099'511'628'211ULL;
  };
  take(&data.DisplaySize, sizeof data.DisplaySize);
  for (int i = 0; i < data.CmdListsCount; ++i) {
    auto const& list = *data.CmdLists[i];
    take(list.VtxBuffer.Data, static_cast<std::size_t>(list.VtxBuffer.size_in_bytes()));
    take(list.IdxBuffer.Data, static_cast<std::size_t>(list.IdxBuffer.size_in_bytes()));
    for (auto const& command : list.CmdBuffer) {
      take(&command.ClipRect, sizeof command.ClipRect);
      take(&command.ElemCount, sizeof command.ElemCount);
    }
  }
  return h;
}

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

/// Keys as ImGui gets them. ImGui 1.86 looks at what is down when a frame begins: a key that went
/// down and up since the last one would never have been pressed. Its way up waits for the frame.
class Keys {
 public:
  void on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
    if (action == GLFW_PRESS) down_.push_back(key);
    if (action == GLFW_RELEASE && std::ranges::find(down_, key) != down_.end())
      up_.push_back({key, scancode, mods});
    else
      ImGui_ImplGlfw_KeyCallback(window, key, scancode, action, mods);
  }

  /// After a frame. True: keys went up, which wants another frame.
  bool frame_done(GLFWwindow* window) {
    down_.clear();
    auto const up = std::exchange(up_, {});
    for (auto const& e : up)
      ImGui_ImplGlfw_KeyCallback(window, e.key, e.scancode, GLFW_RELEASE, e.mods);
    return !up.empty();
  }

 private:
  struct Up {
    int key;
    int scancode;
    int mods;
  };

  std::vector<int> down_;  // since the last frame
  std::vector<Up> up_;
};

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

struct Offscreen::State {
  std::unique_ptr<Surface> surface;
  Machines const* machines = nullptr;
};

Offscreen::Offscreen(std::unique_ptr<State> state) : state_(std::move(state)) {
}

Offscreen::~Offscreen() = default;

void Offscreen::show_machines(Machines const* machines) {
  state_->machines = machines;
}

Result<std::unique_ptr<Offscreen>> Offscreen::open() {
  auto opened = Surface::open(false);
  if (!opened) return std::move(opened).error();
  auto state = std::make_unique<State>();
  state->surface = *std::move(opened);
  return std::unique_ptr<Offscreen>(new Offscreen(std::move(state)));
}

Result<Picture> Offscreen::draw(node::Snapshot const* snapshot,
                                node::Examples const* examples,
                                History const& history,
                                ShellState const& shown,
                                int width,
                                int height,
                                float scale) {
  constexpr int kFrames = 6;  // heights of cards in cards of a panel settle one level a frame
  auto& surface = *state_->surface;
  auto& gl = surface.gl;
  auto state = shown;
  Theme const theme{state.choices.mode, scale};
  Picture picture;
  picture.width = static_cast<int>(std::lround(static_cast<float>(width) * scale));
  picture.height = static_cast<int>(std::lround(static_cast<float>(height) * scale));
  for (int i = 0; i < kFrames; ++i) {
    surface.prepare(theme, state.choices.language, snapshot);
    ImGui_ImplOpenGL3_NewFrame();
    auto& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(picture.width), static_cast<float>(picture.height)};
    io.DisplayFramebufferScale = {1, 1};
    io.DeltaTime = 1.0F / 60;
    ImGui::NewFrame();
    Frame frame{.snapshot = snapshot,
                .history = history,
                .fonts = surface.fonts,
                .theme = theme,
                .language = state.choices.language,
                .can_join = snapshot != nullptr,
                .examples = examples};
    if (snapshot != nullptr) frame.settings = snapshot->settings;
    frame.machines = state_->machines;
    if (frame.machines != nullptr)
      for (auto const& machine : frame.machines->all) surface.fonts.collect(machine.name);
    draw_shell(frame, state);
    ImGui::Render();
  }
  GLuint framebuffer = 0;
  GLuint colour = 0;
  gl.gen_framebuffers(1, &framebuffer);
  gl.bind_framebuffer(kFramebuffer, framebuffer);
  gl.gen_renderbuffers(1, &colour);
  gl.bind_renderbuffer(kRenderbuffer, colour);
  gl.renderbuffer_storage(kRenderbuffer, kRgba8, picture.width, picture.height);
  gl.framebuffer_renderbuffer(kFramebuffer, kColourAttachment, kRenderbuffer, colour);
  surface.paint(theme.colours(), picture.width, picture.height);
  auto const row = static_cast<std::size_t>(picture.width) * 3;
  auto const rows = static_cast<std::size_t>(picture.height);
  std::vector<std::uint8_t> upside_down(row * rows);
  gl.pixel_store(GL_PACK_ALIGNMENT, 1);
  gl.read_pixels(0, 0, picture.width, picture.height, GL_RGB, GL_UNSIGNED_BYTE, upside_down.data());
  gl.bind_framebuffer(kFramebuffer, 0);
  gl.delete_renderbuffers(1, &colour);
  gl.delete_framebuffers(1, &framebuffer);
  picture.rgb.resize(upside_down.size());
  for (std::size_t y = 0; y < rows; ++y)
    std::memcpy(picture.rgb.data() + y * row, upside_down.data() + (rows - 1 - y) * row, row);
  return picture;
}

}  // namespace waggle::ui
