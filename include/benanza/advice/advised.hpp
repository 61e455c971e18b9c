// SPDX-License-Identifier: Apache-2.0
// Which framework's run belongs to which model, and what is advised of each? A run belongs to the
// figures of the same model in its precision, at its batch and on its threads. The same model has
// the same structure (onnx/structure.hpp); where either side does not tell it, most of its nodes
// are found. A run of another model is refused; one of a setting without figures is named and left
// out, and refused where that is so of all.
//
//   std::vector<std::string> left_out;
//   std::vector<advised> all = advise_all(source, models, profiles, {.left_out = &left_out});
#pragma once

#include "advise.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/any_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::advice {

/// A model with its framework's run and all advice. Refers to the model and to the profile.
struct advised {
  const bound::model_bound* model = nullptr;
  std::vector<comparison> frameworks{}; ///< in the order given; the first is compared in detail
  advice_list list{};
};

/// The run that changes start from.
inline double changed_run_ns(const advised& a) {
  return a.list.run.ns;
}

/// At least this share of a model's nodes is found in a profile of it, and of its operators in the
/// model: one layer that two models share is no sign that they are one.
inline constexpr double least_matched = 0.3;

namespace detail {
/// The class of precision of a profile, as results call it; empty: it does not say.
inline std::string precision_of(const trace::profile& p) {
  if (!p.precision.empty()) return p.precision;
  for (const trace::profiled_operator& o : p.operators)
    if (o.precision == "bf16" || o.precision == "f16") return o.precision;
  return {};
}

/// Why the figures of `b` are not those of a profile; empty: they are.
inline std::string differs(const trace::profile& p, const bound::model_bound& b) {
  const std::string precision = precision_of(p);
  const bool in_codes = (precision == "s8" || precision == "u8") && model::holds_codes(*b.graph);
  if (!precision.empty() && precision != name(b.type) && !in_codes &&
      precision.find(' ') == std::string::npos)
    return fmt::format("it computes in {}, the figures are of {}{}", precision, name(b.type),
                       p.framework == "openvino" && (precision == "bf16" || precision == "f16")
                           ? ", and OpenVINO may choose that by itself: set its "
                             "INFERENCE_PRECISION_HINT to f32 (benchmark_app -infer_precision f32)"
                           : "");
  if (p.threads != 0 && p.threads != b.threads)
    return fmt::format("it ran on {} threads, the figures are of {}", p.threads, b.threads);
  if (p.batch != 0 && p.batch != b.graph->batch)
    return fmt::format("its batch is {}, the model's {}", p.batch, b.graph->batch);
  for (const auto& [symbol, n] : b.graph->dims)
    if (const auto theirs = p.dims.find(symbol); theirs != p.dims.end() && theirs->second != n)
      return fmt::format("it ran at {0}={1}, the figures are of {0}={2}", printable(symbol),
                         theirs->second, n);
  return {};
}

/// True where most operators that were matched by what they are called, and tell the dims of their
/// result, make another number of elements than all of their nodes: the model ran at other dims.
inline bool of_other_dims(const comparison& c) {
  const model::graph& g = *c.model->graph;
  int told = 0, equal = 0;
  for (const compared_operator& o : c.operators) {
    const std::vector<trace::profiled_tensor>& results = c.from->operators[o.op].results;
    if (o.how > trace::matched_by::between || results.empty() || !results[0].dims) continue;
    const std::int64_t theirs = elements(*results[0].dims);
    ++told;
    for (int node : o.nodes) {
      const op::layer* l = model::layer_of(g, g.nodes[static_cast<std::size_t>(node)]);
      if (l == nullptr) continue;
      // Blocked layouts fill channels up.
      const std::int64_t ours = elements(op::output(*l));
      if (theirs != ours && (theirs < ours || theirs >= 2 * ours)) continue;
      ++equal;
      break;
    }
  }
  return told >= 4 && 2 * equal < told;
}

/// How much of a profile and of a graph is the same work.
struct found_nodes {
  std::int64_t nodes = 0, operators = 0; ///< nodes with an operator, operators with a node
  double of_nodes = 0, of_operators = 0;

  double share() const { return std::min(of_nodes, of_operators); }
};

inline found_nodes found_in(const trace::profile& p, const model::graph& g) {
  const trace::attribution a = trace::attribute(p, g);
  found_nodes out{.nodes = a.matched()};
  for (std::size_t o = 0; o < p.operators.size(); ++o)
    out.operators += !a.added(o);
  out.of_nodes = static_cast<double>(out.nodes) / static_cast<double>(g.nodes.size());
  out.of_operators = static_cast<double>(out.operators) / static_cast<double>(p.operators.size());
  return out;
}

/// The place of the figures that a profile belongs to; nothing where they are of other settings,
/// which `why` says. Refuses a run of another model.
inline std::optional<std::size_t>
place_of(const trace::profile& p, const std::vector<bound::model_bound>& all, std::string& why) {
  std::optional<std::size_t> best;
  std::int64_t most = -1;
  bool of_a_model = false; ///< it is a run of one of them, if not in this setting
  std::string other;       ///< why it is a run of another model
  const bool named = !p.model.empty() && ranges::any_of(all, [&](const bound::model_bound& b) {
    return b.graph->model == p.model;
  });
  for (const bound::model_bound& b : all) {
    const model::graph& g = *b.graph;
    if (model::is_training_step(g)) continue; // a framework's file is of inference
    const bool hashed = !p.structure.empty() && !g.structure.empty();
    if (hashed && p.structure != g.structure) {
      if (other.empty())
        other = fmt::format("{} as it ran there has other nodes or tensors than {}",
                            printable(p.model), printable(g.model));
      continue;
    }
    if (!hashed && named && g.model != p.model) continue;
    // A file of another name may be the same model, if its operators say so.
    if (!hashed && !named && !p.model.empty() && p.operators.empty()) continue;
    const found_nodes found = hashed || p.operators.empty() ? found_nodes{} : found_in(p, g);
    if (!hashed &&
        (p.operators.empty() ? !named && all.size() > 1 : found.share() < least_matched)) {
      if (other.empty() && !p.operators.empty())
        other = fmt::format("{} of its {} operators and {} of the {} nodes of {} are the same",
                            found.operators, p.operators.size(), found.nodes, g.nodes.size(),
                            printable(g.name));
      continue;
    }
    of_a_model = true;
    if (std::string reason = differs(p, b); !reason.empty()) {
      if (why.empty()) why = std::move(reason);
      continue;
    }
    if (found.nodes <= most) continue;
    best = static_cast<std::size_t>(&b - all.data());
    most = found.nodes;
  }
  if (!of_a_model)
    throw error("the framework's run belongs to no model of the results", p.source,
                other.empty() ? "name results of the model that ran"
                              : other + ": name results of the model that ran");
  return best;
}
} // namespace detail

/// A framework's run beside the figures that it belongs to; nothing where these are of other
/// settings, which `why` says. Refuses a run of another model, or at other dims.
inline std::optional<comparison> run_beside(const trace::profile& p,
                                            const std::vector<bound::model_bound>& models,
                                            std::string& why) {
  const std::optional<std::size_t> at = detail::place_of(p, models, why);
  if (!at) return std::nullopt;
  std::optional<comparison> out = compare(p, models[*at]);
  if (detail::of_other_dims(*out))
    throw error("the framework ran " + models[*at].graph->model + " at other dims", p.source,
                "give it the dims (--dim) that the model was measured with");
  return out;
}

/// What is asked besides.
struct advice_options {
  /// Of the models in other types and batches, where those that are shown are not all.
  const std::vector<bound::model_bound>* others = nullptr;
  double latency_limit_ns = 0; ///< that a batch may take; 0: any
  /// Gets a line for each run that belongs to none of the figures.
  std::vector<std::string>* left_out = nullptr;
};

/// All advice on all models, with the frameworks' runs where they belong.
inline std::vector<advised> advise_all(const bound::source& s,
                                       const std::vector<bound::model_bound>& models,
                                       const std::vector<trace::profile>& profiles,
                                       const advice_options& o = {}) {
  std::vector<advised> out;
  std::vector<const bound::model_bound*> others;
  for (const bound::model_bound& b : models) {
    out.push_back({.model = &b});
    others.push_back(&b);
  }
  if (o.others != nullptr)
    for (const bound::model_bound& b : *o.others)
      others.push_back(&b);
  std::vector<std::string> left_out;
  for (const trace::profile& p : profiles) {
    std::string why;
    if (std::optional<comparison> c = run_beside(p, models, why))
      out[static_cast<std::size_t>(c->model - models.data())].frameworks.push_back(std::move(*c));
    else
      left_out.push_back(p.source + ": " + why);
  }
  if (!left_out.empty() && (o.left_out == nullptr || left_out.size() == profiles.size()))
    throw error("the results have no figures of the framework's setting", left_out.front(),
                "measure these, or run the framework again");
  if (o.left_out != nullptr) *o.left_out = std::move(left_out);
  std::vector<const comparison*> runs;
  for (const advised& a : out)
    for (const comparison& c : a.frameworks)
      runs.push_back(&c);
  for (advised& a : out) {
    const comparison* const framework = a.frameworks.empty() ? nullptr : &a.frameworks.front();
    a.list = advise({.of = s,
                     .model = *a.model,
                     .others = others,
                     .framework = framework,
                     .latency_limit_ns = o.latency_limit_ns,
                     .run = baseline_of(*a.model, framework),
                     .runs = runs});
  }
  return out;
}

} // namespace benanza::advice
