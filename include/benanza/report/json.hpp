// SPDX-License-Identifier: Apache-2.0
// What does a program read? All that the text report says, as JSON with fixed field names and units
// in them. A figure is {"ns", "low_ns", "high_ns"}; shares are of 1; `analyses` holds an entry for
// each model, type and number of threads; `status` is that of the whole report.
//
//   {"schema": 1, "status": "complete", "sources": "run.json", "provenance": {...},
//    "analyses": [{"model": "resnet50@batch=1", "type": "f32", "threads": 1, "bound": {...}, ...}]}
#pragma once

#include "layers.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace benanza::report {

inline constexpr int report_schema = 1;

namespace detail {
using nlohmann::ordered_json;

inline ordered_json to_json(const bound::figure& f) {
  return {{"ns", f.ns}, {"low_ns", f.low_ns}, {"high_ns", f.high_ns}};
}

inline ordered_json to_json(const bound::totals& t) {
  return {{"sequential", to_json(t.sequential)},
          {"parallel", to_json(t.parallel)},
          {"reachable", to_json(t.reachable)},
          {"path_nodes", t.longest.nodes}};
}

inline ordered_json to_json(const bound::measurement* m, double ns) {
  if (m == nullptr) return nullptr;
  return {{"backend", m->backend},
          {"algorithm", m->algorithm},
          {"algorithm_index", m->algorithm_index},
          {"state", m->state},
          {"ns", ns},
          {"layouts", m->layouts},
          {"workspace_bytes", m->workspace_bytes},
          {"weight_bytes", m->weight_bytes},
          {"fallback", m->fallback},
          {"disturbed", m->disturbed}};
}

inline ordered_json to_json(const layer_answer& l, double sum_ns) {
  ordered_json out{{"layer", l.name},
                   {"uses", l.uses},
                   {"basis", name(l.rests_on)},
                   {"on_path", l.on_path},
                   {"flops", l.flops}};
  if (l.failed != 0) out["failed_cases"] = l.failed;
  if (!l.reason.empty()) out["reason"] = l.reason;
  if (!l.timed()) return out;
  const bound::choice& c = l.algorithms;
  const arithmetic_rate r = rate(l);
  out["type"] = name(l.type);
  out["share"] = sum_ns > 0 ? bound_ns(l) / sum_ns : 0;
  out["gflops"] = r.gflops;
  out["fewer_operations_than_counted"] = r.less_than_nominal;
  out["bound"] = to_json(c.best, c.bound.ns);
  out["prediction"] = to_json(c.chosen, c.prediction.ns);
  out["first_choice"] = to_json(c.first, c.first_choice.ns);
  out["gain_ns"] = gain_ns(l);
  return out;
}

inline ordered_json to_json(const bound::coverage& c) {
  ordered_json holes = ordered_json::array();
  for (const bound::hole& h : c.holes)
    holes.push_back(
        {{"name", h.name}, {"nodes", h.nodes}, {"reason", h.reason}, {"command", h.command}});
  return {{"native", c.native},
          {"reference", c.reference},
          {"host", c.host},
          {"old_isa", c.old_isa},
          {"other_type", c.other_type},
          {"nodes", c.nodes},
          {"view_nodes", c.view_nodes},
          {"missing_nodes", c.missing_nodes},
          {"holes", std::move(holes)}};
}

inline ordered_json to_json(const model_bound& b) {
  ordered_json layers = ordered_json::array();
  for (const layer_answer& l : b.layers)
    layers.push_back(to_json(l, b.bound.sequential.ns));
  ordered_json interrupted = ordered_json::array();
  for (const auto& [layer, what] : disturbed(b))
    interrupted.push_back({{"layer", layer}, {"disturbed", what}});
  return {{"model", b.graph->name},
          {"batch", b.graph->batch},
          {"model_type", name(b.graph->type)},
          {"type", name(b.type)},
          {"threads", b.threads},
          {"workers", b.workers},
          {"fused", false},
          {"partial", b.partial()},
          {"parallel_assumption", b.assumption()},
          {"predicted_from", b.state},
          {"prepared_weight_bytes", b.prepared_weight_bytes},
          {"bound", to_json(b.bound)},
          {"prediction", to_json(b.prediction)},
          {"algorithm_gain", to_json(b.gain)},
          {"coverage", to_json(b.covered)},
          {"failed_cases", b.failed()},
          {"views", views(b)},
          {"faults", b.faults},
          {"disturbed", std::move(interrupted)},
          {"notes", b.notes},
          {"layers", std::move(layers)}};
}
} // namespace detail

/// The report as JSON text; `partial` says whether the run's figures have holes or failed cases.
inline std::string json_report(const result::run& r, const std::vector<model_bound>& models,
                               bool partial) {
  using nlohmann::ordered_json;
  ordered_json analyses = ordered_json::array();
  for (const model_bound& b : models)
    analyses.push_back(detail::to_json(b));
  const ordered_json out{{"schema", report_schema},
                         {"status", partial ? "partial" : "complete"},
                         {"sources", r.source},
                         {"provenance", r.provenance},
                         {"analyses", std::move(analyses)}};
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

} // namespace benanza::report
