// SPDX-License-Identifier: Apache-2.0
// What should be changed first? All advice on a model, that which saves most first, and what is not
// worth doing. Pieces of advice are not independent: what they save does not add up.
//
//   advice_list a = advise(grounds);   a.items[0].what   a.not_worth[0].what
#pragma once

#include "framework_run.hpp"
#include "fusion.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "precision.hpp"
#include "rewritten.hpp"

#include <range/v3/action/stable_sort.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace benanza::advice {

/// All advice on a model.
struct advice_list {
  std::vector<item> items{}; ///< what saves most first
  std::vector<remark> not_worth{};
  std::int64_t small = 0; ///< changes that save less than 0.5 % of a run each,
  double small_ns = 0;    ///< and what they save together
};

/// All advice.
inline advice_list advise(const grounds& g) {
  advice_list out;
  const double least = least_share * run_ns(g.model, g.framework);
  const auto add = [&](advice_of_kind a) {
    for (item& i : a.items) {
      if (i.saves.ns >= least) {
        out.items.push_back(std::move(i));
      } else if (i.saves.ns > 0) {
        ++out.small;
        out.small_ns += i.saves.ns;
      }
    }
    for (remark& r : a.not_worth)
      out.not_worth.push_back(std::move(r));
  };
  add(kernel_advice(g));
  add(fusion_advice(g));
  add(rewrite_advice(g));
  add(precision_advice(g));
  add(framework_advice(g));
  add(parallel_advice(g));
  add(batch_advice(g));
  out.items |=
      ranges::actions::stable_sort(ranges::greater{}, [](const item& i) { return i.saves.ns; });
  return out;
}

} // namespace benanza::advice
