// SPDX-License-Identifier: Apache-2.0
#include "calls_json.hpp"

#include "json.hpp"
#include "json_array.hpp"

#include <nlohmann/json.hpp>
#include <range/v3/view/zip.hpp>

#include <cstdint>
#include <utility>

namespace benanza::report {

result::ordered_json to_json(const trace::call& c) {
  return {{"library", name(c.from)},
          {"function", c.function},
          {"layer", c.layer ? result::ordered_json(op::name(*c.layer)) : result::ordered_json()},
          {"remark", c.remark},
          {"type", c.type ? result::ordered_json(name(*c.type)) : result::ordered_json()},
          {"math", c.math},
          {"layout", c.layout},
          {"algorithm", c.algorithm},
          {"workspace_bytes", c.workspace_bytes}};
}

result::ordered_json to_json(const trace::call_log& l, const trace::iterations& all,
                             std::optional<std::size_t> shown) {
  result::ordered_json failed = array_of(l.failed, [&l](const trace::failure& f) {
    result::ordered_json one = to_json(l.at(f.at));
    one["status"] = f.status;
    one["line"] = f.at.line;
    return one;
  });
  result::ordered_json out{{"source", l.source},
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

result::ordered_json to_json(const advice::framework_choice& r, const model::graph& g) {
  const result::ordered_json nodes =
      array_of(r.nodes, [&g](int n) { return g.nodes[static_cast<std::size_t>(n)].name; });
  result::ordered_json out{{"layer", r.layer},
                           {"uses", r.uses},
                           {"likeness", name(r.how)},
                           {"nodes", nodes},
                           {"called", to_json(*r.called)}};
  out["source"] = r.from->source;
  out["line"] = r.line;
  out["called_ns"] = r.called_ns ? result::ordered_json(*r.called_ns) : result::ordered_json();
  if (!r.measured_in) {
    out["fastest"] = nullptr;
    return out;
  }
  out["fastest"] = to_json(r.algorithms.chosen, r.algorithms.prediction.ns);
  out["fastest"]["type"] = name(*r.measured_in);
  return out;
}

result::ordered_json to_json(const std::vector<advice::lone_row>& rows) {
  return array_of(rows, [](const advice::lone_row& r) {
    result::ordered_json one{{"count", r.count}};
    if (r.called != nullptr)
      one["called"] = to_json(*r.called);
    else
      one["layer"] = r.layer;
    return one;
  });
}

std::string calls_json(const std::vector<trace::call_log>& logs, bool partial) {
  result::ordered_json all = result::ordered_json::array(), calls = result::ordered_json::array();
  for (const trace::call_log& l : logs) {
    all.push_back(to_json(l, trace::find_iterations(l), std::nullopt));
    std::vector<std::int64_t> count(l.calls.size()), line(l.calls.size());
    for (const trace::entry& e : l.entries) {
      const auto at = static_cast<std::size_t>(e.call);
      if (count[at]++ == 0) line[at] = e.line;
    }
    for (const auto& [called, n, first_line] : ranges::views::zip(l.calls, count, line)) {
      if (n == 0) continue;
      result::ordered_json one = to_json(called);
      one["count"] = n;
      one["source"] = l.source;
      one["first_line"] = first_line;
      calls.push_back(std::move(one));
    }
  }
  return dumped({{"schema", report_schema},
                 {"status", partial ? "partial" : "complete"},
                 {"logs", std::move(all)},
                 {"calls", std::move(calls)}});
}

std::string framework_json(const result::run& r, const advice::framework_choices& c, bool partial) {
  result::ordered_json logs =
      array_of(c.logs, [](const advice::log_part& p) { return to_json(*p.from, p.all, p.shown); });
  result::ordered_json layers = array_of(
      c.rows, [&c](const advice::framework_choice& row) { return to_json(row, *c.graph); });
  result::ordered_json out{{"schema", report_schema},
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
                           {"calls_not_in_model", to_json(c.strangers)},
                           {"calls_too_many", to_json(c.surplus)},
                           {"layers_without_call", to_json(c.uncalled)}};
  if (c.other_batch) out["batch_of_calls"] = *c.other_batch;
  if (c.of_cpu) out["only_a_cpu_was_measured"] = true;
  return dumped(out);
}

} // namespace benanza::report
