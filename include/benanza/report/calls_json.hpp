// SPDX-License-Identifier: Apache-2.0
// What does a program read of a framework's logs? All that the pages say, as JSON with fixed field
// names: the logs, then either every different call, or the layers of a model with their calls and
// the fastest that was measured.
//
//   {"schema": 1, "status": "complete", "logs": [...], "calls": [...]}
//   {"schema": 1, "status": "complete", "logs": [...], "model": "...", "layers": [...], ...}
#pragma once

#include "../advice/chosen.hpp"
#include "json.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace benanza::report {

namespace detail {
inline ordered_json to_json(const trace::call& c) {
  return {{"library", name(c.from)},
          {"function", c.function},
          {"layer", c.layer ? ordered_json(op::name(*c.layer)) : ordered_json()},
          {"remark", c.remark},
          {"type", c.type ? ordered_json(name(*c.type)) : ordered_json()},
          {"math", c.math},
          {"layout", c.layout},
          {"algorithm", c.algorithm},
          {"workspace_bytes", c.workspace_bytes}};
}

inline ordered_json to_json(const trace::call_log& l, const trace::iterations& all,
                            std::optional<std::size_t> shown) {
  ordered_json failed = ordered_json::array();
  for (const trace::failure& f : l.failed) {
    ordered_json one = to_json(l.at(f.at));
    one["status"] = f.status;
    one["line"] = f.at.line;
    failed.push_back(std::move(one));
  }
  ordered_json out{{"source", l.source},
                   {"lines", l.lines},
                   {"bytes", l.bytes},
                   {"versions", l.versions},
                   {"calls", l.entries.size()},
                   {"iterations",
                    {{"count", all.count},
                     {"calls_each", all.length},
                     {"calls_before", all.first},
                     {"calls_behind", all.behind}}}};
  if (shown) out["iteration_shown"] = *shown + 1;
  out["failed"] = std::move(failed);
  out["warnings"] = l.warnings;
  return out;
}

inline ordered_json to_json(const advice::chosen_row& r, const model::graph& g) {
  ordered_json nodes = ordered_json::array();
  for (int n : r.nodes)
    nodes.push_back(g.nodes[static_cast<std::size_t>(n)].name);
  ordered_json out{{"layer", r.layer},
                   {"uses", r.uses},
                   {"likeness", name(r.how)},
                   {"nodes", nodes},
                   {"called", to_json(*r.called)}};
  out["source"] = r.from->source;
  out["line"] = r.line;
  out["called_ns"] = r.called_ns ? ordered_json(*r.called_ns) : ordered_json();
  if (!r.measured_in) {
    out["fastest"] = nullptr;
    return out;
  }
  out["fastest"] = to_json(r.algorithms.chosen, r.algorithms.prediction.ns);
  out["fastest"]["type"] = name(*r.measured_in);
  return out;
}

inline ordered_json to_json(const std::vector<advice::lone_row>& rows) {
  ordered_json out = ordered_json::array();
  for (const advice::lone_row& r : rows) {
    ordered_json one{{"count", r.count}};
    if (r.called != nullptr)
      one["called"] = to_json(*r.called);
    else
      one["layer"] = r.layer;
    out.push_back(std::move(one));
  }
  return out;
}

inline std::string dumped(const ordered_json& j) {
  return j.dump(2, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}
} // namespace detail

/// Logs alone.
inline std::string calls_json(const std::vector<trace::call_log>& logs, bool partial) {
  using nlohmann::ordered_json;
  ordered_json all = ordered_json::array(), calls = ordered_json::array();
  for (const trace::call_log& l : logs) {
    all.push_back(detail::to_json(l, trace::find_iterations(l), std::nullopt));
    std::vector<std::int64_t> count(l.calls.size()), line(l.calls.size());
    for (const trace::entry& e : l.entries) {
      const auto at = static_cast<std::size_t>(e.call);
      if (count[at]++ == 0) line[at] = e.line;
    }
    for (std::size_t i = 0; i < l.calls.size(); ++i) {
      if (count[i] == 0) continue;
      ordered_json one = detail::to_json(l.calls[i]);
      one["count"] = count[i];
      one["source"] = l.source;
      one["first_line"] = line[i];
      calls.push_back(std::move(one));
    }
  }
  return detail::dumped({{"schema", report_schema},
                         {"status", partial ? "partial" : "complete"},
                         {"logs", std::move(all)},
                         {"calls", std::move(calls)}});
}

/// Logs held against a model.
inline std::string chosen_json(const result::run& r, const advice::chosen& c, bool partial) {
  using nlohmann::ordered_json;
  ordered_json logs = ordered_json::array(), layers = ordered_json::array();
  for (const advice::log_part& p : c.logs)
    logs.push_back(detail::to_json(*p.from, p.all, p.shown));
  for (const advice::chosen_row& row : c.rows)
    layers.push_back(detail::to_json(row, *c.graph));
  ordered_json out{{"schema", report_schema},
                   {"status", partial ? "partial" : "complete"},
                   {"sources", r.source},
                   {"provenance", r.provenance},
                   {"logs", std::move(logs)},
                   {"model", c.graph->name},
                   {"batch", c.graph->batch},
                   {"calls", c.calls},
                   {"nodes_computed", c.covered},
                   {"nodes", c.nodes},
                   {"layers", std::move(layers)},
                   {"calls_not_in_model", detail::to_json(c.strangers)},
                   {"calls_too_many", detail::to_json(c.surplus)},
                   {"layers_without_call", detail::to_json(c.uncalled)}};
  if (c.other_batch) out["batch_of_calls"] = *c.other_batch;
  return detail::dumped(out);
}

} // namespace benanza::report
