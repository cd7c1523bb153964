// SPDX-License-Identifier: MIT
// What a person double-clicks: unpacks the program that is appended to it, once, and becomes it.
// Without a payload it starts the tree that a package installed. A static program: it needs no
// library of the host, and tells with which libraries the program that it starts will run.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"

#include "installer/launcher/folder.hpp"
#include "installer/launcher/host.hpp"
#include "installer/launcher/install.hpp"
#include "installer/launcher/payload.hpp"
#include "installer/launcher/places.hpp"

namespace {

using namespace waggle;
using namespace waggle::launcher;

constexpr int kFailed = 1;

void say(std::string const& text) {
  std::fprintf(stderr, "waggle: %s\n", text.c_str());
}

std::string own_path() {
  char buffer[4096];
  auto const size = ::readlink("/proc/self/exe", buffer, sizeof buffer);
  if (size <= 0 || size >= static_cast<ssize_t>(sizeof buffer)) return {};
  return {buffer, static_cast<std::size_t>(size)};
}

std::string read_text(std::string const& path) {
  Fd const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  auto const size = file ? ::read(file.get(), buffer, sizeof buffer) : -1;
  return size <= 0 ? std::string() : std::string(buffer, static_cast<std::size_t>(size));
}

/// "desktop": on the host's libraries; "alone": on those in the tree. WAGGLE_LIBRARIES=host or own
/// chooses for whoever looks for a fault.
char const* flavour(std::string const& tree) {
  auto const* const wish = std::getenv("WAGGLE_LIBRARIES");
  if (wish != nullptr && std::strcmp(wish, "host") == 0) return "desktop";
  if (wish != nullptr && std::strcmp(wish, "own") == 0) return "alone";
  auto const needs = read_text(tree + "/needs");
  if (needs.empty() || ::access(kHostLoader, X_OK) != 0) return "alone";
  return host_suffices(needs, library_folders()) ? "desktop" : "alone";
}

/// Becomes the program of `tree`. Returns only if that cannot be, with the reason.
std::string become(std::string const& tree, std::string const& self, char** argv) {
  // So that the program can name the file that a person knows: at login, when it removes itself.
  ::setenv("WAGGLE_LAUNCHER", self.c_str(), 1);
  auto const program = cat(tree, '/', flavour(tree), "/waggle");
  ::execv(program.c_str(), argv);
  return cat("cannot start ", program, ": ", std::strerror(errno));
}

int start_payload(int file, Trailer const& trailer, std::string const& self, char** argv) {
  std::vector<std::string> tried;
  for (auto const& place :
       places([](char const* name) { return std::getenv(name); }, ::geteuid())) {
    auto const give_up = [&](std::string const& why) {
      tried.push_back(cat(place.path(), ": ", why));
    };
    auto const folder = open_place(place);
    if (!folder) {
      give_up(folder.error().detail);
      continue;
    }
    auto const programs = open_private(folder->get(), "program");
    if (!programs) {
      give_up(programs.error().detail);
      continue;
    }
    auto const path = path_of(programs->get(), cat(place.path(), "/program"));
    auto const installed = install(programs->get(), path, file, trailer, say);
    if (installed) {
      give_up(become(installed->path, self, argv));
      continue;
    }
    // A damaged file is damaged wherever it is unpacked.
    if (auto const code = installed.error().code;
        code == Errc::bad_signature || code == Errc::malformed) {
      say(installed.error().detail);
      return kFailed;
    }
    give_up(installed.error().detail);
  }
  say("found no folder to unpack the program into. Tried:");
  for (auto const& line : tried) std::fprintf(stderr, "  %s\n", line.c_str());
  std::fprintf(stderr, "Set XDG_CACHE_HOME to a folder of yours where programs may run.\n");
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 1 || ::getauxval(AT_SECURE) != 0) {
    say("must not run with the rights of another user");
    return kFailed;
  }
  auto const self = own_path();
  Fd const file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (self.empty() || !file) {
    say("cannot read its own file: is /proc mounted?");
    return kFailed;
  }
  auto const trailer = read_trailer(file.get());
  if (trailer) return start_payload(file.get(), *trailer, self, argv);
  if (trailer.error().code != Errc::not_found) {
    say(trailer.error().detail);
    return kFailed;
  }
  // A package's: /usr/bin/waggle starts /usr/lib/waggle.
  auto const bin = self.substr(0, self.rfind('/'));
  auto const tree = cat(bin.substr(0, bin.rfind('/')), "/lib/waggle");
  say(become(tree, self, argv));
  return kFailed;
}
