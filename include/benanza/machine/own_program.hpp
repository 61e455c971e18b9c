// SPDX-License-Identifier: Apache-2.0
// By which path does this program start itself again? Under an emulator (qemu-user), the link that
// the kernel has for it is the emulator.
//
//   execv(own_program(), argv);
#pragma once

#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace benanza::machine {

namespace detail {
inline constexpr const char* own_link = "/proc/self/exe";

/// Is another file opened by this name than the kernel means by it? Emulators open the program.
inline bool opens_another(const char* name) {
  struct stat named {
  }, opened{};
  const int f = open(name, O_RDONLY | O_CLOEXEC);
  const bool both = f >= 0 && fstat(f, &opened) == 0 && stat(name, &named) == 0;
  if (f >= 0) close(f);
  return both && (opened.st_ino != named.st_ino || opened.st_dev != named.st_dev);
}
} // namespace detail

/// Whether an emulator runs this program: its times say nothing of any processor.
inline bool is_emulated() {
  static const bool emulated = detail::opens_another(detail::own_link);
  return emulated;
}

/// The program's path. The kernel's link is this program even where its file has been replaced. To
/// be called once before a signal handler calls it.
inline const char* own_program() {
  static const std::string path = [] {
    std::error_code none;
    const auto target = std::filesystem::read_symlink(detail::own_link, none);
    return is_emulated() && !none ? target.string() : std::string(detail::own_link);
  }();
  return path.c_str();
}

} // namespace benanza::machine
