// SPDX-License-Identifier: Apache-2.0
// Where does an answer go, and is it whole? Where it is partial, one line says so, or it is refused
// (--strict).
//
//   const answer to{asked, out, err};
//   to.check(lacking, run.source);   to.write(text);   return to.partial(lacking);
#pragma once

#include "delivery.hpp"
#include "request.hpp"

#include <benanza/core/error.hpp>
#include <benanza/machine/colours.hpp>

#include <cstddef>
#include <iostream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::analyzer {

/// Where an answer goes.
struct answer {
  const request& asked;
  std::ostream& out;
  std::ostream& err;

  /// Of the terminal that is written to; 0: it is none.
  std::size_t columns() const {
    return asked.output.empty() && &out == &std::cout ? terminal_columns(STDOUT_FILENO) : 0;
  }

  /// A text, or what any format of tables writes.
  template <class Answer>
  void write(const Answer& its) const {
    deliver(out, asked.output, asked.format, its);
  }

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
std::size_t layer_limit(const std::string& text, const std::string& option = "--layers");

/// The ns that an option gives: 20ms, 500us; a number alone is of ms.
double time_of(const std::string& text, const std::string& option);

} // namespace benanza::analyzer
