// SPDX-License-Identifier: Apache-2.0
// How wide is the terminal, and how does a program's --help fit it? Long lines are broken between
// words, and go on where their second column begins.
//
//   say(fit_help(app.help(), terminal_columns(STDOUT_FILENO)));
//   fit_help("  -o FILE     write it there, whole or not at all", 40)
//   //  -o FILE     write it there, whole or
//   //              not at all
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace benanza {

namespace detail {
/// Where the second column of a line begins; of a line of one column, where that does.
inline std::size_t second_column(std::string_view line) {
  constexpr std::size_t last = 48;
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = first == 0 ? line.npos : line.find("  ", first);
  const std::size_t second = gap == line.npos ? line.npos : line.find_first_not_of(' ', gap);
  return second <= last ? second : first;
}
} // namespace detail

/// The text in so many columns; 0: as it is.
inline std::string fit_help(std::string_view help, std::size_t columns) {
  constexpr std::size_t least = 40;
  std::string out;
  while (!help.empty()) {
    std::string_view line = help.substr(0, help.find('\n'));
    help.remove_prefix(std::min(line.size() + 1, help.size()));
    const std::size_t margin = detail::second_column(line);
    std::size_t before = 0; // spaces of a line that goes on
    while (columns >= std::max(least, margin + least / 2) && before + line.size() > columns) {
      const std::size_t from = before == 0 ? margin : 0;
      std::size_t end = line.rfind(' ', columns - before);
      if (end == line.npos || end <= from) end = line.find(' ', columns - before);
      if (end == line.npos) break;
      (out.append(before, ' ') += line.substr(0, end)) += '\n';
      line.remove_prefix(end + 1);
      before = margin;
    }
    (out.append(before, ' ') += line) += '\n';
  }
  return out;
}

} // namespace benanza
