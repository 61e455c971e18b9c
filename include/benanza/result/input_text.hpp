// SPDX-License-Identifier: Apache-2.0
// What does a file that somebody gives us hold? Its text, if it can be read and is no longer than
// such a file ever is; a pipe that has a name will do.
//
//   std::string text = input_text("keys.txt", std::size_t{64} << 20, "the file of layers");
#pragma once

#include "../core/error.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace benanza::result {

/// The text of a file, of `most` bytes at most; `what` is it for messages.
inline std::string input_text(const std::string& path, std::size_t most, std::string_view what) {
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path, ignored))
    throw error(std::string(what) + " cannot be read", path, "check its name and your rights");
  std::string text, part(std::size_t{1} << 16, '\0');
  do {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part, 0, static_cast<std::size_t>(in.gcount()));
  } while (in && text.size() <= most);
  if (in.bad()) throw error(std::string(what) + " cannot be read", path, "check the disk");
  if (text.size() > most)
    throw error(std::string(what) + " is longer than " + std::to_string(most >> 20) + " MiB", path,
                "give another one");
  return text;
}

} // namespace benanza::result
