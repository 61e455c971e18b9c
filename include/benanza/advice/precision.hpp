// SPDX-License-Identifier: Apache-2.0
// What does a lower precision save? The layers that were measured in it take it where that wins,
// along the graph: a tensor that goes from one precision to another is cast, which costs what
// reading it and writing it takes at the least. Which layers do not gain, and why, is said too.
//
//   advice_of_kind a = precision_advice(grounds);   a.items[0].id   // "precision/bf16"
#pragma once

#include "../bound/layout/assignment.hpp"
#include "../core/text.hpp"
#include "item.hpp"
#include "other_runs.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/none_of.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/enumerate.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::advice {

/// Which nodes of a model's fastest form run in another type, and what that takes.
struct mixed_precision {
  numeric type = numeric::f32;
  std::vector<char> in_type{}; ///< of each node of the form
  double ns = 0;               ///< all layers and casts
  std::int64_t casts = 0;
  double casts_ns = 0;
  double bound_ns = 0; ///< the least of all that, casts included
  bool exact = true;   ///< no other assignment is faster
};

namespace detail {
/// What each node of the fastest form takes, as one or as its parts; and of `ran`, if it was
/// measured in the model's asked type itself.
struct node_costs {
  std::vector<double> ns{};
  std::vector<char> ran{};
};

inline node_costs costs_of(const bound::model_bound& b, const std::vector<double>& layer_ns) {
  node_costs out;
  const auto measured = [&](std::size_t layer) {
    const bound::basis rests = b.layers[layer].rests_on;
    return rests == bound::basis::measured || rests == bound::basis::view;
  };
  const auto ran = [&](int node) {
    const int l = b.graph->nodes[bound::detail::at(node)].layer;
    return l != model::no_layer && measured(bound::detail::at(l));
  };
  if (!b.fused) {
    out.ns = bound::on_nodes(*b.graph, layer_ns);
    for (std::size_t i = 0; i < out.ns.size(); ++i)
      out.ran.push_back(ran(static_cast<int>(i)));
    return out;
  }
  const bound::detail::fused_times t = bound::detail::times_as_fused(b, layer_ns);
  for (std::size_t i = 0; i < t.own.size(); ++i) {
    const model::node& n = b.fused->graph->nodes[i];
    const auto [own, parts] = b.fused->pair.times(i, t.own, t.parts);
    out.ns.push_back(std::min(own, parts));
    out.ran.push_back(own <= parts ? measured(b.fused->layers[bound::detail::at(n.layer)])
                                   : std::all_of(n.parts.begin(), n.parts.end(), ran));
  }
  return out;
}

inline node_costs costs_of(const bound::model_bound& b, bool least = false) {
  const bound::layer_times times = bound::point_times(b.layers);
  return costs_of(b, least ? times.bound : times.prediction);
}

/// What casting the result of a node takes at the least; zero where the machine's memory was not
/// measured.
inline double cast_ns(const grounds& g, const model::graph& form, std::size_t node) {
  const op::layer* l = model::layer_of(form, form.nodes[node]);
  const shape made = l == nullptr ? shape{} : op::output(*l);
  if (made.empty() || elements(made) == 0) return 0;
  // Reading and writing all elements in the wider type: a little more than a cast.
  const op::layer copy = op::parse("Relu", join(made, "x"));
  const auto roof = g.of.machine.roofline(copy, g.model.type, g.model.threads, 0);
  return roof ? roof->ns : 0;
}
} // namespace detail

/// The fastest assignment of two types to the nodes of a model: that of `g.model`, and that of
/// `other`, the same model in another type.
inline mixed_precision mix(const grounds& g, const bound::model_bound& other) {
  const model::graph& form = *g.model.fastest_form().graph;
  const detail::node_costs own = detail::costs_of(g.model), in = detail::costs_of(other);
  mixed_precision out{.type = other.type};
  std::vector<double> casts;
  bound::cost_sum sum;
  for (std::size_t i = 0; i < form.nodes.size(); ++i) {
    casts.push_back(detail::cast_ns(g, form, i));
    sum.add({own.ns[i], in.ran[i] != 0 ? in.ns[i] : bound::impossible_ns});
  }
  for (const auto& [i, n] : ranges::views::enumerate(form.nodes))
    for (int from : n.inputs) {
      const double ns = casts[bound::detail::at(from)];
      sum.add({from, static_cast<int>(i)}, {0, ns, ns, 0});
    }
  auto exact = std::move(sum).minimise(bound::usual_limits(form.nodes.size()));
  out.exact = exact.has_value();
  std::vector<int> which(form.nodes.size(), 0);
  if (exact) {
    which = std::move(*exact);
    which.resize(form.nodes.size());
  } else { // each node by itself, its casts left out
    for (std::size_t i = 0; i < which.size(); ++i)
      which[i] = in.ran[i] != 0 && in.ns[i] < own.ns[i];
  }
  std::vector<char> cast(which.size(), 0); // once for all that read it in the other type
  for (const auto& [i, n] : ranges::views::enumerate(form.nodes))
    for (int from : n.inputs)
      if (which[i] != which[bound::detail::at(from)]) cast[bound::detail::at(from)] = 1;
  const std::vector<double> least = detail::costs_of(g.model, true).ns,
                            least_in = detail::costs_of(other, true).ns;
  for (std::size_t i = 0; i < which.size(); ++i) {
    out.ns += which[i] != 0 ? in.ns[i] : own.ns[i];
    out.bound_ns += which[i] != 0 ? least_in[i] : least[i];
    out.casts += cast[i];
    out.casts_ns += cast[i] != 0 ? casts[i] : 0;
  }
  out.ns += out.casts_ns;
  out.bound_ns += out.casts_ns;
  out.in_type.assign(which.begin(), which.end());
  return out;
}

namespace detail {
/// Which layers of a model's fastest form take another type, and which do not.
struct layers_in_type {
  std::int64_t chosen = 0, unmeasured = 0, slower = 0;
  std::string slowest{};    ///< the one that loses most by it, with its times
  std::vector<int> nodes{}; ///< of the unfused graph that take it, ascending
};

inline layers_in_type layers_of(const bound::model_bound& b, const node_costs& own,
                                const bound::model_bound& other, const mixed_precision& m) {
  const model::graph& form = *b.fastest_form().graph;
  const node_costs in = costs_of(other);
  layers_in_type out;
  double most = 0;
  for (const auto& [i, n] : ranges::views::enumerate(form.nodes)) {
    const op::layer* l = model::layer_of(form, n);
    if (l == nullptr || op::is_view(*l)) continue;
    if (m.in_type[i] != 0) {
      ++out.chosen;
      if (b.fused)
        out.nodes.insert(out.nodes.end(), n.parts.begin(), n.parts.end());
      else
        out.nodes.push_back(static_cast<int>(i));
    } else if (in.ran[i] == 0) {
      ++out.unmeasured;
    } else {
      ++out.slower;
      if (in.ns[i] - own.ns[i] < most) continue;
      most = in.ns[i] - own.ns[i];
      out.slowest = fmt::format("{}, {} in {} and {} in {}", op::name(*l), time_text(in.ns[i]),
                                name(other.type), time_text(own.ns[i]), name(b.type));
    }
  }
  std::sort(out.nodes.begin(), out.nodes.end());
  return out;
}

/// What the nodes that take the other type save by our own times, drawn again, less the casts.
inline bound::figure saved_by_mixing(const bound::model_bound& own, const bound::model_bound& other,
                                     const mixed_precision& m) {
  const auto of = [&](const bound::layer_times& a, const bound::layer_times& b) {
    const node_costs before = costs_of(own, a.prediction), after = costs_of(other, b.prediction);
    double sum = -m.casts_ns;
    for (std::size_t i = 0; i < m.in_type.size(); ++i)
      if (m.in_type[i] != 0) sum += before.ns[i] - after.ns[i];
    return sum;
  };
  const std::vector<bound::layer_times> a = bound::redrawn_times(own.layers),
                                        b = bound::redrawn_times(other.layers);
  std::vector<double> drawn;
  for (std::size_t d = 0; d < a.size(); ++d)
    drawn.push_back(of(a[d], b[d]));
  return bound::between(std::move(drawn),
                        of(bound::point_times(own.layers), bound::point_times(other.layers)));
}

/// What the framework's operators that run only these nodes take now, less the best in the other
/// type and the casts; the interval is what the operators' times scatter by.
inline bound::figure against_framework(const comparison& c, const bound::model_bound& other,
                                       const mixed_precision& m, const std::vector<int>& nodes) {
  const work_table work(other);
  const std::vector<double> point = bound::point_times(other.layers).prediction;
  double saves = -m.casts_ns, scatter = 0;
  for (const compared_operator& o : c.operators)
    if (std::includes(nodes.begin(), nodes.end(), o.nodes.begin(), o.nodes.end())) {
      saves += o.ns - work.take(o.nodes, point);
      scatter += o.scatter_ns;
    }
  return {.ns = saves, .low_ns = saves - scatter, .high_ns = saves + scatter};
}
/// How a framework is set to compute in the type of `other`. Whole numbers need another file.
inline how_to way_to_type(const grounds& g, const bound::model_bound& other,
                          const std::vector<std::string>& rows) {
  const std::string_view framework =
      g.framework == nullptr ? std::string_view() : g.framework->from->framework;
  const std::string type(name(other.type));
  how_to by = by_settings(lever::precision, framework, type);
  if (by.by == doer::you) return by;
  if (quantised(other.type))
    return {.by = doer::you,
            .kind = way::rewrite,
            .text = "quantize the model (onnxruntime.quantization.quantize_static, or NNCF)"};
  return by_makers(g, "kernels in " + type,
                   who_is_asked(g) + " has no setting for it on a processor", rows);
}

/// Where f32 was not measured, though a narrower type is best computed by its kernels.
inline std::optional<question> question_of_f32(const grounds& g) {
  const auto is_f32 = [&](const bound::model_bound* b) {
    return b->graph == g.model.graph && b->type == numeric::f32;
  };
  const auto by_its_kernels = [](const bound::layer_answer& l) {
    return l.algorithms.best != nullptr && l.algorithms.best->algorithm.starts_with(by_f32);
  };
  if (g.model.type == numeric::f32 || ranges::any_of(g.others, is_f32) ||
      ranges::none_of(g.model.layers, by_its_kernels))
    return std::nullopt;
  return question{
      "type", fmt::format("f32, by whose kernels {} is computed best here", name(g.model.type)),
      bound::bench_command(g.of.run, g.model, {}, numeric::f32) + " --benchmark_out=more.json"};
}
} // namespace detail

/// Advice on precision, where the framework itself was not measured in that type.
inline advice_of_kind precision_advice(const grounds& g) {
  advice_of_kind out;
  if (auto wider = detail::question_of_f32(g)) out.not_measured.push_back(std::move(*wider));
  const detail::node_costs own = detail::costs_of(g.model);
  const double own_ns = ranges::accumulate(own.ns, 0.0);
  const bool beside = g.framework != nullptr && g.framework->profiled();
  const std::string framework = g.framework == nullptr ? "" : g.framework->from->framework;
  for (const bound::model_bound* other : g.others) {
    if (other->graph != g.model.graph || other->threads != g.model.threads ||
        other->type == g.model.type || !other->fused != !g.model.fused ||
        size_bytes(source_of(other->type), other->type) >
            size_bytes(source_of(g.model.type), g.model.type) ||
        detail::run_of(g, *other) != nullptr)
      continue;
    const mixed_precision m = mix(g, *other);
    const detail::layers_in_type layers = detail::layers_of(g.model, own, *other, m);
    const std::string_view type = name(other->type), base = name(g.model.type);
    if (layers.slower > 0)
      out.not_worth.push_back(
          {"precision",
           fmt::format("{} layers do not gain in {}, alone or with the casts beside them, such as "
                       "{}",
                       layers.slower, type, layers.slowest),
           fmt::format("{} for {} layer{}", type, layers.slower, layers.slower == 1 ? "" : "s")});
    if (layers.unmeasured > 0)
      out.not_measured.push_back({"precision",
                                  fmt::format("{} layers in {}", layers.unmeasured, type),
                                  other->missing_command});
    if (layers.chosen == 0 || (g.framework != nullptr && !beside)) continue;
    item one{.id = fmt::format("precision/{}", type), .kind = "precision"};
    one.saves = beside ? detail::against_framework(*g.framework, *other, m, layers.nodes)
                       : detail::saved_by_mixing(g.model, *other, m);
    if (one.saves.ns <= 0) continue;
    const std::string_view change = detail::exactness(g.model.type, other->type);
    one.what = fmt::format("{} of the layers in {}, the others in {}{}{}", layers.chosen, type,
                           base, change.empty() ? "" : ": ", change);
    one.leads_to = std::string(type);
    one.bound_ns = m.bound_ns;
    one.nodes = layers.nodes;
    one.evidence = {fmt::format("the best in {}: {}; mixed: {}, of which {} casts {}{}", base,
                                detail::time_text(own_ns), detail::time_text(m.ns), m.casts,
                                detail::time_text(m.casts_ns),
                                m.exact ? "" : " (not shown to be the best assignment)")};
    if (beside)
      one.evidence.push_back(
          fmt::format("the framework's operators for these nodes less the best kernels in {}: {}",
                      type, detail::time_text(one.saves.ns)));
    one.assumes =
        fmt::format("the framework's kernels in {} are as fast as the best that were measured "
                    "here; results may be as inexact as {} is; ",
                    type, type) +
        (m.casts > 0 && m.casts_ns <= 0
             ? "casts are free, as the machine's memory was not measured: "
               "--benchmark_filter=^machine/"
             : "a cast takes what the machine needs to copy the tensor");
    one.how = detail::way_to_type(g, *other, one.evidence);
    one.check = beside && framework == "openvino"
                    ? detail::measure_command(*g.framework, 0, one.how.settings)
                    : fmt::format("{} --types {},{} --benchmark_filter=-^machine/",
                                  bound::bench_program(g.of.run), base, type);
    out.items.push_back(std::move(one));
  }
  return out;
}

} // namespace benanza::advice
