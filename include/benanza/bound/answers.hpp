// SPDX-License-Identifier: Apache-2.0
// What does each layer of a model rest on? A layer is measured in the asked type, measured in the
// model's own type only (mixed precision: a Softmax of an int8 model runs in f32), a view that
// costs nothing, modelled by its roofline, or missing. What was not measured says why, and its
// command says how to measure it. Where only slow plain kernels run a layer, or frameworks do less
// than it asks for, its bound is its roofline.
//
//   layer_answer a = answer({cases, limits, numeric::u8s8u8, graph.type, 1}, layer, uses);
#pragma once

#include "ceilings/limits.hpp"
#include "choice.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::bound {

/// What the time of a layer rests on.
enum class basis { measured, other_type, view, modelled, missing };

/// The token of a basis, as reports write it.
constexpr std::string_view name(basis b) {
  switch (b) {
  case basis::measured: return "measured";
  case basis::other_type: return "other_type";
  case basis::view: return "view";
  case basis::modelled: return "modelled";
  case basis::missing: return "missing";
  }
  return "?";
}

/// All that is known of one layer of a model.
struct layer_answer {
  std::string name;            ///< family and key
  std::int64_t uses = 0;       ///< nodes of the unfused model that are this layer
  std::int64_t fused_uses = 0; ///< nodes of its fused form that are
  basis rests_on = basis::missing;
  numeric type = numeric::f32;           ///< in which it was measured
  choice algorithms;                     ///< of a modelled layer only times, no algorithms
  const measurement* winograd = nullptr; ///< less exact than the type, and faster; null: none
  /// The choice among those that round what they multiply, where it is faster; null: none is.
  const measurement* rounded = nullptr;
  double rounded_ns = 0;
  std::optional<roof> roofline; ///< no algorithm is faster; nothing: no ceiling is known
  std::int64_t flops = 0;       ///< of one execution by a direct algorithm
  std::int64_t failed = 0;      ///< cases that failed
  std::int64_t lost = 0;        ///< of these, without an answer (result::is_answer)
  std::int64_t left = 0;        ///< cases that were not measured, or not to their end
  bool untried = false;         ///< there is no case at all of it in the asked type
  bool nothing_runs = false; ///< no backend has an algorithm for it, so that no command measures it
  std::string reason;        ///< why it was not measured, or what the first failed case said
  bool on_path = false;      ///< a node on the longest path of the bounds is this layer

  bool timed() const { return algorithms.best != nullptr; }
  /// True if its time is known, measured, modelled, or zero.
  bool known() const { return rests_on != basis::missing; }
};

/// A text as a regular expression that matches it.
inline std::string as_pattern(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view(".+*?()[]{}|^$\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// The shell command that measures a layer.
inline std::string measuring_command(std::string_view layer) {
  return "benanza_bench --benchmark_filter='^" + as_pattern(layer) + "/'";
}

/// The fastest time that any algorithm of a layer took; 0: it was not measured.
inline double measured_ns(const choice& c) {
  return c.best == nullptr ? 0 : detail::least(*c.best);
}

/// A bound does not rest on a kernel that takes more than so many times its roofline, if it is one
/// of ours or a library's reference loop: a framework's own may be that much faster.
inline constexpr double slow_kernel = 2;
/// Calling any kernel may take so long: shorter ones are not judged by their rooflines.
inline constexpr double call_ns = 500;

namespace detail {
/// Takes the roofline as the bound where that is lower, for that reason; for slow kernels of ours,
/// or reference loops, where only these run the layer.
inline void cap_by_roofline(choice& c, roofline_for why, const layer_cases& known,
                            const std::optional<roof>& r) {
  const auto plain = [](const candidate& k) {
    return k.any().fallback == "host" || k.any().fallback == "ref";
  };
  const bool slow = why == roofline_for::slow_kernels;
  if (!r || !(r->ns > 0) || c.bound.ns <= (slow ? slow_kernel : 1) * r->ns + call_ns ||
      (slow && !std::all_of(known.algorithms.begin(), known.algorithms.end(), plain)))
    return;
  c.bound = {.ns = r->ns, .sorted_ns = {r->ns}};
  c.why_roofline = why;
}
} // namespace detail

/// What is asked about the layers of a model.
struct question {
  const case_table& cases;
  const limits& machine;
  numeric type = numeric::f32, own = numeric::f32; ///< asked for, and the model's own
  int threads = 1;
  warmth weights{}; ///< where a run of the model finds them
};

/// What `layer`, which `uses` nodes are, rests on. Of one that appends to a cache `added` is what
/// copies the new part alone.
inline layer_answer answer(const question& q, const op::layer& layer, std::int64_t uses,
                           const op::layer* added = nullptr) {
  layer_answer out;
  out.name = op::name(layer);
  out.uses = uses;
  out.type = q.type;
  if (op::is_view(layer)) {
    out.rests_on = basis::view;
    out.roofline = roof{};
    return out;
  }
  out.flops = op::direct_flops(layer);
  bool inexact = false, nothing_runs = true;
  // A roofline is held to the least that any algorithm needs: Winograd needs less than is counted.
  std::int64_t least_flops = out.flops;
  const auto measured_in = [&](numeric type, basis found) {
    const layer_cases known = q.cases.of(out.name, type, q.threads);
    inexact = inexact || known.inexact;
    out.failed += static_cast<std::int64_t>(known.failed.size());
    if (out.reason.empty() && !known.failed.empty()) out.reason = known.failed.front()->error;
    for (const measurement* m : known.failed)
      out.lost += !result::is_answer(m->error);
    for (const measurement* m : known.left)
      out.left += result::cases_behind(*m);
    if (out.reason.empty() && !known.left.empty()) out.reason = known.left.front()->error;
    if (out.reason.empty() && known.nothing != nullptr) out.reason = known.nothing->error;
    if (type == q.type) out.untried = known.empty();
    out.algorithms = choose(known, q.weights);
    out.winograd = nullptr;
    if (known.winograd != nullptr && known.winograd->min_ns < out.algorithms.bound.ns)
      out.winograd = known.winograd;
    layer_cases of_rounded;
    of_rounded.algorithms = known.rounded;
    const choice rounds = choose(of_rounded, q.weights);
    out.rounded = nullptr;
    if (rounds.chosen != nullptr && rounds.prediction.ns < out.algorithms.prediction.ns) {
      out.rounded = rounds.chosen;
      out.rounded_ns = rounds.prediction.ns;
    }
    nothing_runs = nothing_runs && known.nothing != nullptr && known.failed.empty();
    if (!out.timed()) return false;
    for (const candidate& c : known.algorithms)
      if (c.any().algorithm_flops > 0) least_flops = std::min(least_flops, c.any().algorithm_flops);
    out.rests_on = found;
    out.type = type;
    return true;
  };
  const bool timed = measured_in(q.type, basis::measured) ||
                     (q.own != q.type && measured_in(q.own, basis::other_type));
  out.roofline = added != nullptr ? q.machine.roofline(*added, out.type, q.threads, 0)
                                  : q.machine.roofline(layer, out.type, q.threads, least_flops);
  if (timed) {
    const roofline_for why = added != nullptr ? roofline_for::appending
                             : op::may_round_to(layer, q.type) != q.type
                                 ? roofline_for::rounding
                                 : roofline_for::slow_kernels;
    detail::cap_by_roofline(out.algorithms, why, q.cases.of(out.name, out.type, q.threads),
                            out.roofline);
    return out;
  }
  out.nothing_runs = nothing_runs;
  if (out.reason.empty())
    out.reason = inexact ? "only algorithms of lower precision were measured" : "not measured";
  if (out.roofline) {
    out.rests_on = basis::modelled;
    for (timing* t : {&out.algorithms.bound, &out.algorithms.prediction})
      *t = {.ns = out.roofline->ns, .sorted_ns = {out.roofline->ns}};
    out.algorithms.chosen_by_ns = out.roofline->ns;
  }
  return out;
}

} // namespace benanza::bound
