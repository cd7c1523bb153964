// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <elf.h>

namespace waggle::test {

/// An entry of a tar, with what a test may want to be wrong about it.
struct TarEntry {
  std::string name;
  std::string content;
  char type = '0';
  std::string link;
  unsigned mode = 0644;
};

[[nodiscard]] inline std::string tar_block(TarEntry const& entry) {
  std::string block(512, '\0');
  auto const put = [&block](std::size_t at, std::string const& text) {
    block.replace(at, text.size(), text);
  };
  auto const octal = [](std::uint64_t value, std::size_t digits) {
    std::string out(digits, '0');
    for (auto at = digits; at-- > 0; value /= 8) out[at] = static_cast<char>('0' + value % 8);
    return out;
  };
  put(0, entry.name.substr(0, 100));
  put(100, octal(entry.mode, 7));
  put(124, octal(entry.content.size(), 11));
  put(148, "        ");
  block[156] = entry.type;
  put(157, entry.link.substr(0, 100));
  put(257, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (char const c : block) sum += static_cast<unsigned char>(c);
  put(148, octal(sum, 6) + '\0' + ' ');
  auto content = entry.content;
  content.resize((content.size() + 511) / 512 * 512, '\0');
  return block + content;
}

[[nodiscard]] inline std::string tar_of(std::vector<TarEntry> const& entries) {
  std::string out;
  for (auto const& entry : entries) out += tar_block(entry);
  return out + std::string(1024, '\0');
}

/// The start of an x86-64 program with `room` bytes for its interpreter.
[[nodiscard]] inline std::string program_with_room(std::size_t room) {
  std::string out(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + room, '\0');
  auto* const header = reinterpret_cast<Elf64_Ehdr*>(out.data());
  std::string(ELFMAG).copy(reinterpret_cast<char*>(header->e_ident), SELFMAG);
  header->e_ident[EI_CLASS] = ELFCLASS64;
  header->e_machine = EM_X86_64;
  header->e_phoff = sizeof(Elf64_Ehdr);
  header->e_phentsize = sizeof(Elf64_Phdr);
  header->e_phnum = 1;
  auto* const part = reinterpret_cast<Elf64_Phdr*>(out.data() + sizeof(Elf64_Ehdr));
  part->p_type = PT_INTERP;
  part->p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  part->p_filesz = room;
  return out;
}

}  // namespace waggle::test
