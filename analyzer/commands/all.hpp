// SPDX-License-Identifier: Apache-2.0
// The commands, a file each.
#pragma once

#include "../commands.hpp"

#include <benanza/core/help_text.hpp>
#include <benanza/machine/colours.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace benanza::analyzer {

status check_results(std::vector<std::string> arguments, const streams& to);
status compare_results(std::vector<std::string> arguments, const streams& to);
status keep_store(std::vector<std::string> arguments, const streams& to);
status sweep_results(std::vector<std::string> arguments, const streams& to);
status verify_result(std::vector<std::string> arguments, const streams& to);

/// Reads a command's own words. What comes back is to be printed instead of an answer (--help);
/// empty: nothing.
inline std::string parse_command(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return fit_help(app.help(), terminal_columns(STDOUT_FILENO));
  }
  return {};
}

} // namespace benanza::analyzer
