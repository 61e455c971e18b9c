// SPDX-License-Identifier: Apache-2.0
#include "choices.hpp"

#include "../report/heading.hpp"
#include "../report/json.hpp"
#include "../report/units.hpp"
#include "../report/warnings.hpp"
#include "page.hpp"

#include <fmt/format.h>
#include <range/v3/numeric/accumulate.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::report {

namespace {
using tables::unit;

std::string_view show_likeness(trace::likeness how) {
  switch (how) {
  case trace::likeness::exact: return "";
  case trace::likeness::shape: return "  (the same dims)";
  case trace::likeness::partial: return "  (with other steps)";
  case trace::likeness::bias: return "  (its bias)";
  }
  return "";
}

/// For people three rows a layer: it, its call, and the fastest.
tables::table shown_layers(const advice::framework_choices& c, std::size_t limit) {
  tables::table out{.columns = {{"", "uses", unit::count},
                                {"", ""},
                                {"", "time", unit::time},
                                {"", "layer, how it was called, what was fastest"}}};
  for (const advice::framework_choice& r : first_of(c.rows, limit)) {
    out.rows.push_back({r.uses, "", "", r.layer + std::string(show_likeness(r.how))});
    out.rows.push_back({"", "called", r.called_ns ? tables::cell(*r.called_ns) : tables::cell(),
                        fmt::format("{} {}", type_called(*r.called), how_called(*r.called))});
    if (!r.measured_in) continue;
    const bound::measurement& m = *r.algorithms.chosen;
    out.rows.push_back({"", "fastest", r.algorithms.prediction.ns,
                        fmt::format("{} {} {}", name(*r.measured_in), m.backend, m.algorithm)});
  }
  if (c.rows.size() > limit)
    out.note = counted(static_cast<std::int64_t>(c.rows.size() - limit), "more layer") +
               ": --layers all shows them.";
  return out;
}

/// For programs a row a layer.
tables::table layers_of(const advice::framework_choices& c) {
  tables::table out{.key = "layers",
                    .columns =
                        tables::keys({"layer", "uses", "likeness", "nodes", "source", "line",
                                      "called_ns", "fastest_ns", "fastest_type", "fastest_backend",
                                      "fastest_algorithm", "fastest_case"})};
  add_call_columns(out);
  for (const advice::framework_choice& r : c.rows) {
    std::vector<std::string> nodes;
    for (const int n : r.nodes)
      nodes.push_back(c.graph->nodes[static_cast<std::size_t>(n)].name);
    std::vector<tables::cell>& row = out.rows.emplace_back();
    row = {r.layer,
           r.uses,
           std::string(name(r.how)),
           std::move(nodes),
           r.from->source,
           r.line,
           r.called_ns ? tables::cell(*r.called_ns) : tables::cell()};
    if (r.measured_in) {
      const bound::measurement& m = *r.algorithms.chosen;
      row.insert(row.end(), {r.algorithms.prediction.ns, std::string(name(*r.measured_in)),
                             m.backend, m.algorithm, m.name});
    } else {
      row.resize(row.size() + 5);
    }
    add_call(r.called, row);
  }
  return out;
}

/// Calls or layers without a partner.
tables::table lone_rows(const char* key, const char* title,
                        const std::vector<advice::lone_row>& rows, std::size_t limit) {
  tables::table out{.key = key,
                    .title = title,
                    .columns = {{"count", "times", unit::count}, {"layer", ""}, {"", ""}},
                    .shown = limit,
                    .all_by = "--layers all"};
  add_call_columns(out);
  for (const advice::lone_row& r : rows) {
    const bool layer = r.called == nullptr;
    std::vector<tables::cell>& row = out.rows.emplace_back();
    row = {r.count, layer ? tables::cell(r.layer) : tables::cell(),
           layer ? r.layer : fmt::format("{} ({})", what_called(*r.called), how_called(*r.called))};
    add_call(r.called, row);
  }
  return out;
}
} // namespace

tables::chapter framework_answer(const result::run& r, const advice::framework_choices& c,
                                 bool partial, std::size_t limit) {
  using tables::whole;
  tables::chapter out{
      .fields = {{"schema", whole(report_schema)},
                 {"status", partial ? "partial" : "complete"},
                 {"sources", r.source},
                 {"model", c.graph->name},
                 {"batch", whole(c.graph->batch)},
                 {"calls", whole(c.calls)},
                 {"nodes_computed", whole(c.covered)},
                 {"nodes", whole(c.nodes)},
                 {"batch_of_calls", c.other_batch ? whole(*c.other_batch) : tables::cell()},
                 {"only_a_cpu_was_measured", c.of_cpu}}};
  std::vector<const trace::call_log*> logs;
  for (const advice::log_part& p : c.logs) {
    out.chapters.push_back(log_chapter(*p.from, p.all, p.shown));
    logs.push_back(p.from);
  }
  out.chapters.push_back(provenance_of(r));
  const bool model = !advice::only_layers(*c.graph);
  const std::int64_t matched =
      ranges::accumulate(c.rows, std::int64_t{0}, std::plus<>{}, &advice::framework_choice::uses);
  out.say(fmt::format("held against {}, measured on {}",
                      model ? c.graph->name : "layers without a model", where_measured(r)));
  out.say(model ? fmt::format("{} of {} calls are layers of the model; they compute {} of its {} "
                              "nodes",
                              matched, c.calls, c.covered, c.nodes)
                : fmt::format("{} of {} calls are layers that were measured", matched, c.calls));
  if (c.other_batch)
    out.warn(fmt::format("The calls are of batch {}, the model is of batch {}.", *c.other_batch,
                         c.graph->batch));
  if (c.of_cpu)
    out.warn("The calls ran on a GPU, and this result is of a CPU: it does not say which kernel is "
             "best there. Give a result of that GPU (benanza_bench built with CUDA).");
  out.add(shown_layers(c, limit));
  out.add(layers_of(c));
  out.add(
      lone_rows("calls_not_in_model", "Calls that are no layer of the model", c.strangers, limit));
  out.add(lone_rows("calls_too_many", "Calls of its layers, but more often than it has them",
                    c.surplus, limit));
  out.add(lone_rows("layers_without_call",
                    "Layers without a call (the framework's own kernels, or folded into others)",
                    model ? c.uncalled : std::vector<advice::lone_row>{}, limit));
  out.chapters.push_back(log_remarks(logs, limit));
  return out;
}

} // namespace benanza::report
