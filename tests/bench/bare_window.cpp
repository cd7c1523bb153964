// SPDX-License-Identifier: MIT
// The least that a program with a window does: what the driver and the display take of a start.
#include <cstdio>

#include <GLFW/glfw3.h>

#include "tests/bench/bench.hpp"
#include "tests/bench/processes.hpp"

namespace waggle::bench {

int bare_window() {
  if (glfwInit() == GLFW_FALSE) return 1;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  auto* const window = glfwCreateWindow(1120, 760, "bare", nullptr, nullptr);
  if (window == nullptr) return 1;
  glfwMakeContextCurrent(window);
  glfwSwapInterval(1);
  auto const clear = reinterpret_cast<void (*)(GLbitfield)>(glfwGetProcAddress("glClear"));
  if (clear == nullptr) return 1;
  clear(GL_COLOR_BUFFER_BIT);
  glfwSwapBuffers(window);
  std::printf("{\"first_frame_at\": %.6f}\n", monotonic_seconds());
  glfwTerminate();
  return 0;
}

}  // namespace waggle::bench
