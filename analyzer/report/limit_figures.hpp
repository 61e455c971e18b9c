// SPDX-License-Identifier: Apache-2.0
// Which figures of a model can be held to a limit? Each with its kind, which decides its units, and
// with what makes a value less sure than it looks.
//
//   find_limit_figure("gap")->of(advised)   // {{.value = 1.61}}
#pragma once

#include <benanza/advice/advised.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// What a figure counts. Times are in ns, energies in nJ, shares of 1.
enum class limit_kind { time, energy, factor, share, rate, count };

/// A value of a figure; without one, `why` says why; with one, why it is not sure, if it is not.
struct limit_value {
  std::optional<double> value{};
  std::string why{};
  std::string of{}; ///< the framework, where there may be several
};

/// A figure that can be held to a limit.
struct limit_figure {
  std::string_view name;
  limit_kind kind;
  const char* about;
  std::vector<limit_value> (*of)(const advice::advised& a);
};

/// By what a number in this unit is multiplied; nothing: the figure has no such unit.
std::optional<double> factor_of(limit_kind kind, std::string_view unit);

/// The same for people.
constexpr std::string_view units_of(limit_kind kind) {
  switch (kind) {
  case limit_kind::time: return "ns, us, ms, s";
  case limit_kind::energy: return "nJ, uJ, mJ, J";
  case limit_kind::factor:
  case limit_kind::share: return "%, or none for parts of 1";
  case limit_kind::rate: return "/s, or none";
  case limit_kind::count: return "none";
  }
  return "";
}

/// The unit of a value, as programs read it.
constexpr std::string_view unit_of(limit_kind kind) {
  return kind == limit_kind::time     ? "ns"
         : kind == limit_kind::energy ? "nJ"
         : kind == limit_kind::rate   ? "1/s"
                                      : "";
}

std::string shown_value(limit_kind kind, double v);

/// The same with all digits that count.
std::string exact_value(limit_kind kind, double v);

/// Why figures that add up layers are not sure; empty: they are.
std::string unsure_sum(const bound::model_bound& b);
double expected_ns(const bound::model_bound& b);

/// A framework's run over the bound.
limit_value gap_value(const advice::comparison& run);

/// All of them, in the order of --help.
std::span<const limit_figure> limit_figures();

/// The figure of this name; `prediction` is the expected run too. Null: there is none.
const limit_figure* find_limit_figure(std::string_view name);

/// Their names, for people.
std::string names_of_limit_figures();

} // namespace benanza::report
