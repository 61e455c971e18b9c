// SPDX-License-Identifier: Apache-2.0
// May a program write colours there? Only to a terminal that shows them, and never where NO_COLOR
// is set (no-color.org) or TERM is dumb.
//
//   if (shows_colours(STDOUT_FILENO)) text = report::coloured(text);
#pragma once

#include <cstdlib>
#include <string_view>
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

} // namespace benanza
