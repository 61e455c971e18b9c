// SPDX-License-Identifier: Apache-2.0
// How does a plan become JSON, and how is one read? Where BENANZA_COMPILED_RESULT is defined, one
// file of the program includes this for all.
#pragma once

#include "../core/layout.hpp"
#include "../core/nesting.hpp"
#include "../core/text.hpp"
#include "fields.hpp"
#include "plan.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::result {

BENANZA_INLINE ordered_json to_json(const plan& p) {
  ordered_json steps = ordered_json::array();
  for (const plan_step& s : p.steps) {
    ordered_json row = ordered_json::object();
    if (!s.backend.empty()) row = {{"backend", s.backend}, {"algorithm", s.algorithm}};
    if (!s.operand_layouts.empty()) row["operand_layouts"] = s.operand_layouts;
    if (!s.result_layout.empty()) row["result_layout"] = s.result_layout;
    if (!s.given_layout.empty()) row["given_layout"] = s.given_layout;
    steps.push_back(std::move(row));
  }
  return {{"benanza_plan", plan_schema},
          {"type", name(p.type)},
          {"threads", p.threads},
          {"bound_ns", p.bound_ns},
          {"prediction_ns", p.prediction_ns},
          {"prediction_low_ns", p.prediction_low_ns},
          {"prediction_high_ns", p.prediction_high_ns},
          {"provenance", p.provenance},
          {"graph", to_json(p.graph)},
          {"steps", std::move(steps)}};
}

namespace detail {
inline constexpr std::string_view plan_again = "write the plan again with benanza_analyze --plan";

[[noreturn]] inline void refuse_plan(const std::string& what, const std::string& where) {
  throw error(what, where, plan_again);
}

inline const json& plan_member(const json& j, std::string_view key, const std::string& where) {
  const auto found = j.find(key);
  if (found == j.end()) refuse_plan("a plan lacks \"" + std::string(key) + "\"", where);
  return *found;
}

inline std::string plan_text(const json& j, std::string_view key, const std::string& where) {
  const auto found = j.find(key);
  if (found == j.end()) return {};
  if (!found->is_string()) refuse_plan("\"" + std::string(key) + "\" is not a text", where);
  return found->get<std::string>();
}

inline double plan_ns(const json& j, std::string_view key, const std::string& where) {
  const json& v = plan_member(j, key, where);
  const double ns = v.is_number() ? v.get<double>() : -1;
  if (!possible_ns(ns, true))
    refuse_plan("\"" + std::string(key) + "\" is not a time in ns", where);
  return ns;
}

/// Refuses what is no list of layouts.
inline void check_layouts(std::string_view text, const std::string& where) {
  for (const std::string_view one : split_at(text, ","))
    if (!parse_layout(one)) refuse_plan("no layout is called \"" + std::string(one) + "\"", where);
}

/// The step of node `n` of `g`; refuses one that does not say how its layer runs.
inline plan_step step_from_json(const json& j, const model::graph& g, const model::node& n,
                                const std::string& source) {
  const std::string where = source + ", node \"" + n.name + "\"";
  if (!j.is_object()) refuse_plan("a step is not an object", where);
  if (n.layer == model::no_layer) refuse_plan("a plan's node has no layer", where);
  const plan_step s{.backend = plan_text(j, "backend", where),
                    .algorithm = plan_text(j, "algorithm", where),
                    .operand_layouts = plan_text(j, "operand_layouts", where),
                    .result_layout = plan_text(j, "result_layout", where),
                    .given_layout = plan_text(j, "given_layout", where)};
  const bool view = op::is_view(g.layers[static_cast<std::size_t>(n.layer)]);
  if (s.backend.empty() != view || s.algorithm.empty() != view)
    refuse_plan(view ? "a view has an algorithm" : "a step names no backend or no algorithm",
                where);
  if (s.operand_layouts.empty() != s.result_layout.empty() || (!view && s.result_layout.empty()))
    refuse_plan("a step lacks its layouts", where);
  if (!s.result_layout.empty()) {
    check_layouts(s.operand_layouts, where);
    if (!parse_layout(s.result_layout))
      refuse_plan("no layout is called \"" + s.result_layout + "\"", where);
  }
  if (!s.given_layout.empty()) check_layouts(s.given_layout, where);
  return s;
}

inline auto plan_provenance(const json& j, const std::string& source) {
  decltype(plan::provenance) out;
  const json& sections = plan_member(j, "provenance", source);
  if (!sections.is_object()) refuse_plan("\"provenance\" is not an object", source);
  for (const auto& [section, facts] : sections.items()) {
    if (!facts.is_object()) refuse_plan("a section of \"provenance\" is not an object", source);
    for (const auto& [key, value] : facts.items()) {
      if (!value.is_string()) refuse_plan("a fact of \"provenance\" is not a text", source);
      out[section][key] = value.get<std::string>();
    }
  }
  for (const char* section : identity_sections)
    if (!out.contains(section))
      refuse_plan("the plan's provenance lacks its section \"" + std::string(section) + "\"",
                  source);
  return out;
}
} // namespace detail

BENANZA_INLINE plan read_plan(std::string_view text, const std::string& source) {
  using detail::plan_member;
  refuse_nested(text, source);
  json j;
  try {
    j = json::parse(text);
  } catch (const json::exception&) {
    detail::refuse_plan("the plan is cut off or not valid JSON", source);
  }
  if (!j.is_object() || !j.contains("benanza_plan"))
    detail::refuse_plan("this is not a plan", source);
  if (j["benanza_plan"] != plan_schema)
    throw error("the plan has schema " + j["benanza_plan"].dump() + ", this program reads " +
                    std::to_string(plan_schema),
                source, "use programs of one version");
  plan p;
  const auto type = parse_numeric(detail::plan_text(j, "type", source));
  if (!type) detail::refuse_plan("\"type\" is not one of the types that Benanza knows", source);
  p.type = *type;
  const json& threads = plan_member(j, "threads", source);
  if (!threads.is_number_integer() || threads < 1 || threads > 1 << 20)
    detail::refuse_plan("\"threads\" is not a number of threads", source);
  p.threads = threads.get<int>();
  p.bound_ns = detail::plan_ns(j, "bound_ns", source);
  p.prediction_ns = detail::plan_ns(j, "prediction_ns", source);
  p.prediction_low_ns = detail::plan_ns(j, "prediction_low_ns", source);
  p.prediction_high_ns = detail::plan_ns(j, "prediction_high_ns", source);
  if (p.prediction_low_ns > p.prediction_ns || p.prediction_ns > p.prediction_high_ns)
    detail::refuse_plan("the prediction lies outside its interval", source);
  p.provenance = detail::plan_provenance(j, source);
  p.graph = graph_from_json(plan_member(j, "graph", source), source);
  const json& steps = plan_member(j, "steps", source);
  if (!steps.is_array() || steps.size() != p.graph.nodes.size())
    detail::refuse_plan("a plan has one step for each node of its graph, this one has not", source);
  for (std::size_t i = 0; i < steps.size(); ++i)
    p.steps.push_back(detail::step_from_json(steps[i], p.graph, p.graph.nodes[i], source));
  return p;
}

} // namespace benanza::result
