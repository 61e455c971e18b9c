// SPDX-License-Identifier: Apache-2.0
// How many accesses of a thread are under way at once? Read from the machine code of a kernel for
// sm_75 or later: instructions of 16 bytes, the operation in the lowest nine bits, registers a
// byte each. No disassembler is needed.
//
//   accesses_at_once(compile(text, "sm_90").code, "copy_all").loads == 8
#pragma once

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace cuda_test {

/// An instruction, as two words.
struct instruction {
  std::uint64_t low = 0, high = 0;

  unsigned operation() const { return low & 0x1ff; }
  unsigned form() const { return low >> 9 & 7; } ///< of the operands; 1: registers
  unsigned byte(int which) const { return low >> 8 * which & 0xff; }
  bool loads() const { return operation() == 0x181; }
  bool adds() const { return operation() == 0x023; } ///< and multiplies, floats
  bool stores() const { return operation() == 0x186; }
  bool goes_elsewhere() const { return operation() == 0x147 || operation() == 0x14d; }
  bool has_condition() const { return (low >> 12 & 0xf) != 7; }
  bool of_16_bytes() const { return (high >> 9 & 7) == 6; }
  unsigned result() const { return byte(2); }
  /// Registers that it may take; 255 is none.
  std::array<unsigned, 3> operands() const {
    const bool second_is_register = form() == 1 || stores();
    return {byte(3), second_is_register ? byte(4) : 255u,
            loads() || stores() ? 255u : static_cast<unsigned>(high & 0xff)};
  }
};

/// The instructions of a kernel in a CUBIN; empty: it is not there.
inline std::vector<instruction> instructions_of(std::span<const char> cubin,
                                                const std::string& kernel) {
  const auto read = [&](std::uint64_t at, auto value) {
    if (at + sizeof value <= cubin.size()) std::memcpy(&value, cubin.data() + at, sizeof value);
    return value;
  };
  const auto head = read(0, Elf64_Ehdr{});
  const auto section = [&](unsigned i) {
    return read(head.e_shoff + i * head.e_shentsize, Elf64_Shdr{});
  };
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    const std::uint64_t name = section(head.e_shstrndx).sh_offset + s.sh_name;
    if (name >= cubin.size() || ".text." + kernel != cubin.data() + name) continue;
    std::vector<instruction> out(s.sh_size / sizeof(instruction));
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = read(s.sh_offset + k * sizeof(instruction), instruction{});
    return out;
  }
  return {};
}

struct accesses {
  std::size_t loads = 0, stores = 0;
};

/// The most accesses of 16 bytes without a condition between two jumps: loads of which nothing has
/// been needed yet, and stores.
inline accesses accesses_at_once(std::span<const char> cubin, const std::string& kernel) {
  accesses most;
  std::vector<unsigned> loaded; ///< the first of four registers each
  std::size_t stored = 0;
  for (const instruction& i : instructions_of(cubin, kernel)) {
    const auto operands = i.operands();
    const bool waits = std::any_of(loaded.begin(), loaded.end(), [&](unsigned first) {
      return std::any_of(operands.begin(), operands.end(),
                         [first](unsigned r) { return r >= first && r < first + 4; });
    });
    if (waits || i.goes_elsewhere()) loaded.clear();
    if (i.goes_elsewhere()) stored = 0;
    if (!i.of_16_bytes() || i.has_condition()) continue;
    if (i.loads()) loaded.push_back(i.result());
    if (i.stores()) ++stored;
    most = {std::max(most.loads, loaded.size()), std::max(most.stores, stored)};
  }
  return most;
}

} // namespace cuda_test
