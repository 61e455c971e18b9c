// SPDX-License-Identifier: Apache-2.0
// Is a layer counted as new in the year of the first model that has it?
#include "generator/years.hpp"

#include <analyzer/report/tables/formats.hpp>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace test_of_years {
using namespace benanza;

model::graph of(const std::string& model, const std::vector<std::string>& layers) {
  model::graph g{.name = model + "@batch=1", .model = model};
  for (const std::string& l : layers) {
    g.nodes.push_back({.name = "n",
                       .op = "any",
                       .layer = static_cast<int>(g.layers.size()),
                       .inputs = {},
                       .problem = {}});
    g.layers.push_back(op::parse(l));
  }
  return g;
}

TEST_CASE("a layer is new in the year of the first model that has it") {
  const std::vector<model::graph> graphs{
      of("resnet50-v2", {"Relu/1x8", "Tanh/1x8"}), // 2016
      of("mine", {"Sigmoid/1x9"}),                 // year not known
      of("resnet18-v1", {"Relu/1x8", "Relu/1x8", "Sigmoid/1x8", "Reshape/2x8-16"}),
      of("resnet34-v1", {"Relu/1x8", "Relu/1x9"}), // 2015, both
  };
  namespace tables = report::tables;
  const tables::chapter answer = generator::years_answer(graphs);
  REQUIRE(tables::csv_of(answer).size() == 1);
  CHECK(tables::csv_of(answer)[0].second == R"("year","models","layers","unique","new","so_far"
2015,2,5,3,3,3
2016,1,2,2,1,4
)");
  const auto j = nlohmann::json::parse(tables::json_of(answer));
  CHECK(j["left_out"] == 1);
  CHECK(j["years"].size() == 2);
  CHECK(j["years"][1]["new"] == 1);
  const std::string text = tables::text_of(answer);
  CHECK(text.find("2016       1       2       2    1       4\n") != std::string::npos);
  CHECK(text.find("the zoo's models alone: 1 of 4\n") != std::string::npos);
}

} // namespace test_of_years
