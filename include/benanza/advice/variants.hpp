// SPDX-License-Identifier: Apache-2.0
// Would the model be faster with its weights, or its keys and values, in other types? Of the types
// that were measured: as other models, whose names say so (model::variant).
//
//   advice_of_kind a = variant_advice(grounds);   a.items[0].id   // "weights/q8_0"
#pragma once

#include "other_runs.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::advice {

namespace detail {
/// `weights in q8_0`; of the model itself `weights as they were`.
inline std::string variant_text(std::string_view kind, std::string_view as) {
  const std::string what = kind == "cache" ? "keys and values" : std::string(kind);
  return as.empty() ? what + " as they were" : fmt::format("{} in {}", what, as);
}

/// The GGUF file that has its weights so, without its ending.
inline std::string file_of(std::string_view model, std::string_view kind, std::string_view as) {
  return std::string(model) + (kind == "weights" && !as.empty() ? fmt::format("-{}", as) : "");
}

inline how_to by_type(std::string_view model, std::string_view kind, std::string_view as) {
  if (as.empty()) return {.by = doer::you, .kind = way::call, .text = "take the model as it was"};
  if (kind == "cache") return by_settings(lever::cache, "llamacpp", as);
  return {.by = doer::you,
          .kind = way::rewrite,
          .text = fmt::format("quantize the original weights to {}", as),
          .command = fmt::format("llama-quantize --pure ORIGINAL.gguf {} {}",
                                 bound::shell_file(file_of(model, kind, as) + ".gguf"), as)};
}
} // namespace detail

/// Advice on the types of what a model reads from memory.
inline advice_of_kind variant_advice(const grounds& g) {
  advice_of_kind out;
  const model::graph& own = *g.model.graph;
  const model::variant is = model::variant_of(own.model);
  std::map<std::string_view, std::vector<other_run>> kinds;
  for (const bound::model_bound* b : g.others) {
    const model::graph& its = *b->graph;
    const model::variant other = model::variant_of(its.model);
    const std::string_view kind = other.kind.empty() ? is.kind : other.kind;
    if (its.model == own.model || other.of != is.of || its.batch != own.batch ||
        its.dims != own.dims || b->type != g.model.type || b->threads != g.model.threads ||
        b->partial() || model::is_form(its) || (!is.kind.empty() && kind != is.kind))
      continue;
    if (auto run = run_in(g, *b); run && run->takes.ns > 0) kinds[kind].push_back(std::move(*run));
  }
  const bound::figure now = run_in(g, g.model)->takes;
  for (auto& [kind, all] : kinds) {
    ranges::sort(all, ranges::less{}, [](const other_run& o) { return o.takes.ns; });
    const other_run& best = all.front();
    const auto text = [&, of = kind](const other_run& o) {
      return detail::variant_text(of, model::variant_of(o.model->graph->model).as);
    };
    const std::string what =
        fmt::format("{}: {} in place of {}, a run takes {} in place of {}", text(best),
                    detail::rate_text(own, best.takes.ns), detail::rate_text(own, now.ns),
                    detail::time_text(best.takes.ns), detail::time_text(now.ns));
    const std::string_view as = model::variant_of(best.model->graph->model).as;
    if (best.takes.ns > (1 - least_share) * now.ns) {
      out.not_worth.push_back({kind, what, text(best)});
      continue;
    }
    item one{.id = fmt::format("{}/{}", kind, as.empty() ? "own" : as), .kind = kind};
    one.what = what;
    one.saves = detail::between_figures(now, best.takes);
    one.leads_to = text(best);
    one.bound_ns = best.model->best_form().bound.sequential.ns;
    for (const other_run& o : all)
      one.evidence.push_back(
          fmt::format("{}, {}", detail::row_of(g, o, text(o)), detail::rate_text(own, o.takes.ns)));
    const std::string of_kernels = detail::assumed_of(g, best, one.leads_to);
    one.assumes =
        "results are good enough with them" + (of_kernels.empty() ? of_kernels : "; " + of_kernels);
    one.how = detail::by_type(is.of, kind, as);
    one.check = fmt::format(
        "{} --threads {}{}",
        detail::framework_command(own, "llamacpp", detail::file_of(is.of, kind, as)),
        g.model.threads, kind == "cache" ? fmt::format(" --set cache_type={}", as) : "");
    out.items.push_back(std::move(one));
  }
  return out;
}

} // namespace benanza::advice
