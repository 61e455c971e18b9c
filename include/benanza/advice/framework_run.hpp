// SPDX-License-Identifier: Apache-2.0
// What does a framework do that no layer needs? Casts, copies, pads and transposes that it added,
// changes of layout, and the time between its operators.
//
//   advice_of_kind a = framework_advice(grounds);   a.items[0].what   // "drop 53 Pad ..."
#pragma once

#include "item.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace benanza::advice {

namespace detail {
/// True for operators that only change how a tensor is stored in memory.
inline bool changes_layout(std::string_view type) {
  std::string low(type);
  std::transform(low.begin(), low.end(), low.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 4> kinds{"reorder", "reformat", "transpose", "permute"};
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](std::string_view k) { return low.find(k) != std::string::npos; });
}
} // namespace detail

/// Advice on what the framework itself adds.
inline advice_of_kind framework_advice(const grounds& g) {
  advice_of_kind out;
  if (g.framework == nullptr) return out;
  const comparison& c = *g.framework;
  const bound::form_figures& form = g.model.fastest_form();
  const bound::figure changes = form.layouts && form.layouts->prediction
                                    ? form.layouts->prediction->changes
                                    : bound::figure{};
  bound::figure all;
  std::int64_t layouts = 0;
  for (const added_row& r : c.added) {
    if (detail::changes_layout(r.type)) {
      all.ns += r.takes.ns;
      all.low_ns += r.takes.low_ns;
      all.high_ns += r.takes.high_ns;
      layouts += r.count;
      continue;
    }
    if (!r.seen) continue;
    const std::string row =
        fmt::format("{} x {}: {} together", r.count, r.type, detail::time_text(r.takes.ns));
    out.items.push_back(
        {.id = "framework/added/" + r.type,
         .kind = "framework",
         .what = fmt::format("without {} {} that the model does not have", r.count, r.type),
         .saves = r.takes,
         .evidence = {row},
         .assumes = "nothing else has to do their work",
         .check = detail::measure_command(c),
         .how = detail::by_makers(g, "do not add " + r.type,
                                  detail::who_is_asked(g) + " adds them by itself", {row})});
  }
  if (layouts > 0 && all.ns > changes.ns)
    out.items.push_back(
        {.id = "layout/changes",
         .kind = "layout",
         .what = fmt::format("fewer changes of layout: {} take {}, the best assignment's {}",
                             layouts, detail::time_text(all.ns), detail::time_text(changes.ns)),
         .saves = detail::between_figures(all, changes),
         .evidence = {fmt::format("{} changes of layout: {}", layouts, detail::time_text(all.ns))},
         .assumes = "kernels that work in these layouts are there",
         .check = detail::measure_command(c),
         .how = detail::by_makers(
             g, "fewer changes of layout",
             detail::who_is_asked(g) + " chooses its layouts by itself",
             {fmt::format("{} changes take {}, the best assignment's {}", layouts,
                          detail::time_text(all.ns), detail::time_text(changes.ns))})});
  else if (layouts > 0)
    out.not_worth.push_back(
        {"layout",
         fmt::format("its changes of layout ({}) take {}, no more than those of the best "
                     "assignment, {}",
                     layouts, detail::time_text(all.ns), detail::time_text(changes.ns)),
         "layouts"});
  if (c.disturbed)
    out.not_worth.push_back(
        {"framework",
         "its runs without a profiler took longer than those with it: they were "
         "disturbed, and say nothing of the time between operators",
         "calls (its runs were disturbed)"});
  else if (c.profiled() && c.from->overlapping != true && !c.latency_profiled &&
           c.unexplained_ns > 0 && c.profiler.unplaced_ns <= 0 && c.bars.front().takes.low_ns > 0) {
    const double each = c.unexplained_ns / static_cast<double>(c.from->operators.size());
    out.items.push_back({.id = "framework/between_operators",
                         .kind = "framework",
                         .what = fmt::format("less between the operators: {} for each of {}",
                                             detail::time_text(each), c.from->operators.size()),
                         .saves = c.bars.front().takes,
                         .evidence = {fmt::format(
                             "a run takes {}, its operators {}", detail::time_text(c.latency.ns),
                             detail::time_text(c.latency.ns - c.unexplained_ns))},
                         .assumes = "all of it could be saved",
                         .check = detail::measure_command(c),
                         .how = {.text = "no setting of it is known that does that"}});
  }
  return out;
}

} // namespace benanza::advice
