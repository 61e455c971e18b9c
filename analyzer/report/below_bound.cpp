// SPDX-License-Identifier: Apache-2.0
#include "below_bound.hpp"

#include "units.hpp"

#include <fmt/format.h>

namespace benanza::report {

std::string below_bound(const advice::comparison& c) {
  const bound::model_bound& b = *c.model;
  const bound::form_figures& form = b.best_form();
  if (!(c.latency.ns > 0 && c.least_ns < form.bound.sequential.ns)) return {};
  const std::string wrong = "so that is wrong: a kernel or a fusion is missing here";
  if (b.set_by_memory() && c.least_ns > form.layers_ns)
    return "is faster than the machine's memory was measured to be, so that is wrong: measure its "
           "limits again, benanza_bench --benchmark_filter=^machine/ --again";
  if (c.winograds == 0) return "beats the lower bound, " + wrong;
  const std::string by = fmt::format("is below the lower bound by Winograd kernels ({}), which are "
                                     "less exact than {}: ",
                                     counted(c.winograds, "operator"), name(b.type));
  if (form.winograd_ns <= 0) return by + "none that is faster was measured here";
  const std::string with =
      fmt::format("with {} the bound is {}", winograd_class(b.type), show_time(form.winograd_ns));
  return by + with + (c.least_ns < form.winograd_ns ? ", and it beats that too, " + wrong : "");
}

} // namespace benanza::report
