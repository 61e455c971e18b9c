// SPDX-License-Identifier: Apache-2.0
#include "junit.hpp"

#include "escape.hpp"
#include "limits.hpp"
#include "screen.hpp"
#include "units.hpp"
#include "warnings.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace benanza::report {

namespace {
/// The cases of one model.
struct junit_suite {
  std::string cases{};
  std::size_t tests = 0, failures = 0, skipped = 0;

  void add(const std::string& suite, const std::string& name, std::string_view kind,
           const std::string& said) {
    ++tests;
    (kind == "failure" ? failures : skipped) += kind.empty() ? 0 : 1;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escape::xml(suite),
                         escape::xml(name));
    if (kind.empty())
      cases +=
          fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", escape::xml(said));
    else
      cases +=
          fmt::format(">\n      <{} message=\"{}\"/>\n    </testcase>\n", kind, escape::xml(said));
  }
};

junit_suite junit_suite_of(const bound::model_bound& b, const std::string& suite, const input& in) {
  junit_suite out;
  const std::string lacking = lacks(b);
  out.add(suite, "everything is measured", lacking.empty() ? "" : "skipped",
          lacking.empty()             ? percent(b.covered.measured()) + " of the bound"
          : b.missing_command.empty() ? lacking
                                      : lacking + "; this measures the rest: " + missing_line(b));
  const std::vector<std::string> doubts = doubts_of(in, b);
  out.add(suite, "nothing is doubtful", doubts.empty() ? "" : "skipped",
          doubts.empty() ? "no figure contradicts another"
                         : fmt::format("{}", fmt::join(doubts, "; ")));
  for (const limit_answer& a : in.limits) {
    if (a.model != b.graph->name || a.type != name(b.type) || a.threads != b.threads) continue;
    std::string said = a.figure + ": " + (a.shown.empty() ? "none" : a.shown);
    if (!a.why.empty()) said += ", " + a.why;
    out.add(suite, a.figure.find(" of ") == std::string::npos ? a.limit : a.limit + ", " + a.figure,
            a.is == kept::no       ? "failure"
            : a.is == kept::unsure ? "skipped"
                                   : "",
            said);
  }
  return out;
}
} // namespace

std::string junit_report(const input& in) {
  std::string suites;
  std::size_t tests = 0, failures = 0, skipped = 0;
  for (const bound::model_bound& b : in.models) {
    const std::string title =
        fmt::format("{} {} {}", b.graph->name, name(b.type), counted(b.threads, "thread"));
    const junit_suite s = junit_suite_of(b, title, in);
    tests += s.tests;
    failures += s.failures;
    skipped += s.skipped;
    suites += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
                          "skipped=\"{}\">\n{}  </testsuite>\n",
                          escape::xml(title), s.tests, s.failures, s.skipped, s.cases);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"benanza\" "
                     "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}</testsuites>\n",
                     tests, failures, skipped, suites);
}

} // namespace benanza::report
