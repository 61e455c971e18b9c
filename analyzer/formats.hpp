// SPDX-License-Identifier: Apache-2.0
// In which formats does benanza_analyze report on models? One table; `--format md,json -o DIR`
// writes DIR/report.md and DIR/report.json. To add one: a header in analyzer/report/ with a
// function of `report::input`, a line in formats.cpp, and a line in the page of report/.
//
//   if (const format* f = find_format("json")) to.write(f->write(in));
#pragma once

#include "answer.hpp"
#include "report/input.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::analyzer {

/// A format of the report on models.
struct format {
  std::string_view name;   ///< as --format takes it
  std::string_view suffix; ///< of the file in the folder that -o names
  const char* about;       ///< a part of a line of --help
  std::string (*write)(const report::input& in);
  bool binary = false; ///< no text
};

/// All of them, in the order of --help.
std::span<const format> formats();

/// The format of this name; null: there is none.
const format* find_format(std::string_view name);

/// Their names with commas between.
std::string names_of_formats();

/// Refuses names that are no format or come twice, and several without a folder for them.
void check_formats(const request& asked);

/// Refuses limits, and all formats but text and json, for answers that are no report on models.
void check_no_report(const request& asked);

/// Writes the report in every format that was asked for: one to standard output or to a file,
/// several into a folder, which is made if it is not there.
void write_report(const answer& to, const report::input& in);

} // namespace benanza::analyzer
