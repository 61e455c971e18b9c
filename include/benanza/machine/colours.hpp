// SPDX-License-Identifier: Apache-2.0
// May a program write colours there? Only to a terminal that shows them, and never where NO_COLOR
// is set (no-color.org) or TERM is dumb. And how wide is it?
//
//   if (shows_colours(STDOUT_FILENO)) text = report::coloured(text);
//   say(fit_help(app.help(), terminal_columns(STDOUT_FILENO)));
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace benanza {

inline bool shows_colours(int descriptor) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value != nullptr ? value : "");
  };
  const std::string_view terminal = variable("TERM");
  return isatty(descriptor) != 0 && variable("NO_COLOR").empty() && !terminal.empty() &&
         terminal != "dumb";
}

/// The columns of a terminal; 0: it is none, or does not say.
inline std::size_t terminal_columns(int descriptor) {
  winsize size{};
  return isatty(descriptor) != 0 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace benanza
