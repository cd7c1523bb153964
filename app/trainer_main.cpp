// SPDX-License-Identifier: MIT
// waggle-trainer: torch and nothing else. The node starts it with one end of a socket pair as
// descriptor 3; nobody starts it by hand.
#include <cstdio>

#include <fcntl.h>

#include "core/worker/trainer/serve.hpp"

int main() {
  constexpr int kSocket = 3;
  waggle::worker::tune_malloc();
  if (::fcntl(kSocket, F_GETFD) < 0) {
    std::fputs("waggle-trainer is started by waggle, not by hand. Try: waggle run\n", stderr);
    return 2;
  }
  return waggle::worker::serve(kSocket);
}
