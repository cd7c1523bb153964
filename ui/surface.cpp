// SPDX-License-Identifier: MIT
#include "ui/surface.hpp"

#include <cstring>

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include "core/base/text.hpp"

namespace waggle::ui {
namespace {

constexpr int kWidth = 1120;  // units, at first
constexpr int kHeight = 760;
constexpr int kLeastWidth = 480;
constexpr int kLeastHeight = 360;

std::string glfw_trouble() {
  char const* words = nullptr;
  glfwGetError(&words);
  return words != nullptr ? words : "unknown";
}

}  // namespace

Surface::Surface(GLFWwindow* w) : window(w) {
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

Result<std::unique_ptr<Surface>> Surface::open(bool visible) {
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

Surface::~Surface() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window);
  glfwTerminate();
}

void Surface::prepare(Theme const& theme, Language language, node::Snapshot const* snapshot) {
  if (fonts.prepare(theme.scale, language, snapshot)) {
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
  }
  if (theme.mode != mode_ || theme.scale != scale_) apply(theme);
  mode_ = theme.mode;
  scale_ = theme.scale;
}

void Surface::paint(Palette const& colours, int width, int height) {
  gl.viewport(0, 0, width, height);
  auto const part = [](std::uint8_t c) { return static_cast<float>(c) / 255.0F; };
  auto const& back = colours.background;
  gl.clear_colour(part(back.r), part(back.g), part(back.b), 1);
  gl.clear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

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

}  // namespace waggle::ui
