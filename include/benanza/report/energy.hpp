// SPDX-License-Identifier: Apache-2.0
// How is energy shown? A figure of the model where all of its layers have one, and a line that says
// whose it is, or why there is none.
//
//   energy_line(model, "of the processor's package (RAPL)")
#pragma once

#include "../advice/energy.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace benanza::report {

/// An energy, such as `26.3 mJ`.
inline std::string show_energy(double nj) {
  static constexpr std::string_view units[] = {"nJ", "uJ", "mJ", "J", "kJ"};
  std::size_t unit = 0;
  while (nj >= 999.5 && unit + 1 < std::size(units)) {
    nj /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", show_rate(nj), units[unit]);
}

namespace detail {
/// A cell of a table of layers.
inline std::string energy_cell(double nj) {
  return nj > 0 ? show_energy(nj) : "-";
}
} // namespace detail

/// What the layers of a run take, and whose that is; or why there is no such figure, as `fact` of
/// the result says it. Empty: nothing is said of energy.
inline std::string energy_text(const bound::model_bound& b, const std::string& fact) {
  const advice::layers_energy e = advice::energy_of(b);
  if (e.whole())
    return fmt::format("{} in the layers of a run without changes of layout, {:.1f} W: {} and what "
                       "others drew is in it",
                       show_energy(e.nj), e.nj / e.ns,
                       e.on_device ? "of the whole GPU, whose idle power"
                                   : "of all packages of the processor, whose idle power");
  if (e.with > 0) return fmt::format("no sum: {} of the layers have one", percent(e.share()));
  return fact.empty() || fact.starts_with("none")
             ? fact
             : "none: no layer was sampled undisturbed with it";
}

/// The same as a line of the details.
inline std::string energy_line(const bound::model_bound& b, const std::string& fact) {
  const std::string text = energy_text(b, fact);
  return text.empty() ? text : wrapped("energy      ", text + ".");
}

} // namespace benanza::report
