// SPDX-License-Identifier: Apache-2.0
// Do the statistics of a model add up, and can a terminal show them whatever the model's names are?
#include "generator/stats.hpp"

#include <doctest/doctest.h>

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

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST_CASE("totals are the sums of the layers") {
  const auto j = generator::stats_json(small());
  const auto& t = j.at("totals");
  CHECK(t.at("layers") == 5);
  CHECK(t.at("measured") == 3);
  CHECK(t.at("unique") == 2);
  CHECK(t.at("views") == 1);
  CHECK(t.at("unresolved") == 1);
  CHECK(t.at("folded") == 3);
  CHECK(t.at("macs") == 2 * 8 * 64 * 4 * 9);
  CHECK(t.at("flops") == 2 * 2 * 8 * 64 * 4 * 9 + 2 * 1024);
  CHECK(t.at("parameters") == 256);
  CHECK(t.at("activation_bytes") == 3 * 1024 * 4);
  CHECK(t.at("bytes") == 4 * (512 + 288 + 1024) + 2 * 4 * 2048);
  std::int64_t macs = 0, bytes = 0;
  for (const auto& l : j.at("layers")) {
    macs += l.value("macs", std::int64_t{0});
    bytes += l.value("bytes", std::int64_t{0});
  }
  CHECK(t.at("macs") == macs);
  CHECK(t.at("bytes") == bytes);
}

TEST_CASE("totals of layers that no machine runs stop at what 64 bits hold") {
  model::graph g = small();
  g.layers[1] = op::parse("Relu/1099511627776x65536");
  g.nodes.clear();
  for (int i = 0; i < 200; ++i)
    g.nodes.push_back({.name = "r", .op = "Relu", .layer = 1, .inputs = {}, .problem = {}});
  const auto j = generator::stats_json(g);
  CHECK(j.at("totals").at("bytes") == std::numeric_limits<std::int64_t>::max());
  CHECK(j.at("totals").at("flops") == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("a layer's row says what it is") {
  const auto j = generator::stats_json(small());
  const auto& conv = j.at("layers").at(0);
  CHECK(conv.at("key") == "2x4x8x8-8x3x3-s1-p1");
  CHECK(conv.at("output") == std::vector<std::int64_t>{2, 8, 8, 8});
  CHECK(conv.at("parameters") == 288);
  CHECK(j.at("layers").at(3).at("view") == true);
  CHECK(j.at("layers").at(4).at("problem") == "no kind of layer");
  CHECK(j.at("layers").at(4).at("inputs") == std::vector<int>{3});
  CHECK(j.at("operators").at("Relu") == 2);
  CHECK(j.at("unresolved").at(0).at("op") == "LSTM");
  CHECK(j.at("repairs").size() == 1);
}

TEST_CASE("the page fits a terminal, and hostile names do not reach it") {
  model::graph g = small();
  g.nodes[0].name = std::string(300, 'n');
  g.nodes[4].problem = std::string(300, 'p');
  g.nodes[4].op = std::string(300, 'o');
  const std::string page = generator::stats_text(g);
  CHECK(contains(page, "small@batch=2, f32"));
  CHECK(contains(page, "2x8x8x8"));
  CHECK(contains(page, "5 layers: 3 measured (2 unique), 1 views"));
  CHECK(contains(page, "1 not resolved"));
  CHECK(contains(page, "changed: Reshape 'r'"));
  std::size_t start = 0, longest = 0;
  for (std::size_t end; (end = page.find('\n', start)) != std::string::npos; start = end + 1)
    longest = std::max(longest, end - start);
  CHECK(longest <= 130);
  CHECK(std::none_of(page.begin(), page.end(), [](char c) {
    return c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
  }));
}

TEST_CASE("names are cut where they do not differ, or not at all") {
  model::graph g = small();
  g.nodes[0].name = "/features/features.15/block/block.2/fc1/Conv";
  g.nodes[1].name = "/features/features.15/block/block.2/fc2/Conv";
  g.nodes[2].name = "/features/\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9/Relu";
  const std::string page = generator::stats_text(g), wide = generator::stats_text(g, true);
  CHECK(contains(page, "\n/featu..block.2/fc1/Conv "));
  CHECK(contains(page, "\n/featu..block.2/fc2/Conv "));
  CHECK(printable(page, page.size()).find("?\u00e9") == std::string::npos); // no half of one
  CHECK(contains(wide, "\n" + g.nodes[0].name + " Conv "));
  g.nodes[0].name = std::string(1'000'000, 'n');
  CHECK(generator::stats_text(g, true).size() < 5000);
}

TEST_CASE("a table has a line a layer, in quotes where it must") {
  model::graph g = small();
  g.nodes[1].name = "a \"name\", quoted\n";
  const std::string table = generator::stats_csv({&g, 1});
  CHECK(std::count(table.begin(), table.end(), '\n') == 6);
  CHECK(contains(table,
                 "\nsmall,2,f32,conv,Conv,Conv,2x4x8x8-8x3x3-s1-p1,false,2x8x8x8,36864,73728,"
                 "288,7296,,\n"));
  CHECK(contains(table, "\nsmall,2,f32,\"a \"\"name\"\", quoted?\",Relu,Relu,"));
  CHECK(contains(table, ",Reshape,2x8x8x8-2x512,true,2x512,0,0,0,0,2,\n"));
  CHECK(contains(table, "\nsmall,2,f32,lstm?[31m?,LSTM,,,,,,,,,3,no kind of layer\n"));
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

TEST_CASE("numbers are short, with the right prefix") {
  using generator::detail::short_number;
  CHECK(short_number(0) == "0");
  CHECK(short_number(999) == "999");
  CHECK(short_number(1000) == "1.00k");
  CHECK(short_number(999499) == "999k");
  CHECK(short_number(999500) == "1.00M");
  CHECK(short_number(25557032) == "25.6M");
  CHECK(short_number(INT64_MAX) == "9.22E");
}

TEST_CASE("an empty model has a page too") {
  CHECK(contains(generator::stats_text({}), "0 layers"));
  CHECK(generator::stats_json({}).at("totals").at("macs") == 0);
}
