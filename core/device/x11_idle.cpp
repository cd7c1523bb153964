// SPDX-License-Identifier: MIT
#include "core/device/x11_idle.hpp"

#include <atomic>
#include <cstdlib>

#include <unistd.h>

#include "core/device/detail/library.hpp"

namespace waggle::device {
namespace {

// Xlib's types, as far as we touch them: its headers are not needed to build.
struct Display;

struct ScreenSaverInfo {
  unsigned long window;
  int state;
  int kind;
  unsigned long til_or_since;
  unsigned long idle;  ///< milliseconds
  unsigned long event_mask;
};

using IoErrorHandler = int (*)(Display*);

struct Functions {
  Display* (*open)(char const*) = nullptr;
  int (*close)(Display*) = nullptr;
  unsigned long (*root)(Display*) = nullptr;
  int (*free)(void*) = nullptr;
  IoErrorHandler (*set_io_error_handler)(IoErrorHandler) = nullptr;
  int (*query_extension)(Display*, int*, int*) = nullptr;
  ScreenSaverInfo* (*alloc)() = nullptr;
  int (*query)(Display*, unsigned long, ScreenSaverInfo*) = nullptr;

  [[nodiscard]] bool complete() const {
    return open && close && root && free && set_io_error_handler && query_extension && alloc &&
           query;
  }
};

Functions load() {
  detail::Library const x11("libX11.so.6");
  detail::Library const xss("libXss.so.1");
  Functions f;
  f.open = x11.function<decltype(f.open)>("XOpenDisplay");
  f.close = x11.function<decltype(f.close)>("XCloseDisplay");
  f.root = x11.function<decltype(f.root)>("XDefaultRootWindow");
  f.free = x11.function<decltype(f.free)>("XFree");
  f.set_io_error_handler = x11.function<decltype(f.set_io_error_handler)>("XSetIOErrorHandler");
  f.query_extension = xss.function<decltype(f.query_extension)>("XScreenSaverQueryExtension");
  f.alloc = xss.function<decltype(f.alloc)>("XScreenSaverAllocInfo");
  f.query = xss.function<decltype(f.query)>("XScreenSaverQueryInfo");
  return f;
}

std::atomic<Display*> our_display{nullptr};
std::atomic<IoErrorHandler> others_handler{nullptr};

// Xlib ends the program once this returns; a window of ours may live on another connection.
int on_io_error(Display* display) {
  while (display == our_display.load()) ::pause();
  auto const next = others_handler.load();
  return next == nullptr ? 0 : next(display);
}

}  // namespace

std::optional<double> x11_idle_seconds() {
  char const* const name = std::getenv("DISPLAY");
  if (name == nullptr || *name == '\0') return {};
  static Functions const x = load();
  if (!x.complete()) return {};
  // A connection for each question: one that stays open would die with the server.
  auto* const display = x.open(nullptr);
  if (display == nullptr) return {};
  our_display = display;
  if (auto const before = x.set_io_error_handler(on_io_error); before != on_io_error)
    others_handler = before;
  std::optional<double> idle;
  int events = 0;
  int errors = 0;
  if (x.query_extension(display, &events, &errors) != 0) {
    if (auto* const info = x.alloc(); info != nullptr) {
      if (x.query(display, x.root(display), info) != 0)
        idle = static_cast<double>(info->idle) / 1000;
      x.free(info);
    }
  }
  x.close(display);
  our_display = nullptr;
  return idle;
}

}  // namespace waggle::device
