// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../units.hpp"

#include <benanza/core/text.hpp>
#include <fmt/format.h>

#include <cmath>

namespace benanza::report::tables {

namespace {
/// Three significant digits, or all before the point.
std::string number_text(double v) {
  const double size = std::abs(v);
  return fmt::format("{:.{}f}", v, size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 3);
}

std::string figure_text(double v, unit in) {
  switch (in) {
  case unit::time: return show_time(v);
  case unit::amount: return show_amount(v);
  case unit::energy: return show_energy(v);
  case unit::bytes: return show_bytes(v);
  case unit::share: return percent(v);
  case unit::factor: return fmt::format("{:.3f}", v);
  case unit::rate: return show_rate(v);
  default: return number_text(v);
  }
}
} // namespace

std::string shown(const cell& c, unit in) {
  if (const auto* text = std::get_if<std::string>(&c)) return *text;
  if (const auto* truth = std::get_if<bool>(&c)) return *truth ? "yes" : "";
  if (const auto* n = std::get_if<std::int64_t>(&c))
    return in == unit::amount || in == unit::bytes ? figure_text(static_cast<double>(*n), in)
                                                   : std::to_string(*n);
  if (const auto* v = std::get_if<double>(&c); v != nullptr && std::isfinite(*v))
    return figure_text(*v, in);
  if (const auto* list = std::get_if<std::vector<std::string>>(&c)) return join(*list, ", ");
  return in > unit::flag ? "-" : "";
}

} // namespace benanza::report::tables
