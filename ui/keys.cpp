// SPDX-License-Identifier: MIT
#include "ui/keys.hpp"

#include <algorithm>
#include <utility>

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>

namespace waggle::ui {

void Keys::on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
  if (action == GLFW_PRESS) down_.push_back(key);
  // Also of a key that went down earlier: Shift is up only once Tab was looked at.
  if (action == GLFW_RELEASE && !down_.empty())
    up_.push_back({key, scancode, mods});
  else
    ImGui_ImplGlfw_KeyCallback(window, key, scancode, action, mods);
}

bool Keys::frame_done(GLFWwindow* window) {
  down_.clear();
  auto const up = std::exchange(up_, {});
  for (auto const& e : up)
    ImGui_ImplGlfw_KeyCallback(window, e.key, e.scancode, GLFW_RELEASE, e.mods);
  return !up.empty();
}

}  // namespace waggle::ui
