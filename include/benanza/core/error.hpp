// SPDX-License-Identifier: Apache-2.0
// How does any part refuse? By throwing `benanza::error`: one line that says what is wrong, where,
// and what to do about it. Programs print it on stderr and end with the exit status of `status`.
//
//   throw benanza::error("the file is cut off", "run.json, byte 4096", "run the benchmark again");
//   // benanza: the file is cut off (run.json, byte 4096); run the benchmark again
#pragma once

#include "printable.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace benanza {

/// Exit status of all programs: complete, usable but partial, refused with nothing written,
/// complete but worse than what was asked for (a limit, a run of before), interrupted.
enum class status : int { complete = 0, partial = 1, refused = 2, broken = 3, interrupted = 130 };

/// A refusal: what is wrong, where, and what to do. Its text is always a single line, cut to what a
/// person reads, and nothing in it can steer a terminal.
class error : public std::runtime_error {
public:
  error(std::string_view what, std::string_view where = {}, std::string_view remedy = {})
      : std::runtime_error(one_line(what, where, remedy)) {}

private:
  static std::string one_line(std::string_view what, std::string_view where,
                              std::string_view remedy) {
    std::string text = shown(what);
    if (!where.empty()) text.append(" (").append(shown(where)).append(")");
    if (!remedy.empty()) text.append("; ").append(shown(remedy));
    return text;
  }
  /// What libraries say in several lines becomes one.
  static std::string shown(std::string_view text) {
    std::string line(text.substr(0, 2 * longest_shown));
    for (char& c : line)
      if (c == '\n' || c == '\r' || c == '\t') c = ' ';
    return printable(line);
  }
};

} // namespace benanza
