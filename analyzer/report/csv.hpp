// SPDX-License-Identifier: Apache-2.0
// How does a report look as one table? A row for each layer of a model and each algorithm that was
// tried for it, times in ns; of a layer without any, one row. Texts are in quotes, and what a
// spreadsheet would take for a formula begins with an apostrophe. What is not known is empty.
//
//   std::string text = csv_report(in);   // model,batch,type,...
#pragma once

#include "escape.hpp"
#include "input.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace benanza::report {

/// The cells of a row, with commas between.
class csv_row {
public:
  csv_row& text(std::string_view t) { return cell(t.empty() ? "" : escape::csv(t)); }
  csv_row& number(double v, bool known = true) {
    return cell(known ? fmt::format("{:.10g}", v) : std::string());
  }
  csv_row& flag(bool v) { return cell(v ? "1" : "0"); }
  std::string take() { return std::move(line_) + '\n'; }

private:
  csv_row& cell(const std::string& c) {
    if (!first_) line_ += ',';
    first_ = false;
    line_ += c;
    return *this;
  }
  std::string line_{};
  bool first_ = true;
};

/// The report as CSV.
std::string csv_report(const input& in);

} // namespace benanza::report
