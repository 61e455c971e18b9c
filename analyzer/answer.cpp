// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include "report/input.hpp"
#include "report/limit_figures.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace benanza::analyzer {

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
