// SPDX-License-Identifier: Apache-2.0
// Does half a result never look whole? Whatever cases are taken from one, or were interrupted, its
// pages say the same figures, or in every format that they are partial, with the command for the
// rest.
#include "analyzer/html/html.hpp"
#include "analyzer/report/csv.hpp"
#include "analyzer/report/document.hpp"
#include "analyzer/report/junit.hpp"
#include "analyzer/report/warnings.hpp"
#include "pages.hpp"

#include <benanza/result/merge.hpp>
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace test_of_partial {
using namespace pages;
using namespace benanza;

/// A result that says what it set out to measure, with cases of the machine.
run planned_run() {
  run r = synthetic::fused_run();
  for (int i = 0; i < 3; ++i) {
    measurement m = r.measurements.front();
    m.family = "machine";
    m.key = "call";
    m.algorithm = "way" + std::to_string(i);
    m.name = "machine/call/f32/onednn/" + m.algorithm + "/hot/t1";
    r.measurements.push_back(std::move(m));
  }
  result::planned_cases all;
  for (const measurement& m : r.measurements)
    ++all[result::setting_name(m.name)];
  r.provenance["measuring"][result::planned_fact] = result::planned_text(all);
  return r;
}

struct pages_of {
  bool partial = false;
  std::vector<double> figures{};
  std::map<std::string, std::string> text{};
};

pages_of report_of(run half, const bound::limits* machine = nullptr) {
  const run r = result::merge({std::move(half)});
  const bound::source s = machine == nullptr ? bound::source(r) : bound::source(r, *machine);
  const std::vector<model_bound> models{bound::analyse(s, r.graphs[0], {numeric::f32, 1})};
  const std::vector<report::limit> limits{report::limit("failed<1"), report::limit("bound<1s"),
                                          report::limit("coverage>=0")};
  const auto advised = advice::advise_all(s, models, {});
  const report::input in{.run = r,
                         .models = models,
                         .advised = advised,
                         .options = {},
                         .lacking = report::lacks(models[0]),
                         .limits = report::hold_to(limits, advised)};
  report::input detailed = in;
  detailed.options.details = true;
  pages_of out{.partial = models[0].partial()};
  const bound::form_figures& f = models[0].fastest_form();
  for (const auto& part : {f.bound, f.prediction, f.roofline})
    out.figures.insert(out.figures.end(), {part.sequential.ns, part.parallel.ns});
  out.figures.push_back(report::expected_ns(models[0]));
  out.text = {{"text", report::text_report(in)},   {"details", report::text_report(detailed)},
              {"md", report::markdown_report(in)}, {"latex", report::latex_report(in)},
              {"csv", report::csv_report(in)},     {"junit", report::junit_report(in)},
              {"json", report::json_report(in)},   {"html", report::html::page_json({in}).dump()}};
  return out;
}

void check(const pages_of& whole, const pages_of& half) {
  if (!half.partial) {
    CHECK(half.figures == whole.figures);
    return;
  }
  for (const auto& page : half.text) {
    const std::string &format = page.first, &text = page.second; // clang 14 captures no bindings
    CAPTURE(format);
    CAPTURE(text);
    CHECK((holds(text, "PARTIAL") || holds(text, "partial") || holds(text, "skipped") ||
           format == "html"));
    CHECK(holds(text, "not measured"));
    CHECK(holds(text, "missing.json"));
    CHECK_FALSE(holds(text, "of the bound is measured"));
    CHECK_FALSE(holds(text, "items/s)"));
  }
  CHECK_FALSE(holds(half.text.at("text"), "/s  ["));
  const json j = json::parse(half.text.at("json"));
  CHECK(j["status"] == "partial");
  CHECK(j["analyses"][0]["partial"] == true);
  CHECK(j["analyses"][0]["bound_rate"].is_null());
  for (const json& i : j["analyses"][0]["advice"]["items"])
    CHECK(i["share_of_run"].is_null());
  for (const json& l : j["limits"])
    CHECK(l["is"] != "kept");
}

TEST_CASE("half a result says so in every format, or has the same figures") {
  const run full = planned_run();
  const pages_of whole = report_of(full);
  REQUIRE_FALSE(whole.partial);
  CHECK(holds(whole.text.at("text"), "of the bound is measured"));
  CHECK_FALSE(holds(whole.text.at("text"), "PARTIAL"));
  synthetic::random dice{2026};
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    run half = full;
    const int how = round % 3, odds = 1 + dice.below(30);
    std::vector<measurement> kept;
    bool any = false;
    for (measurement& m : half.measurements) {
      const bool hit = how == 2 ? any || dice.below(30) == 0 : dice.below(odds + 1) == 0;
      any = any || hit;
      if (hit && how == 1) m.error = result::stopped;
      if (!hit || how == 1) kept.push_back(std::move(m));
    }
    half.measurements = std::move(kept);
    const pages_of found = report_of(half);
    check(whole, found);
    if (any) CHECK(found.partial); // all of these cases count
  }
}

TEST_CASE("a model of which nothing was measured has no figures and no advice in any format") {
  run r = planned_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.family != "machine"; });
  const bound::limits machine{[](const auto&, numeric, int, std::int64_t) {
    return std::optional(bound::roof{.ns = 777e3});
  }};
  const pages_of found = report_of(r, &machine);
  CHECK(found.partial);
  CHECK(holds(found.text.at("text"), "PARTIAL     6 of 6 nodes have no time"));
  for (const auto& page : found.text) {
    const std::string &format = page.first, &text = page.second;
    CAPTURE(format);
    CAPTURE(text);
    if (format != "html" && format != "json") CHECK_FALSE(holds(text, "777"));
    for (const char* said : {"expected run", "Nothing to change", "lower bound", "is modelled"})
      CHECK_FALSE(holds(text, said));
    CHECK(holds(text, "missing.json"));
  }
  const json one = json::parse(found.text.at("json"))["analyses"][0];
  for (const char* figure : {"lower_bound", "bound", "prediction", "expected"})
    CHECK(one[figure].is_null());
  CHECK(one["advice"]["items"].empty());
}

TEST_CASE("the run that changes are about is the first row, and doubts are in every format") {
  run r = synthetic::fused_run();
  const bound::source s(r);
  std::vector<model_bound> models{bound::analyse(s, r.graphs[0], {numeric::f32, 1})};
  models[0].faults.push_back({"the prediction lies below the bound", "Conv/8"});
  const auto advised = advice::advise_all(s, models, {});
  const report::input in{.run = r, .models = models, .advised = advised};
  const std::string text = report::text_report(in);
  CHECK(text.find("by libraries' first choices") < text.find("expected run"));
  const std::string told = "the prediction lies below the bound: Conv/8";
  CHECK(holds(report::markdown_report(in), "the prediction lies below the bound"));
  CHECK(holds(report::latex_report(in), "the prediction lies below the bound"));
  CHECK(holds(report::html::page_json({in}).dump(), told));
  CHECK(json::parse(report::json_report(in))["analyses"][0]["doubts"][0] == told);
  CHECK(holds(report::csv_report(in), told));
  CHECK(holds(report::junit_report(in), told));
}

TEST_CASE(
    "figures that were disturbed have no rate and no share, and are not sure, in any format") {
  run r = planned_run();
  const bound::source s(r);
  std::vector<model_bound> models{bound::analyse(s, r.graphs[0], {numeric::f32, 1})};
  models[0].unmeasurable = "others ran here";
  const auto advised = advice::advise_all(s, models, {});
  REQUIRE_FALSE(advised[0].list.items.empty());
  const report::input in{.run = r, .models = models, .advised = advised};
  report::input full = in;
  full.options.advice = true;
  for (const std::string& text : {report::text_report(in), report::text_report(full)}) {
    CHECK(holds(text, "NO VERDICT  others ran here."));
    CHECK(holds(text, "Sure?  No: it was disturbed while measured"));
    for (const char* rate : {"/s  [", "/s  layers", "/s  roofline", "of a run)"})
      CHECK_FALSE(holds(text, rate));
    CHECK_FALSE(holds(text, "of the bound is measured"));
  }
  const json one = json::parse(report::json_report(in))["analyses"][0];
  CHECK(one["bound_rate"].is_null());
  CHECK(one["expected_rate"].is_null());
  CHECK(one["advice"]["items"][0]["share_of_run"].is_null());
  const std::string html = report::html::page_json({in}).dump();
  CHECK(holds(html, "\"sure\":false"));
  CHECK(holds(report::csv_report(in), ",doubts\n"));
  CHECK(holds(report::csv_report(in), "\"no verdict: others ran here\"\n"));
  CHECK(holds(report::junit_report(in), "name=\"nothing is doubtful\">\n      <skipped "
                                        "message=\"no verdict: others ran here\"/>"));
}

TEST_CASE("a wrong result and a case that was given up are answers, a crash is none") {
  for (const auto& [error, answer] :
       {std::pair("wrong result: 1 in place of 2", true),
        std::pair("took longer than the limit of 10 s", true), std::pair("out of memory", false)}) {
    run r = planned_run();
    for (measurement& m : r.measurements)
      if (m.algorithm == "gemm:jit") m.error = error;
    CHECK(report_of(r).partial == !answer);
  }
}

TEST_CASE("the rest, added, makes a whole page again") {
  run a = planned_run(), b = planned_run();
  std::size_t i = 0;
  for (measurement& m : a.measurements)
    if (i++ % 2 == 0) m.error = result::stopped;
  i = 0;
  std::erase_if(b.measurements, [&](const measurement&) { return i++ % 2 != 0; });
  CHECK(report_of(a).partial);
  CHECK(report_of(b).partial);
  const pages_of both = report_of(result::merge({a, b}));
  CHECK_FALSE(both.partial);
  CHECK(both.figures == report_of(planned_run()).figures);
}

} // namespace test_of_partial
