// SPDX-License-Identifier: Apache-2.0
// Does the data of the page say what the report says, and can no text of a stranger become markup?
// What a browser makes of the page: tests/scripts/html_report.py.
#include "analyzer/html/html.hpp"
#include "analyzer/html/numbers.hpp"
#include "analyzer/report/layers.hpp"
#include "pages.hpp"

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

/// What the page makes of three letters (numberAt of packed.js).
double unpacked(const std::string& text) {
  std::size_t code = 0;
  for (char c : text)
    code = 64 * code + html::letters.find(c);
  if (code == 0) return 0;
  return static_cast<double>(1000 + (code - 1) % 9000) *
         std::pow(10.0, static_cast<double>((code - 1) / 9000) - 5);
}

TEST_CASE("three letters are a number of four digits, whose first three are right") {
  for (double v : {0.0123, 1.0, 9.9996, 1234.0, 8.0e9, 4.321e15})
    CHECK(unpacked(html::packed(v)) == doctest::Approx(v).epsilon(2e-4));
  CHECK(unpacked(html::packed(12.3479)) == doctest::Approx(12.34)); // 12.35 could be shown as 12.4
  CHECK(unpacked(html::packed(12.3521)) == doctest::Approx(12.36)); // and as 12.3
  CHECK(html::packed(0) == "000");
  CHECK(html::packed(std::nan("")) == "000");
  CHECK(html::packed(1e300).size() == 3);
}

TEST_CASE("dots keep the least and the largest sample, on a logarithmic scale") {
  CHECK(html::dots({400, 100, 200}, 100, 4) == "J0V- "); // (19 / 16)^2 is a bit above log(4)
  std::vector<double> many;
  for (int i = 1; i <= 1000; ++i)
    many.push_back(i);
  CHECK(html::dots(many, 1, 24).size() == 25);
  CHECK(html::dots({5, 5}, 5, 3) == "000 ");
  CHECK(html::dots({}, 5, 2) == "0  ");
}

TEST_CASE("the page's data are the figures, and its texts are in their places") {
  const run r = bent_run();
  const auto models = analyse(r);
  const benanza::bound::source source(r);
  const auto advised = benanza::advice::advise_all(source, models, {});
  const benanza::report::input in{.run = r, .models = models, .advised = advised};
  const auto data = html::page_json({in});
  REQUIRE(data["models"].size() == 1);
  const auto& m = data["models"][0];
  CHECK(m["figures"]["unfused"][0] == html::number(models[0].bound.sequential.ns));
  for (const auto& column : m["layers"])
    CHECK(column.size() == models[0].layers.size());
  double in_run = 0;
  for (const auto& ns : m["layers"][3])
    in_run += ns.get<double>();
  const auto in_text = benanza::report::layers_in_run(models[0]);
  CHECK(in_run == doctest::Approx(benanza::report::sum_of_run(models[0], in_text) -
                                  (m["changes"].is_null() ? 0 : m["changes"][1].get<double>()))
                      .epsilon(1e-3));
  for (const auto& column : m["graph"])
    CHECK(column.size() == r.graphs[0].nodes.size());
  CHECK(m["graph"]["layers"][5] == -1); // without a layer
  double left = m["steps"]["top"];
  for (const auto& step : m["steps"]["bars"]) {
    CHECK(left - step[2][0].get<double>() == doctest::Approx(step[3].get<double>()).epsilon(1e-3));
    left = step[3];
  }
  const auto& its = data["machines"][0];
  const auto& layer = its["layers"][m["layers"][0][0].get<std::size_t>()];
  CHECK(its["tables"][layer[0].get<std::size_t>()][0] == models[0].layers[0].name);
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
