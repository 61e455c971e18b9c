// SPDX-License-Identifier: Apache-2.0
#include "marked.hpp"

#include "../escape.hpp"
#include "../units.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace benanza::report {

namespace {
/// What a row is about, in one line.
std::string row_title(const compare::row& r) {
  std::string out = r.subject + ' ' + r.type + on_threads(r);
  if (!r.algorithm.empty()) out += ' ' + r.algorithm;
  return out + ", " + r.what;
}

std::string row_message(const compare::row& r) {
  return fmt::format("{}: {} to {}, {} {}", compare::name(r.says), show_time(r.of.before_ns),
                     show_time(r.of.after_ns), signed_percent(r.of.change), interval_text(r.of));
}

std::string markdown_rows(std::string_view title, const std::vector<compare::row>& rows,
                          std::size_t most, bool all) {
  std::string out = fmt::format("\n### {}\n\n{}\n\n", title, counts_text(rows));
  std::size_t shown = 0, left = 0;
  for (const compare::row& r : rows) {
    if (!all && r.says == compare::verdict::same) continue;
    if (shown == most) {
      ++left;
      continue;
    }
    if (shown++ == 0)
      out += "| | old | new | change | 95 % sure | of the model | verdict |\n"
             "|---|--:|--:|--:|---|--:|---|\n";
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", escape::markdown(row_title(r)),
                       show_time(r.of.before_ns), show_time(r.of.after_ns),
                       signed_percent(r.of.change), escape::markdown(interval_text(r.of)),
                       r.effect_share != 0 ? signed_percent(r.effect_share) : "",
                       compare::name(r.says));
  }
  if (left != 0) out += fmt::format("\nand {} more\n", left);
  return out;
}

std::string compared_suite(std::string_view kind, const std::vector<compare::row>& rows) {
  std::string out =
      fmt::format("  <testsuite name=\"benanza {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
                  "skipped=\"{}\">\n",
                  kind, rows.size(), comparison::count(rows, compare::verdict::slower),
                  comparison::count(rows, compare::verdict::unsure));
  for (const compare::row& r : rows) {
    out += fmt::format("    <testcase classname=\"benanza.{}\" name=\"{}\" time=\"{:.9f}\"", kind,
                       escape::xml(row_title(r)), 1e-9 * r.of.after_ns);
    const std::string message = escape::xml(row_message(r));
    if (r.says == compare::verdict::slower)
      out += fmt::format("><failure message=\"{}\"/></testcase>\n", message);
    else if (r.says == compare::verdict::unsure)
      out += fmt::format("><skipped message=\"{}\"/></testcase>\n", message);
    else
      out += "/>\n";
  }
  return out + "  </testsuite>\n";
}
} // namespace

std::string comparison_markdown(const compare::comparison& c, std::size_t most) {
  const auto side = [](std::string_view which, const compare::side_facts& s) {
    return fmt::format("- {}: {}, {}, {}\n", which, escape::markdown(s.source),
                       counted(static_cast<std::int64_t>(s.visits), "visit"),
                       escape::markdown(s.cpu + ", " + s.software + ", " + s.dates));
  };
  std::string out = "## " + verdict_line(c) + "\n\n" + side("old", c.before) + side("new", c.after);
  out += markdown_rows("Models", c.models, most, true);
  out += markdown_rows("Kernels", c.kernels, most, false);
  out += markdown_rows("Layers", c.layers, most, false);
  out += markdown_rows("Algorithms", c.algorithms, most, false);
  if (!c.facts.empty()) {
    out += "\n### What differs besides\n\n| | old | new | layers that it can explain |\n"
           "|---|---|---|--:|\n";
    for (const compare::fact_change& f : c.facts)
      out += fmt::format("| {} | {} | {} | {} |\n", escape::markdown(f.fact),
                         escape::markdown(f.before), escape::markdown(f.after), c.explained(f));
  }
  return out;
}

std::string comparison_junit(const compare::comparison& c) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"benanza "
                    "compare\">\n  <properties>\n";
  for (const compare::fact_change& f : c.facts)
    out += fmt::format("    <property name=\"{}\" value=\"{} -&gt; {}\"/>\n", escape::xml(f.fact),
                       escape::xml(f.before), escape::xml(f.after));
  out += "  </properties>\n";
  out += compared_suite("models", c.models) + compared_suite("kernels", c.kernels) +
         compared_suite("layers", c.layers) + compared_suite("algorithms", c.algorithms);
  return out + "</testsuites>\n";
}

} // namespace benanza::report
