// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include <GLFW/glfw3.h>

#include "core/base/result.hpp"

#include "ui/fonts.hpp"
#include "ui/theme.hpp"

struct ImDrawData;

namespace waggle::ui {

/// The few functions beyond the backend's, looked up at run time: nothing links to libGL.
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

/// A GLFW window with OpenGL 3 and an ImGui context. Thread: the main one; one at a time.
class Surface {
 public:
  /// Not shown yet. Errors: refused (no display, or no OpenGL 3).
  [[nodiscard]] static Result<std::unique_ptr<Surface>> open(bool visible);
  ~Surface();
  Surface(Surface const&) = delete;
  Surface& operator=(Surface const&) = delete;

  /// Fonts and style for what is to be drawn next.
  void prepare(Theme const& theme, Language language, node::Snapshot const* snapshot);
  /// Draws what ImGui laid out onto the bound framebuffer.
  void paint(Palette const& colours, int width, int height);

  GLFWwindow* window;
  Gl gl;
  Fonts fonts;

 private:
  explicit Surface(GLFWwindow* w);

  Mode mode_ = Mode::dark;
  float scale_ = 0;
};

/// What was laid out, as one number: equal frames need no painting. Cost: O(vertices).
[[nodiscard]] std::uint64_t fingerprint(ImDrawData const& data);

}  // namespace waggle::ui
