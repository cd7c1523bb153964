// SPDX-License-Identifier: MIT
// waggle-trainer: torch and nothing else. The node starts it with one end of a socket pair as
// descriptor 3; nobody starts it by hand.
#include <cstdio>
#include <cstring>

#include <fcntl.h>

#include "core/train/version.hpp"
#include "core/worker/trainer/serve.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("libtorch %s\n", waggle::train::torch_version().c_str());
    return 0;
  }
  constexpr int kSocket = 3;
  waggle::worker::tune_malloc();
  if (::fcntl(kSocket, F_GETFD) < 0) {
    std::fputs("waggle-trainer is started by waggle, not by hand. Try: waggle run\n", stderr);
    return 2;
  }
  return waggle::worker::serve(kSocket);
}
