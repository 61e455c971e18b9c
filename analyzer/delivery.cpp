// SPDX-License-Identifier: Apache-2.0
#include "delivery.hpp"

#include "report/coloured.hpp"
#include "report/tables/formats.hpp"

#include <benanza/core/error.hpp>
#include <benanza/core/text.hpp>
#include <benanza/machine/colours.hpp>
#include <benanza/result/output_file.hpp>
#include <range/v3/view/map.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <unistd.h>

namespace benanza::analyzer {

void write_stream(std::ostream& out, const std::string& text, const std::string& name) {
  errno = 0;
  if (!(out << text << std::flush) && errno != EPIPE)
    throw error("the report cannot be written", name, "check the disk, the folder and your rights");
}

namespace {
/// Writes a page for people to standard output: with colours where that is a terminal that shows
/// them.
void write_page(std::ostream& out, const std::string& text) {
  const bool colours = &out == &std::cout && shows_colours(STDOUT_FILENO);
  write_stream(out, colours ? report::coloured(text) : text, "standard output");
}
} // namespace

void write_file(const std::string& path, const std::string& text) {
  if (path == "-")
    throw error("an answer goes to standard output by itself", "-o -",
                "leave it out, or write ./- for a file of that name");
  result::output_file file(path);
  std::ofstream out(file.written_to(), std::ios::binary | std::ios::trunc);
  write_stream(out, text, path);
  out.close();
  file.commit();
}

void deliver(std::ostream& out, const std::string& output, const std::string& format,
             const std::string& text) {
  if (!output.empty())
    write_file(output, text);
  else if (format == "text")
    write_page(out, text);
  else
    write_stream(out, text, "standard output");
}

bool is_folder(const std::string& path) {
  std::error_code bad;
  return path.ends_with('/') || std::filesystem::is_directory(path, bad);
}

void make_folder(const std::string& path) {
  std::error_code bad;
  std::filesystem::create_directories(path, bad);
  if (bad)
    throw error("this folder cannot be made: " + bad.message(), path,
                "give a place that can be written");
}

namespace {
/// Writes the tables of an answer: one as it is, several into a folder.
void deliver_csv(std::ostream& out, const std::string& output,
                 const report::tables::chapter& answer) {
  const auto all = report::tables::csv_of(answer);
  if (all.size() == 1 && !is_folder(output)) return deliver(out, output, "csv", all[0].second);
  if (!is_folder(output))
    throw error(
        "as CSV this answer is several files: " + join(all | ranges::views::keys, ".csv, ") +
            ".csv",
        output.empty() ? "--format csv" : output, "name a folder with -o, such as -o tables/");
  make_folder(output);
  for (const auto& [name, text] : all)
    write_file((std::filesystem::path(output) / (name + ".csv")).string(), text);
}
} // namespace

void deliver(std::ostream& out, const std::string& output, const std::string& format,
             const report::tables::chapter& answer) {
  namespace rt = report::tables;
  if (format == "csv") return deliver_csv(out, output, answer);
  const std::string suffix = format == "text" ? ".txt" : format == "latex" ? ".tex" : '.' + format;
  if (is_folder(output)) make_folder(output);
  deliver(out,
          is_folder(output) ? (std::filesystem::path(output) / ("answer" + suffix)).string()
                            : output,
          format,
          format == "json"    ? rt::json_of(answer)
          : format == "md"    ? rt::markdown_of(answer)
          : format == "latex" ? rt::latex_of(answer)
                              : rt::text_of(answer));
}

} // namespace benanza::analyzer
