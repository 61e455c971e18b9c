// SPDX-License-Identifier: Apache-2.0
// Which steps lead from a framework's run down to the machine's limits? Each is the difference of
// two totals, so that they add up; its interval is of the same redraws of both.
//
//   detail::add_bars(comparison, work);   comparison.bars[0].takes.ns
#pragma once

#include "../bound/layer_times.hpp"
#include "compared.hpp"
#include "drawn.hpp"
#include "work_table.hpp"

#include <fmt/format.h>
#include <range/v3/view/enumerate.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::advice {

namespace detail {
/// The bars between totals that follow each other.
class bar_chain {
public:
  explicit bar_chain(drawn_total top)
      : last_(std::move(top)) {}

  void down_to(std::string_view id, std::string what, drawn_total next) {
    bars_.push_back(
        {id, std::move(what), difference(last_.drawn, next.drawn, last_.ns - next.ns), next.ns});
    last_ = std::move(next);
  }
  std::vector<bar> take() { return std::move(bars_); }

private:
  drawn_total last_;
  std::vector<bar> bars_{};
};

/// The bars from the framework's run down to what a run should take.
inline void add_bars(comparison& c, const work_table& work) {
  const bound::model_bound& b = *c.model;
  const bound::form_figures &form = b.fastest_form(), &last = b.best_form();
  bound::generator random{7};
  drawn_total run;
  run.add(c.from->latency_ns.empty() ? c.from->profiled_ns : c.from->latency_ns, random);
  if (run.ns <= 0) return;
  bar_chain chain(std::move(run));
  const bound::layer_times point = bound::point_times(b.layers);
  const std::vector<bound::layer_times> redrawn = bound::redrawn_times(b.layers);
  const auto best_of = [&](const std::vector<int>& nodes) {
    drawn_total out{.ns = work.take(nodes, point.prediction)};
    for (std::size_t d = 0; d < redrawn.size(); ++d)
      out.drawn[d] = work.take(nodes, redrawn[d].prediction);
    return out;
  };
  const auto plus = [](drawn_total a, const drawn_total& x) {
    a.ns += x.ns;
    for (std::size_t i = 0; i < a.drawn.size(); ++i)
      a.drawn[i] += x.drawn[i];
    return a;
  };
  if (c.profiled()) {
    drawn_total mine, added;
    for (const auto& [i, o] : ranges::views::enumerate(c.from->operators))
      (c.matched.added(i) ? added : mine).add(o.ns, random, c.profiler);
    const drawn_total all = plus(mine, added);
    chain.down_to("between_operators", "outside of its operators: calls, scheduling, memory", all);
    chain.down_to("added_operators", "operators that the model does not have", mine);
    drawn_total best;
    for (const compared_operator& o : c.operators)
      best = plus(std::move(best), best_of(o.nodes));
    std::vector<int> unmatched;
    for (const auto& [i, owner] : ranges::views::enumerate(c.matched.owner))
      if (owner == trace::no_operator) unmatched.push_back(static_cast<int>(i));
    chain.down_to("kernels", "kernels slower than the best for the same work", best);
    const drawn_total left_out = best_of(unmatched);
    if (left_out.ns > 0)
      chain.down_to("left_out", "nodes that it does not run, or that were not matched",
                    plus(std::move(best), left_out));
    chain.down_to("fusion", "layers that it does not fuse",
                  drawn_total::of(form.prediction.sequential));
  } else {
    chain.down_to("unexplained", "not explained: there is no profile of its operators",
                  drawn_total::of(form.prediction.sequential));
  }
  bound::figure at = form.prediction.sequential;
  if (const auto expected = bound::expected(form); expected && form.layouts) {
    chain.down_to("layouts", "changes of layout that the best algorithms want",
                  drawn_total::of(*expected));
    at = *expected;
  }
  if (const double slow = slow_kernels_ns(b, at.ns); slow > 0)
    chain.down_to("slow_kernels", std::string(what_slow_kernels_take),
                  drawn_total::of({at.ns - slow, at.low_ns - slow, at.high_ns - slow}));
  chain.down_to("caches", "caches warmer than in a run, and no interference",
                drawn_total::of(form.bound.sequential));
  if (b.rewritten)
    chain.down_to("rewriting", std::string(what_rewriting_saves),
                  drawn_total::of(last.bound.sequential));
  const bool parallel = (c.from->threads == 0 || c.from->threads >= b.workers * b.threads) &&
                        last.bound.reachable.ns < (1 - least_parallel) * last.bound.sequential.ns;
  if (parallel)
    chain.down_to("parallel", fmt::format("branches side by side on {} workers", b.workers),
                  drawn_total::of(last.bound.reachable));
  const bound::figure& roof = parallel ? last.roofline.reachable : last.roofline.sequential;
  if (roof.ns > 0)
    chain.down_to("roofline", "kernels that do not reach the machine's limits",
                  drawn_total::of(roof));
  c.bars = chain.take();
}
} // namespace detail

} // namespace benanza::advice
