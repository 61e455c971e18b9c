// SPDX-License-Identifier: Apache-2.0
// Which steps lead from a user's time down to the machine's limits, if there is no framework's run?
// They begin at what the libraries choose first. With one they are its bars (bars.hpp). Steps add
// up. Times in ns.
//
//   descent d = descent_of(advised);   d.from   d.top_ns   d.bars[0].takes.ns
#pragma once

#include "advised.hpp"
#include "drawn.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace benanza::advice {

/// A way down in steps.
struct descent {
  double top_ns = 0; ///< 0: there is no time to begin at
  std::vector<bar> bars{};
};

/// From what the libraries choose first.
inline descent descent_of(const advised& a) {
  const bound::model_bound& b = *a.model;
  const bound::form_figures &form = b.fastest_form(), &last = b.best_form();
  descent out;
  bound::figure at = bound::expected(form).value_or(form.prediction.sequential);
  if (at.ns <= 0) return out;
  const bound::figure gain = first_choice_gain(b);
  out.top_ns = at.ns + gain.ns;
  if (gain.ns > 0)
    out.bars.push_back({.id = "kernels",
                        .what = "other algorithms than the libraries choose first",
                        .takes = gain,
                        .left_ns = at.ns});
  const auto down_to = [&](std::string_view id, std::string what, const bound::figure& next) {
    out.bars.push_back({id, std::move(what), detail::between_figures(at, next), next.ns});
    at = next;
  };
  if (const double slow = slow_kernels_ns(b, at.ns); slow > 0)
    down_to("slow_kernels", std::string(what_slow_kernels_take),
            {at.ns - slow, at.low_ns - slow, at.high_ns - slow});
  down_to("caches",
          form.layouts ? "caches warmer than in a run, no changes of layout, no interference"
                       : "caches warmer than in a run, and no interference",
          form.bound.sequential);
  if (b.rewritten) down_to("rewriting", std::string(what_rewriting_saves), last.bound.sequential);
  const bool parallel = last.bound.reachable.ns < (1 - least_parallel) * last.bound.sequential.ns;
  if (parallel)
    down_to("parallel", fmt::format("branches side by side on {} workers", b.workers),
            last.bound.reachable);
  const bound::figure& roof = parallel ? last.roofline.reachable : last.roofline.sequential;
  if (roof.ns > 0) down_to("roofline", "kernels that do not reach the machine's limits", roof);
  return out;
}

} // namespace benanza::advice
