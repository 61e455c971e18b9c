// SPDX-License-Identifier: Apache-2.0
// What may a stranger give us? Each kind of file is a target: it takes any bytes, and may do
// nothing but work or throw benanza::error. A target names good files to start from, words that
// occur in them, and may know how to change one so that it stays a file of its kind.
//
//   const fuzz::registration keys{{.name = "keys", .take = take, .samples = samples}};
#pragma once

#include <benanza/core/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

using dice = std::mt19937_64;

/// One of 0 .. n-1.
inline std::size_t below(dice& d, std::size_t n) {
  return n == 0 ? 0 : static_cast<std::size_t>(d() % n);
}

struct target {
  std::string_view name;
  void (*take)(std::string_view bytes);
  std::vector<std::string> (*samples)();
  std::vector<std::string_view> words{};
  std::string (*change)(const std::string& sample, dice& d) = nullptr;
};

/// All targets of this program.
inline std::vector<target>& targets() {
  static std::vector<target> all;
  return all;
}

struct registration {
  registration(target t) { targets().push_back(std::move(t)); }
};

/// What a target found: bytes that do what they must not.
struct finding : std::logic_error {
  using std::logic_error::logic_error;
};

/// One of 0 .. n-1, the same for the same bytes: which of several ways they go.
inline std::size_t turn(std::string_view bytes, std::size_t n) {
  return std::hash<std::string_view>{}(bytes) % n;
}

/// Text that is shown must not steer a terminal.
inline void check_shown(std::string_view text) {
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f)
      throw finding("a control character is shown: " + std::to_string(static_cast<int>(c)));
}

/// Runs a target on some bytes; true if it took them. A refusal is one line that can be read.
inline bool run(const target& t, std::string_view bytes) {
  try {
    t.take(bytes);
    return true;
  } catch (const benanza::error& e) {
    const std::string_view line = e.what();
    check_shown(line);
    if (line.find('\n') != line.npos || line.empty() || line.size() > 4096)
      throw finding("a refusal is not one line");
    return false;
  }
}

/// A folder for files of this process, in memory where that is possible; removed at the end.
inline const std::filesystem::path& folder() {
  struct scratch {
    std::filesystem::path path;
    scratch() {
      std::error_code none;
      std::string name = std::filesystem::is_directory("/dev/shm", none) ? "/dev/shm" : "/tmp";
      name += "/benanza_fuzz_XXXXXX";
      if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made");
      path = name;
    }
    ~scratch() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const scratch made;
  return made.path;
}

/// A file in that folder with these bytes; gives its path.
inline std::string put(const std::string& name, std::string_view bytes) {
  const std::string path = folder() / name;
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace fuzz
