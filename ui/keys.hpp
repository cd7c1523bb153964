// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

struct GLFWwindow;

namespace waggle::ui {

/// Keys as ImGui gets them. ImGui 1.86 looks at what is down when a frame begins: a key that went
/// down and up since the last one would never have been pressed. Its way up waits for the frame.
class Keys {
 public:
  void on_key(GLFWwindow* window, int key, int scancode, int action, int mods);
  /// After a frame. True: keys went up, which wants another frame.
  bool frame_done(GLFWwindow* window);

 private:
  struct Up {
    int key;
    int scancode;
    int mods;
  };

  std::vector<int> down_;  // since the last frame
  std::vector<Up> up_;
};

}  // namespace waggle::ui
