// SPDX-License-Identifier: Apache-2.0
#include "junit.hpp"

#include "../report/escape.hpp"
#include "../report/units.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

namespace {
std::string row_message(const compare::row& r) {
  return fmt::format("{}: {} to {}, {} {}", compare::name(r.says), show_time(r.of.before_ns),
                     show_time(r.of.after_ns), signed_percent(r.of.change), interval_text(r.of));
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
