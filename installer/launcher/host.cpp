// SPDX-License-Identifier: MIT
#include "installer/launcher/host.hpp"

#include <cstring>
#include <optional>

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/base/fd.hpp"
#include "core/base/text.hpp"

namespace waggle::launcher {
namespace {

/// A library mapped for reading.
class Library {
 public:
  explicit Library(std::string const& path) {
    Fd const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));

    struct stat facts {};

    if (!file || ::fstat(file.get(), &facts) != 0 ||
        facts.st_size < static_cast<off_t>(sizeof(Elf64_Ehdr)))
      return;
    size_ = static_cast<std::size_t>(facts.st_size);
    memory_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (memory_ == MAP_FAILED) memory_ = nullptr;
  }

  Library(Library const&) = delete;
  Library& operator=(Library const&) = delete;

  ~Library() {
    if (memory_ != nullptr) ::munmap(memory_, size_);
  }

  /// Not the 32-bit one, which /usr/lib holds on some systems.
  [[nodiscard]] bool fits() const {
    if (memory_ == nullptr) return false;
    Elf64_Ehdr header;
    std::memcpy(&header, memory_, sizeof header);
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
  }

  /// A version that it defines stands in its string table as a whole string.
  [[nodiscard]] bool has(std::string_view version) const {
    auto const whole = cat('\0', version, '\0');
    return ::memmem(memory_, size_, whole.data(), whole.size()) != nullptr;
  }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// nullopt: it is there with this version. Otherwise what is missing.
std::optional<std::string> missing(std::string const& name,
                                   std::string_view version,
                                   std::vector<std::string> const& folders) {
  bool seen = false;
  for (auto const& folder : folders) {
    Library const library(cat(folder, '/', name));
    if (!library.fits()) continue;
    seen = true;
    // The first that is found is the one that the loader takes.
    if (version.empty() || library.has(version)) return std::nullopt;
    break;
  }
  return seen ? cat(name, " lacks ", version) : cat("no ", name);
}

}  // namespace

std::vector<std::string> library_folders() {
  return {"/lib/x86_64-linux-gnu",
          "/usr/lib/x86_64-linux-gnu",
          "/lib64",
          "/usr/lib64",
          "/usr/lib",
          "/lib"};
}

Status host_suffices(std::string_view needs, std::vector<std::string> const& folders) {
  while (!needs.empty()) {
    auto const line = needs.substr(0, needs.find('\n'));
    needs.remove_prefix(std::min(needs.size(), line.size() + 1));
    if (line.empty()) continue;
    auto const space = line.find(' ');
    auto const version = space == std::string_view::npos ? "" : line.substr(space + 1);
    if (auto const why = missing(std::string(line.substr(0, space)), version, folders))
      return Error{Errc::not_found, *why};
  }
  return ok();
}

}  // namespace waggle::launcher
