// SPDX-License-Identifier: Apache-2.0
// Runs one of the built programs as a user would: through the shell, with its output and exit
// status.
#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace benanza::test {

struct outcome {
  int status = -1;
  std::string out, err;
};

/// A folder of its own, gone when the test is over.
struct scratch_folder {
  std::filesystem::path path;
  explicit scratch_folder(const std::string& name)
      : path(std::filesystem::temp_directory_path() /
             ("benanza_" + name + "_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

inline std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Programs that tests start need not look at the last cache, which takes each a second or two and
/// is tested by itself: a variable says that it is theirs, and 32 MiB large.
inline constexpr const char *last_cache_variable = "BENANZA_LAST_CACHE",
                            *told_last_cache = "0,0,33554432";

/// Runs a shell command.
inline outcome shell(const std::string& command) {
  const scratch_folder s("shell");
  const int ended =
      std::system((std::string("export ") + last_cache_variable + '=' + told_last_cache + "; ( " +
                   command + " ) >" + (s / "out") + " 2>" + (s / "err") + " </dev/null")
                      .c_str());
  return {WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended), text_of(s / "out"),
          text_of(s / "err")};
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// True if `text` is exactly one line.
inline bool one_line(const std::string& text) {
  return !text.empty() && text.find('\n') == text.size() - 1;
}

} // namespace benanza::test
