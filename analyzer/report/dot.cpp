// SPDX-License-Identifier: Apache-2.0
#include "dot.hpp"

#include "escape.hpp"
#include "node_times.hpp"
#include "units.hpp"
#include "warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace benanza::report {

namespace {
/// From white to orange by a share of 1.
std::string lost_color(double share) {
  const double s = std::clamp(share, 0.0, 1.0);
  return fmt::format("#ff{:02x}{:02x}", static_cast<int>(255 - 100 * s),
                     static_cast<int>(255 - 205 * s));
}

std::string dot_title(const bound::model_bound& b, double lost_ns) {
  const bound::form_figures& form = b.fastest_form();
  std::string out = fmt::format("{}  {}  {}", escape::dot(b.graph->name), name(b.type),
                                counted(b.threads, "thread"));
  if (b.has_bound()) {
    out += "\\nlower bound " + show_time(b.best_form().bound.sequential.ns);
    if (b.rewritten)
      out += " by the best graph, by this one " + show_time(form.bound.sequential.ns);
    out += ", its longest path " + show_time(form.bound.parallel.ns);
    if (b.workers > 1)
      out += fmt::format(", on {} {}", counted(b.workers, "worker"),
                         show_time(form.bound.reachable.ns));
    out += "\\nred: the longest path; filled: time above the roofline, ";
    out += form.roofline.sequential.ns > 0 ? show_time(lost_ns) + " in all" : "which is not known";
  }
  if (!b.unmeasurable.empty()) out += "\\nNO VERDICT: " + escape::dot(b.unmeasurable);
  if (b.partial()) out += "\\nPARTIAL: " + escape::dot(lacks(b));
  return out;
}

std::string dot_node(std::size_t i, const model::node& n, const node_times& t, double most_lost) {
  const std::string name = escape::dot(printable(n.name, 60)),
                    runs = t.as_one ? "" : fmt::format(" as {} parts", n.parts.size()),
                    layer = escape::dot(t.layer);
  if (t.known && t.bound_ns <= 0)
    return fmt::format("  n{} [shape=plain, label=\"{}\", tooltip=\"{}\"]\n", i, escape::dot(n.op),
                       name);
  const std::string time = t.known ? show_time(t.bound_ns) : "no time";
  std::string lost;
  if (t.lost_ns() > 0) lost = fmt::format(", {} lost", show_time(t.lost_ns()));
  return fmt::format("  n{} [label=\"{}\\n{}{}\\n{}{}\", tooltip=\"{}\", fillcolor=\"{}\"{}]\n", i,
                     name, escape::dot(n.op), runs, time, lost, layer.empty() ? name : layer,
                     lost_color(most_lost > 0 ? t.lost_ns() / most_lost : 0),
                     t.on_path ? ", color=red, penwidth=2.5" : "");
}

std::string dot_graph(const bound::model_bound& b) {
  const bound::form_figures& form = b.fastest_form();
  const std::vector<model::node>& nodes = form.graph->nodes;
  const std::vector<node_times> times = times_of_nodes(b);
  double most = 0, all = 0;
  for (const node_times& t : times) {
    most = std::max(most, t.lost_ns());
    all += t.lost_ns();
  }
  std::string out = fmt::format(
      "digraph \"{}\" {{\n  graph [labelloc=t, fontname=\"Helvetica\", fontsize=16, ranksep=0.3, "
      "label=\"{}\"]\n  node [shape=box, style=\"filled,rounded\", fillcolor=white, "
      "fontname=\"Helvetica\", fontsize=10, margin=\"0.1,0.04\"]\n  edge [arrowsize=0.6]\n",
      escape::dot(b.graph->name), dot_title(b, all));
  for (std::size_t i = 0; i < nodes.size(); ++i)
    out += dot_node(i, nodes[i], times[i], most);
  std::vector<int> next(nodes.size(), -1); // on the longest path
  const std::vector<int>& path = form.bound.longest.nodes;
  for (std::size_t k = 0; k + 1 < path.size(); ++k)
    next[bound::detail::at(path[k])] = path[k + 1];
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const int from : nodes[i].inputs)
      out += fmt::format(
          "  n{} -> n{}{}\n", from, i,
          next[bound::detail::at(from)] == static_cast<int>(i) ? " [color=red, penwidth=2.5]" : "");
  return out + "}\n";
}
} // namespace

std::string dot_report(const input& in) {
  std::string out;
  for (const bound::model_bound& b : in.models)
    out += dot_graph(b);
  return out;
}

} // namespace benanza::report
