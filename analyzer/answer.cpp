// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include "report/coloured.hpp"
#include "report/input.hpp"
#include "report/limit_figures.hpp"

#include <benanza/result/output_file.hpp>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string_view>
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

std::size_t layer_limit(const std::string& text, const std::string& option) {
  if (text == "all") return report::all_layers;
  std::size_t n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size())
    throw error(option + " takes a number or all", text);
  return n;
}

double time_of(const std::string& text, const std::string& option) {
  double n = 0;
  const char* const last = text.data() + text.size();
  const auto [end, bad] = std::from_chars(text.data(), last, n);
  const std::string_view unit(end + (end != last && *end == ' '), last);
  const auto factor =
      unit.empty() ? std::optional(1e6) : report::factor_of(report::limit_kind::time, unit);
  if (bad != std::errc{} || !factor || !(n > 0) || !std::isfinite(n))
    throw error("a time above zero is needed, not \"" + text + '"', option,
                "write " + option +
                    " 20ms; its units: " + std::string(report::units_of(report::limit_kind::time)));
  return n * *factor;
}

} // namespace benanza::analyzer
