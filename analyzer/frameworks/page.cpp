// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../report/heading.hpp"
#include "../report/layers.hpp"
#include "../report/units.hpp"
#include "../report/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

namespace benanza::report {

namespace {
/// A row of the operators of one layer and kernel.
std::string compared_line(const advice::compared_row& r) {
  const auto n = static_cast<double>(r.count);
  const std::string best = r.answer == nullptr || r.answer->algorithms.chosen == nullptr
                               ? "(roofline)"
                               : std::string(short_name(r.answer->algorithms.chosen->algorithm));
  std::string out = fmt::format("{:>8} {:>8} {:>8} {:>4}{} {:<14.14} ", show_time(r.lost_ns()),
                                show_time(r.ns / n), show_time(r.best_ns / n), r.count,
                                r.how == trace::matched_by::likeness ? '?' : ' ', printable(best));
  if (out.size() + r.layer.size() <= columns) return out + r.layer + '\n';
  return out.substr(0, out.find_last_not_of(' ') + 1) + "\n         " + r.layer + '\n';
}

std::string compared_table(const std::vector<advice::compared_row>& rows, std::size_t limit) {
  std::string out = fmt::format("{:>8} {:>8} {:>8} {:>4}  {:<14} {}\n", "lost", "each", "best", "n",
                                "best algorithm", "layer");
  for (const advice::compared_row& r : first_of(rows, limit))
    out += compared_line(r);
  return out + left_out(limit, rows.size(), "rows");
}
} // namespace

std::string_view total_behind(const advice::comparison& c, const advice::bar& b) {
  if (b.id == "layouts" || (b.id == "fusion" && c.bars.back().id == "fusion"))
    return "expected run";
  const bool rewritten = c.model->rewritten != nullptr;
  if (b.id == (rewritten ? "rewriting" : "caches")) return "lower bound";
  return b.id == "roofline" ? "the machine's limits" : "";
}

namespace {
/// The steps from the run down; those that take less than a thousandth are left out.
std::string waterfall(const advice::comparison& c) {
  if (c.bars.empty()) return {};
  const std::string name = framework_name(*c.from);
  std::string out = fmt::format("From the run of {} down to the machine's limits:\n", name);
  const auto total = [&](double ns, std::string_view what) {
    out += fmt::format("{:>10}            {}\n", show_time(ns), what);
  };
  total(c.latency.ns, c.latency_profiled ? name + ", with its profiler on" : name);
  const auto unit = scale_of(c.latency.ns);
  for (const advice::bar& b : c.bars) {
    if (b.takes.ns != 0) {
      const double v = b.takes.ns / unit.ns;
      out += wrapped(fmt::format("{:>10} {:>9}  ", fmt::format("{:+.{}f}", -v, unit.decimals + 1),
                                 percent(std::abs(b.takes.ns) / c.latency.ns)),
                     b.what);
    }
    if (const std::string_view reached = total_behind(c, b); !reached.empty())
      total(b.left_ns, reached);
  }
  return out;
}

std::string added_lines(const advice::comparison& c) {
  if (c.added.empty()) return {};
  std::vector<std::string> all;
  for (const advice::added_row& r : c.added)
    if (all.size() < 8)
      all.push_back(fmt::format("{} {} {}", r.count, printable(r.type, 40), show_time(r.takes.ns)));
  if (c.added.size() > all.size())
    all.push_back(fmt::format("{} more kinds", c.added.size() - all.size()));
  return wrapped("Added by the framework: ", fmt::format("{}.", fmt::join(all, ", ")));
}

/// How operators came to their nodes.
std::string match_line(const advice::comparison& c) {
  std::int64_t sure = 0, between = 0, guessed = 0;
  for (std::size_t i = 0; i < c.matched.how.size(); ++i) {
    if (!advice::detail::computes(*c.model->graph, c.model->graph->nodes[i])) continue;
    const trace::matched_by how = c.matched.how[i];
    sure += how <= trace::matched_by::tensor;
    between += how == trace::matched_by::between;
    guessed += how == trace::matched_by::likeness;
  }
  return wrapped(
      "Matched: ",
      fmt::format("{} of {} of the model that take time: {} as the framework says or by name, {} "
                  "as they lie between these, {} by kind and dims alone (?).",
                  c.matched_nodes, counted(c.nodes, "node"), sure, between, guessed));
}

/// What the profiler did to the times of operators, and of which of them nothing is said; empty:
/// nothing.
std::string profiler_text(const advice::comparison& c) {
  const advice::profiler_cost& cost = c.profiler;
  std::vector<std::string> said;
  if (cost.most_ns > 0)
    said.push_back(fmt::format("adds {} to {} to each operator ({}), which is taken off",
                               show_time(cost.least_ns), show_time(cost.most_ns),
                               c.from->empty_operator ? "as measured at empty ones" : "at most"));
  if (cost.step_ns > 0 && c.blurred > 0)
    said.push_back(fmt::format("cuts times to whole {}", show_time(cost.step_ns)));
  if (cost.pace < 1)
    said.push_back(fmt::format("made all of its runs longer: times of operators are multiplied by "
                               "{:.3f}",
                               cost.pace));
  if (c.blurred > 0)
    said.push_back(fmt::format("says nothing of {} of {} that take less than {}", c.blurred,
                               counted(std::ssize(c.from->operators), "operator"),
                               show_time(cost.blur_ns())));
  if (said.empty()) return {};
  return fmt::format("The profiler of {} {}", framework_name(*c.from), fmt::join(said, "; it "));
}
} // namespace

std::string blurred_text(const advice::comparison& c) {
  return c.much_blurred() ? profiler_text(c) : std::string();
}

namespace {
std::string warning_lines(const trace::profile& p, std::size_t limit) {
  std::string out;
  for (const std::string& w : first_of(p.warnings, limit))
    out += wrapped("! ", printable(w));
  return out;
}
} // namespace

std::string framework_section(const advice::comparison& c, std::size_t limit) {
  const std::string name = framework_name(*c.from);
  const std::string blurred = blurred_text(c), cost = profiler_text(c);
  std::string out = blurred.empty() ? "" : wrapped("! ", blurred + ".");
  if (!c.faster.empty()) {
    out += wrapped(
        "! ", fmt::format("{} is faster than all that was measured here in these, which "
                          "is a fault of ours{}:",
                          name, c.winograds > 0 ? ", but for Winograds: they are less exact" : ""));
    out += compared_table(c.faster, limit - limit / 2) + '\n';
  }
  out += waterfall(c);
  if (!c.profiled())
    return out +
           wrapped("- ", fmt::format("There is no profile of {}: which operators are slow "
                                     "cannot be said.",
                                     name)) +
           warning_lines(*c.from, limit);
  if (blurred.empty() && !cost.empty()) out += wrapped("- ", cost + ".");
  if (const auto fewer = std::count_if(c.operators.begin(), c.operators.end(),
                                       [](const auto& o) { return o.fewer; });
      fewer > 0)
    out += wrapped("- ", fmt::format("At {} it computes fewer points than the model has: it runs "
                                     "an equivalent graph.",
                                     counted(fewer, "operator")));
  if (c.from->overlapping == false && c.from->operators.size() > 1)
    out += wrapped("- ", "Its operators ran one after the other: no branches side by side.");
  if (c.from->overlapping == true)
    out += wrapped("! ", "Operators ran at the same time: their times overlap, and no sum of them "
                         "is a time of the model.");
  out += '\n';
  if (c.slower.empty())
    out += wrapped("- ", "No operator is slower, beyond noise, than the best kernel for its work.");
  else
    out += compared_table(c.slower, limit);
  return out + added_lines(c) + match_line(c) + warning_lines(*c.from, limit);
}

} // namespace benanza::report
