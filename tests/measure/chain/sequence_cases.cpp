// SPDX-License-Identifier: Apache-2.0
// Which cases do sequences have, and what becomes of one that nothing runs?
#include "planned.hpp"

#include <benanza/measure/chain/sequence_cases.hpp>
#include <benanza/result/writer.hpp>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

namespace {
std::vector<model::graph> sequences_of(const model::graph& g,
                                       const std::vector<std::vector<int>>& all) {
  std::vector<model::graph> out{g};
  for (const std::vector<int>& nodes : all)
    out.push_back(model::sequence_of(g, nodes));
  return out;
}
const auto by_first = [](int) { return named_choices{}; };
} // namespace

TEST_CASE("a sequence is a case in one cache state or those asked for, and views have none") {
  const library_list libraries = real_libraries();
  const auto graphs = sequences_of(graph_of(residual), {{0, 1}, {2}, {8}, {0}});
  selection s;
  s.llc_bytes = 1 << 20;
  const auto groups = sequence_groups(graphs, libraries, s, by_first);
  REQUIRE(groups.size() == 3);
  CHECK(groups[2].what->read_in_order); // a ReLU is behind it
  const group& pair = groups[0];
  CHECK(pair.what->family == "sequence");
  CHECK("sequence/" + pair.what->key == graphs[1].name);
  CHECK_FALSE(pair.what->read_in_order);
  REQUIRE(pair.cases.size() == 1);
  CHECK(pair.cases[0].name == graphs[1].name + "/f32/chain/first/coldw/t1");
  CHECK(pair.what->flops ==
        op::cost(graphs[0].layers[0]).flops() + op::cost(graphs[0].layers[1]).flops());

  s.states = {"hot", "llcw", "coldw", "cold"};
  s.states_given = true;
  CHECK(sequence_groups(graphs, libraries, s, by_first)[1].cases.size() == 4);
  s.filter = graphs[2].name + "/.*/hot";
  const auto one = sequence_groups(graphs, libraries, s, by_first);
  REQUIRE(one.size() == 1);
  CHECK(one[0].cases.size() == 1);
}

TEST_CASE("a long sequence is measured hot, and one that nothing runs is a row") {
  const library_list libraries = real_libraries();
  std::vector<std::pair<std::string, std::string>> rows{{"Relu/1x8", "i"}};
  for (int i = 0; i < 20; ++i)
    rows.emplace_back(i % 2 == 0 ? "Tanh/1x8" : "Relu/1x8", std::to_string(i));
  const model::graph g = graph_of(rows);
  std::vector<int> all(g.nodes.size());
  std::iota(all.begin(), all.end(), 0);
  selection s;
  s.llc_bytes = 1 << 20;
  auto groups = sequence_groups(sequences_of(g, {all}), libraries, s, by_first);
  REQUIRE(groups.size() == 1);
  REQUIRE(groups[0].cases.size() == 1);
  CHECK(groups[0].cases[0].state == "hot");
  CHECK(groups[0].what->time_share > 1);
  const ready_case ready = groups[0].what->ready(groups[0].cases[0]);
  CHECK(ready.run->time(1) > 0);

  s.types = {numeric::e4m3};
  std::vector<result::measurement> without;
  CHECK(sequence_groups(sequences_of(g, {{0}}), libraries, s, by_first, &without).empty());
  REQUIRE(without.size() == 1);
  CHECK(result::nothing_runs(without[0]));
  CHECK(without[0].error.find("Relu/1x8") != std::string::npos);
}

TEST_CASE("choices come from a plan or from the fastest rows of a result") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of(residual);
  const result::plan p = first_choice(libraries).plan(g, numeric::f32);
  const named_choices of_plan = choices_of(p);
  CHECK(of_plan.size() == 10); // eleven nodes, of which one is a view
  CHECK(of_plan.at({op::name(g.layers[0]), numeric::f32}).algorithm == p.steps[0].algorithm);

  result::run r;
  const auto row = [&](const char* algorithm, const char* state, double ns) {
    result::measurement m{.family = "Relu", .key = "1x8", .type = "f32", .backend = "onednn"};
    m.algorithm = algorithm;
    m.state = state;
    m.equivalence = "f32";
    m.result_layout = "plain";
    m.median_ns = ns;
    r.measurements.push_back(m);
  };
  row("a", "hot", 1);
  row("b", "coldw", 3);
  row("c", "coldw", 2);
  row("d", "llcw", 1);
  const named_choices best = choices_of(r, 1);
  REQUIRE(best.size() == 1);
  CHECK(best.at({"Relu/1x8", numeric::f32}) == named_choice{"onednn", "c"});
  CHECK(choices_of(r, 2).empty());
}
