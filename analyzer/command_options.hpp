// SPDX-License-Identifier: Apache-2.0
// What has each command in common? How its words are read, and how its answer is written.
//
//   if (const std::string help = parse_command(app, arguments); !help.empty()) ...
#pragma once

#include "answer.hpp"
#include "commands.hpp"

#include <benanza/core/help_text.hpp>
#include <benanza/core/text.hpp>
#include <benanza/machine/colours.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace benanza::analyzer {

/// How the answer of a command is written; it may have a format of its own.
inline void add_output(CLI::App& app, std::string& format, std::string& output,
                       const char* own = nullptr) {
  std::vector<std::string> names(std::begin(table_formats), std::end(table_formats));
  if (own != nullptr) names.emplace_back(own);
  app.add_option("--format", format, join(names, ", ") + "; of several tables csv is a file each")
      ->check(CLI::IsMember(names));
  app.add_option("-o,--output", output, "write there, whole or not at all; or into a folder");
}

/// Reads a command's own words. What comes back is to be printed instead of an answer (--help);
/// empty: nothing.
inline std::string parse_command(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return fit_help(app.help(), terminal_columns(STDOUT_FILENO));
  } catch (const CLI::ParseError& e) {
    throw error(e.what(), "", "see " + app.get_name() + " --help");
  }
  return {};
}

} // namespace benanza::analyzer
