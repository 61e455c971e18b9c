// SPDX-License-Identifier: Apache-2.0
// Does the data of the page say what the report says, and can no text of a stranger become markup?
// What a browser makes of the page: tests/scripts/html_report.py.
#include "pages.hpp"

#include <benanza/report/html.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace test_of_html {
using namespace pages;
namespace html = benanza::report::html;

const benanza::report::html_parts parts{
    .page = "<style>{{style}}</style><data>{{data}}</data>{{licence}}<lib>{{library}}|{{script}}",
    .style = "css",
    .script = "ours",
    .library = "d3",
    .licence = "BSD <them>"};

TEST_CASE("numbers have five significant digits") {
  CHECK(html::number(1234567.0) == 1234600);
  CHECK(html::number(0.123456789) == 0.12346);
  CHECK(html::number(2.0).dump() == "2");
  CHECK(html::number(std::nan("")) == 0);
  CHECK(html::number(0) == 0);
}

TEST_CASE("dots keep the least and the largest sample, on a logarithmic scale") {
  const html::dotted d = html::dots({400, 100, 200}, 24);
  CHECK(d.low_ns == 100);
  CHECK(d.high_ns == 400);
  CHECK(d.letters == "0W_"); // 0, 32 and 63 of 63
  std::vector<double> many;
  for (int i = 1; i <= 1000; ++i)
    many.push_back(i);
  CHECK(html::dots(many, 24).letters.size() == 24);
  CHECK(html::dots({5, 5}, 24).letters == "00");
  CHECK(html::dots({}, 24).letters.empty());
}

TEST_CASE("the page's data are the figures, and its texts stand in their places") {
  const run r = bent_run();
  const auto models = analyse(r);
  const benanza::bound::source source(r);
  const auto advised = benanza::advice::advise_all(source, models, {});
  const benanza::report::input in{.run = r, .models = models, .advised = advised};
  const auto data = html::page_json({in});
  REQUIRE(data["models"].size() == 1);
  const auto& m = data["models"][0];
  CHECK(m["figures"]["unfused"][0] == html::number(models[0].bound.sequential.ns));
  CHECK(m["layers"].size() == models[0].layers.size());
  CHECK(m["graph"].size() == r.graphs[0].nodes.size());
  CHECK(m["graph"][5][2] == -1); // without a layer
  double left = m["steps"]["top"];
  for (const auto& step : m["steps"]["bars"]) {
    CHECK(left - step[2][0].get<double>() == doctest::Approx(step[3].get<double>()).epsilon(1e-3));
    left = step[3];
  }
  const auto& tables = data["machines"][0]["tables"];
  const auto& table = tables[m["layers"][0][0].get<std::size_t>()];
  CHECK(table[0] == models[0].layers[0].name);
  const std::string page = benanza::report::html_report({in}, parts);
  CHECK(page.starts_with("<style>css</style><data>{"));
  CHECK(page.ends_with("</data>\"BSD \\u003cthem>\"<lib>d3|ours"));
}

TEST_CASE("names with markup are data without a single <") {
  run r = bent_run();
  r.graphs[0].name = "</script><b>\n\x1b[2J\xff";
  r.graphs[0].nodes[0].name = "<!--<script>";
  for (measurement& m : r.measurements)
    if (!m.disturbed.empty()) m.disturbed = "<i>";
  const auto models = analyse(r);
  const benanza::bound::source source(r);
  const auto advised = benanza::advice::advise_all(source, models, {});
  const std::string data =
      html::in_script(html::page_json({{.run = r, .models = models, .advised = advised}}));
  CHECK_FALSE(holds(data, "<"));
  CHECK(json::parse(data)["models"][0]["name"] == "</script><b>??[2J?");
}

TEST_CASE("a page without d3, or with a place missing, is refused") {
  CHECK_THROWS_WITH_AS(benanza::report::html_report({}, {.page = parts.page}),
                       doctest::Contains("node-d3"), benanza::error);
  CHECK_THROWS_AS(benanza::report::html_report({}, {.page = "{{data}}", .library = "d3"}),
                  benanza::error);
}
} // namespace test_of_html
