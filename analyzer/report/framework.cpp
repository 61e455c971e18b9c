// SPDX-License-Identifier: Apache-2.0
#include "framework.hpp"

#include "calls.hpp"
#include "heading.hpp"
#include "units.hpp"
#include "warnings.hpp"

#include <fmt/format.h>
#include <range/v3/numeric/accumulate.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace benanza::report {

namespace {
std::string_view show_likeness(trace::likeness how) {
  switch (how) {
  case trace::likeness::exact: return "";
  case trace::likeness::shape: return "  (the same dims)";
  case trace::likeness::partial: return "  (with other steps)";
  case trace::likeness::bias: return "  (its bias)";
  }
  return "";
}

std::string framework_rows(const advice::framework_choices& c, std::size_t limit) {
  std::string out;
  for (const advice::framework_choice& r : first_of(c.rows, limit)) {
    out += wrapped(fmt::format("{:>4} x ", r.uses),
                   printable(r.layer) + std::string(show_likeness(r.how)));
    out += wrapped(fmt::format("   called {:>9}  ", r.called_ns ? show_time(*r.called_ns) : "-"),
                   fmt::format("{} {}", type_called(*r.called), how_called(*r.called)));
    if (!r.measured_in) continue;
    const bound::measurement& m = *r.algorithms.chosen;
    out += wrapped(fmt::format("  fastest {:>9}  ", show_time(r.algorithms.prediction.ns)),
                   fmt::format("{} {} {}", name(*r.measured_in), printable(m.backend),
                               printable(m.algorithm)));
  }
  return out + left_out(limit, c.rows.size(), "layers");
}

std::string lone_rows(std::string_view title, const std::vector<advice::lone_row>& rows,
                      std::size_t limit) {
  if (rows.empty()) return {};
  std::string out = '\n' + wrapped("", title);
  for (const advice::lone_row& r : first_of(rows, limit)) {
    const std::string what =
        r.called == nullptr ? printable(r.layer)
                            : fmt::format("{} ({})", what_called(*r.called), how_called(*r.called));
    out += wrapped(fmt::format("{:>6} x ", r.count), what);
  }
  return out + left_out(limit, rows.size(), "rows");
}
} // namespace

std::string framework_page(const result::run& r, const advice::framework_choices& c,
                           std::size_t limit) {
  std::string out;
  std::vector<const trace::call_log*> logs;
  for (const advice::log_part& p : c.logs) {
    out += log_line(*p.from, p.all, p.shown);
    logs.push_back(p.from);
  }
  const bool model = !advice::only_layers(*c.graph);
  out += wrapped("", fmt::format("held against {}, measured on {}",
                                 model ? printable(c.graph->name) : "layers without a model",
                                 where_measured(r)));
  const std::int64_t matched =
      ranges::accumulate(c.rows, std::int64_t{0}, std::plus<>{}, &advice::framework_choice::uses);
  out += wrapped(
      "", model ? fmt::format("{} of {} calls are layers of the model; they compute {} "
                              "of its {} nodes",
                              matched, c.calls, c.covered, c.nodes)
                : fmt::format("{} of {} calls are layers that were measured", matched, c.calls));
  if (c.other_batch)
    out += wrapped("! ", fmt::format("The calls are of batch {}, the model is of batch {}.",
                                     *c.other_batch, c.graph->batch));
  if (c.of_cpu)
    out += wrapped(
        "! ", "The calls ran on a GPU, and this result is of a CPU: it does not say which "
              "kernel is best there. Give a result of that GPU (benanza_bench built with CUDA).");
  out += '\n' + framework_rows(c, limit);
  out += lone_rows("Calls that are no layer of the model:", c.strangers, limit);
  out += lone_rows("Calls of its layers, but more often than it has them:", c.surplus, limit);
  if (model)
    out += lone_rows("Layers without a call (the framework's own kernels, or folded into others):",
                     c.uncalled, limit);
  const std::string remarks = log_remarks(logs, limit);
  return remarks.empty() ? out : out + '\n' + remarks;
}

} // namespace benanza::report
