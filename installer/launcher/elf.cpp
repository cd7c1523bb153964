// SPDX-License-Identifier: MIT
#include "installer/launcher/elf.hpp"

#include <cerrno>
#include <cstring>

#include <elf.h>
#include <unistd.h>

#include "core/base/text.hpp"

namespace waggle::launcher {
namespace {

/// More would be no program of ours.
constexpr unsigned kMaxHeaders = 64;
constexpr std::size_t kMaxPath = 4096;

template <class T>
bool read_whole(int file, T& out, std::uint64_t at) {
  return ::pread(file, &out, sizeof out, static_cast<off_t>(at)) ==
         static_cast<ssize_t>(sizeof out);
}

}  // namespace

Status set_interpreter(int file, std::string const& loader) {
  Elf64_Ehdr header;
  if (!read_whole(file, header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > kMaxHeaders)
    return Error{Errc::malformed, "not an x86-64 program"};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    if (!read_whole(file, part, header.e_phoff + i * sizeof part))
      return Error{Errc::malformed, "a program that is cut short"};
    if (part.p_type != PT_INTERP) continue;
    if (loader.size() >= part.p_filesz || part.p_filesz > kMaxPath)
      return Error{
          Errc::too_large,
          cat("a path of ", loader.size(), " bytes where ", part.p_filesz, " have room: ", loader)};
    std::string padded = loader;
    padded.resize(part.p_filesz, '\0');
    if (::pwrite(file, padded.data(), padded.size(), static_cast<off_t>(part.p_offset)) !=
        static_cast<ssize_t>(padded.size()))
      return Error{Errc::io, cat("writing the interpreter: ", std::strerror(errno))};
    return ok();
  }
  return Error{Errc::malformed, "a program without an interpreter"};
}

}  // namespace waggle::launcher
