// SPDX-License-Identifier: Apache-2.0
// Do the statistics of a model add up, and can a terminal show them whatever the model's names are?
#include "generator/stats.hpp"

#include <analyzer/report/tables/formats.hpp>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

using namespace benanza;

namespace {
model::graph small() {
  model::graph g;
  g.name = "small@batch=2";
  g.model = "small";
  g.batch = 2;
  g.parameters = 256;
  g.parameter_bytes = 1024;
  g.folded = 3;
  g.repairs = {"Reshape 'r': the target 1x8 became 2x8"};
  g.layers = {op::parse("Conv/2x4x8x8-8x3x3-s1-p1"), op::parse("Relu/2x8x8x8"),
              op::parse("Reshape/2x8x8x8-2x512")};
  g.nodes = {
      {.name = "conv", .op = "Conv", .layer = 0, .inputs = {}, .problem = {}},
      {.name = "relu", .op = "Relu", .layer = 1, .inputs = {0}, .problem = {}},
      {.name = "relu2", .op = "Relu", .layer = 1, .inputs = {1}, .problem = {}},
      {.name = "r", .op = "Reshape", .layer = 2, .inputs = {2}, .problem = {}},
      {.name = "lstm\x1b[31m\n", .op = "LSTM", .inputs = {3}, .problem = "no kind of layer"}};
  return g;
}

std::string page_of(const model::graph& g) {
  return report::tables::text_of(generator::stats_answer({&g, 1}));
}

nlohmann::json fields_of(const model::graph& g) {
  return nlohmann::json::parse(report::tables::json_of(generator::stats_answer({&g, 1})))
      .at("models")
      .at(0);
}

/// The table of that name as CSV.
std::string rows_of(const model::graph& g, std::string_view name) {
  for (const auto& [its, text] : report::tables::csv_of(generator::stats_answer({&g, 1})))
    if (its == name) return text;
  return {};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST_CASE("totals are the sums of the layers") {
  const auto j = fields_of(small());
  CHECK(j.at("nodes") == 5);
  CHECK(j.at("measured") == 3);
  CHECK(j.at("unique") == 2);
  CHECK(j.at("views") == 1);
  CHECK(j.at("unresolved") == 1);
  CHECK(j.at("folded") == 3);
  CHECK(j.at("macs") == 2 * 8 * 64 * 4 * 9);
  CHECK(j.at("flops") == 2 * 2 * 8 * 64 * 4 * 9 + 2 * 1024);
  CHECK(j.at("parameters") == 256);
  CHECK(j.at("activation_bytes") == 3 * 1024 * 4);
  CHECK(j.at("bytes") == 4 * (512 + 288 + 1024) + 2 * 4 * 2048);
  std::int64_t macs = 0, bytes = 0;
  for (const auto& l : j.at("layers")) {
    macs += l.at("macs").is_null() ? 0 : l.at("macs").get<std::int64_t>();
    bytes += l.at("bytes").is_null() ? 0 : l.at("bytes").get<std::int64_t>();
  }
  CHECK(j.at("macs") == macs);
  CHECK(j.at("bytes") == bytes);
}

TEST_CASE("totals of layers that no machine runs stop at what 64 bits hold") {
  model::graph g = small();
  g.layers[1] = op::parse("Relu/1099511627776x65536");
  g.nodes.clear();
  for (int i = 0; i < 200; ++i)
    g.nodes.push_back({.name = "r", .op = "Relu", .layer = 1, .inputs = {}, .problem = {}});
  const auto j = fields_of(g);
  CHECK(j.at("bytes") == std::numeric_limits<std::int64_t>::max());
  CHECK(j.at("flops") == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a layer's row says what it is") {
  const auto j = fields_of(small());
  const auto& conv = j.at("layers").at(0);
  CHECK(conv.at("key") == "2x4x8x8-8x3x3-s1-p1");
  CHECK(conv.at("output") == "2x8x8x8");
  CHECK(conv.at("parameters") == 288);
  CHECK(j.at("layers").at(3).at("view") == true);
  CHECK(j.at("layers").at(4).at("problem") == "no kind of layer");
  CHECK(j.at("layers").at(4).at("inputs") == std::vector<std::string>{"3"});
  CHECK(j.at("operators").at(2).at("op") == "Relu");
  CHECK(j.at("operators").at(2).at("count") == 2);
  CHECK(j.at("repairs").size() == 1);
}

TEST_CASE("weights in codes are parameters of their layers") {
  model::graph g;
  const std::pair<const char*, int> layers[] = {
      {"MatMulNBits/1x1x100-n70-k16-z-b", 7070},  {"MatMulNBits/1x4x100-n70-k16-b-e3", 21210},
      {"MatMulGgml/1x1x256-n70-q4_k", 17920},     {"QLinearConv/1x8x4x4-6x1x1-s1-b-u8s8u8-pc", 54},
      {"QGemm/1x10x20-tb-c1x10-w-u8s8real", 210}, {"QLinearMatMul/4x8-8x4-w-u8s8u8", 32},
      {"QLinearMatMul/4x8-8x4-u8s8u8", 0}};
  for (const auto& [layer, weights] : layers) {
    g.layers.push_back(op::parse(layer));
    g.nodes.push_back({.layer = static_cast<int>(g.nodes.size())});
  }
  const auto rows = fields_of(g).at("layers");
  for (std::size_t i = 0; i < std::size(layers); ++i)
    CHECK_MESSAGE(rows.at(i).at("parameters") == layers[i].second, layers[i].first);
}

TEST_CASE("the page says all, and hostile names do not reach a terminal") {
  model::graph g = small();
  g.nodes[0].name = "/features/features.15/block/block.2/fc1/Conv";
  g.nodes[4].problem = std::string(2000, 'p');
  g.nodes[4].op = std::string(1'000'000, 'o');
  const std::string page = page_of(g);
  CHECK(contains(page, "small@batch=2, f32"));
  CHECK(contains(page, "\n/features/features.15/block/block.2/fc1/Conv\n"));
  CHECK(contains(page, "2x8x8x8  36.9 k     288  7.12 KiB  2x4x8x8-8x3x3-s1-p1\n"));
  CHECK(contains(page, "not resolved: ppp"));
  CHECK(contains(page, "5 layers: 3 measured (2 unique), 1 views"));
  CHECK(contains(page, "1 not resolved"));
  CHECK(contains(page, "changed: Reshape 'r'"));
  CHECK(page.size() < 10'000);
  CHECK(std::none_of(page.begin(), page.end(), [](char c) {
    return c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
  }));
}

TEST_CASE("a table has a line a layer, in quotes where it must") {
  model::graph g = small();
  g.nodes[1].name = "a \"name\", quoted\n";
  const std::string table = rows_of(g, "layers");
  CHECK(std::count(table.begin(), table.end(), '\n') == 6);
  CHECK(contains(table, R"(
"small",2,"f32","conv","Conv","Conv",0,"2x8x8x8",36864,73728,288,7296,"2x4x8x8-8x3x3-s1-p1","",
)"));
  CHECK(contains(table, "\n\"small\",2,\"f32\",\"a \"\"name\"\", quoted?\",\"Relu\",\"Relu\","));
  CHECK(contains(table, R"(,"Reshape",1,"2x512",0,0,0,0,"2x8x8x8-2x512","2",
)"));
  CHECK(contains(table, R"(
"small",2,"f32","lstm?[31m?","LSTM",,,,,,,,,"3","no kind of layer"
)"));
}

TEST_CASE("notes: said once of all variants of a model, a screen of them at most") {
  std::vector<model::graph> all(2, small());
  all[1].name = "small@batch=8";
  CHECK(generator::unresolved_notes(all) ==
        std::vector<std::string>{"small: LSTM x1 not resolved: no kind of layer"});
  all[1].nodes[4].problem = "another one";
  CHECK(generator::unresolved_notes(all) ==
        std::vector<std::string>{"small@batch=2: LSTM x1 not resolved: no kind of layer",
                                 "small@batch=8: LSTM x1 not resolved: another one"});
  CHECK(generator::unresolved_notes({&all[0], 1}).front().starts_with("small@batch=2: "));
  all[0].repairs = {"a\nforged line", "b"};
  CHECK(generator::repair_notes(all) ==
        std::vector<std::string>{"small@batch=2: a?forged line", "small@batch=2: b",
                                 "small@batch=8: Reshape 'r': the target 1x8 became 2x8"});
}

TEST_CASE("an empty model has a page too") {
  CHECK(contains(page_of({}), "0 layers"));
  CHECK(fields_of({}).at("macs") == 0);
}
