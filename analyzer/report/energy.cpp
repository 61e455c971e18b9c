// SPDX-License-Identifier: Apache-2.0
#include "energy.hpp"

#include "units.hpp"

#include <benanza/advice/energy.hpp>
#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace benanza::report {

std::string energy_cell(double nj) {
  return nj > 0 ? show_energy(nj) : "-";
}

std::string energy_text(const bound::model_bound& b, const std::string& fact) {
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

std::string energy_line(const bound::model_bound& b, const std::string& fact) {
  const std::string text = energy_text(b, fact);
  return text.empty() ? text : wrapped("energy      ", text + ".");
}

} // namespace benanza::report
