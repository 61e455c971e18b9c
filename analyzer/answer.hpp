// SPDX-License-Identifier: Apache-2.0
// How does an answer leave the program? To standard output or to a file, whole or not at all; where
// it is partial, one line says so, or it is refused (--strict).
//
//   const answer to{asked, out, err};
//   to.check(lacking, run.source);   to.write(text);   return to.partial(lacking);
#pragma once

#include "report/coloured.hpp"
#include "report/limit_figures.hpp"
#include "report/text.hpp"
#include "request.hpp"

#include <benanza/core/error.hpp>
#include <benanza/machine/colours.hpp>
#include <benanza/result/output_file.hpp>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace benanza::analyzer {

/// Writes `text` to a stream. A reader that went away, as `head` does, is no failure.
inline void write_stream(std::ostream& out, const std::string& text, const std::string& name) {
  errno = 0;
  if (!(out << text << std::flush) && errno != EPIPE)
    throw error("the report cannot be written", name, "check the disk, the folder and your rights");
}

/// Writes a page for people to standard output: with colours where that is a terminal that shows
/// them.
inline void write_page(std::ostream& out, const std::string& text) {
  const bool colours = &out == &std::cout && shows_colours(STDOUT_FILENO);
  write_stream(out, colours ? report::coloured(text) : text, "standard output");
}

/// Writes `text` to a file whole or not at all; to what is no file, such as /dev/null, directly.
inline void write_file(const std::string& path, const std::string& text) {
  if (path == "-")
    throw error("an answer goes to standard output by itself", "-o -",
                "leave it out, or write ./- for a file of that name");
  result::output_file file(path);
  std::ofstream out(file.written_to(), std::ios::binary | std::ios::trunc);
  write_stream(out, text, path);
  out.close();
  file.commit();
}

/// Writes an answer to the file `output`, or to standard output where that is empty.
inline void deliver(std::ostream& out, const std::string& output, const std::string& format,
                    const std::string& text) {
  if (!output.empty())
    write_file(output, text);
  else if (format == "text")
    write_page(out, text);
  else
    write_stream(out, text, "standard output");
}

/// Where an answer goes.
struct answer {
  const request& asked;
  std::ostream& out;
  std::ostream& err;

  /// Of the terminal that is written to; 0: it is none.
  std::size_t columns() const {
    return asked.output.empty() && &out == &std::cout ? terminal_columns(STDOUT_FILENO) : 0;
  }

  void write(const std::string& text) const { deliver(out, asked.output, asked.format, text); }

  /// Refuses an answer that lacks something, where --strict asks for that.
  void check(const std::string& lacking, const std::string& source) const {
    if (asked.strict && !lacking.empty())
      throw error("partial: " + lacking, source, "leave out --strict to see the report");
  }

  /// Names the runs of frameworks that the answer has no figures for.
  void left_out(const std::vector<std::string>& runs) const {
    for (const std::string& r : runs)
      err << "benanza_analyze: left out: " << printable(r) << '\n';
  }

  /// Says which limits are broken, if any are, and what is lacking.
  status keeps(const std::string& broken, const std::string& lacking) const {
    if (broken.empty()) return partial(lacking);
    err << "benanza_analyze: broken: " << printable(broken)
        << (lacking.empty() ? "" : "; partial: " + lacking) << '\n';
    return status::broken;
  }

  /// Says what is lacking, if anything is.
  status partial(const std::string& lacking) const {
    if (lacking.empty()) return status::complete;
    err << "benanza_analyze: partial: " << lacking << '\n';
    return status::partial;
  }
};

/// The rows of a table that --layers, or another option, asks for.
inline std::size_t layer_limit(const std::string& text, const std::string& option = "--layers") {
  if (text == "all") return report::all_layers;
  std::size_t n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size())
    throw error(option + " takes a number or all", text);
  return n;
}

/// The ns that an option gives: 20ms, 500us; a number alone is of ms.
inline double time_of(const std::string& text, const std::string& option) {
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
