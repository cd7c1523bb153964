// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include "ui/surface.hpp"
#include "ui/window.hpp"

namespace waggle::ui {
namespace {

constexpr GLenum kFramebuffer = 0x8D40;
constexpr GLenum kRenderbuffer = 0x8D41;
constexpr GLenum kColourAttachment = 0x8CE0;
constexpr GLenum kRgba8 = 0x8058;

}  // namespace

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
  if (examples != nullptr) surface.fonts.collect(*examples);
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
