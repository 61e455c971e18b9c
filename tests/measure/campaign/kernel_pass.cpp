// SPDX-License-Identifier: Apache-2.0
// Of which cases does anybody want to know the kernels, and what does the process that looks
// answer?
#include "../fake_library.hpp"

#include <benanza/measure/campaign/kernel_look.hpp>
#include <benanza/measure/campaign/kernel_pass.hpp>
#include <benanza/measure/subjects/layer_subject.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace benanza;
using namespace benanza::measure;

namespace test_of_kernel_pass {
namespace {
class any_subject final : public subject {
  ready_case ready(const bench_case&) override { throw error("never asked"); }
};
struct made {
  std::string algorithm, state;
  double ns;
  std::string layout = "plain", error = "", device = "gpu", equivalence = "f32";
};

group group_of(const std::vector<made>& all, const std::string& family = "Conv") {
  group g{.what = std::make_shared<any_subject>()};
  for (const made& m : all) {
    bench_case c{.name = m.algorithm + '/' + m.state,
                 .backend = "cudnn",
                 .algorithm = {.id = m.algorithm},
                 .state = m.state};
    result::measurement r;
    r.family = family;
    r.state = m.state;
    r.device = m.device;
    r.equivalence = m.equivalence;
    r.operand_layouts = r.result_layout = m.layout;
    r.min_ns = m.ns;
    r.median_ns = m.state == "hot" ? 1e6 - m.ns : m.ns; // hot ones are judged by the least time
    r.error = m.error;
    c.results.push_back(r);
    g.cases.push_back(std::move(c));
  }
  return g;
}
} // namespace

TEST_CASE("winners of each state, class and layout are looked at, each algorithm once") {
  group g = group_of({{"slow", "hot", 9},
                      {"fast", "hot", 5},
                      {"fast", "coldw", 8},
                      {"slow", "coldw", 7},
                      {"nhwc", "hot", 20, "channels_last"},
                      {"broken", "hot", 1, "plain", "wrong result"},
                      {"narrow", "hot", 3, "plain", "", "gpu", "f32-reduced"},
                      {"narrow", "coldw", 3, "plain", "", "gpu", "f32-reduced"},
                      {"jit", "hot", 1, "plain", "", "cpu"}});
  const auto of = [&g](kernel_choice whose) { return worth_a_look(g, all_cases(g), whose); };
  CHECK(of(kernel_choice::winners) == case_list{1, 3, 4, 6});
  CHECK(of(kernel_choice::all) == case_list{0, 1, 4, 6});
  CHECK(of(kernel_choice::none).empty());
  CHECK(worth_a_look(g, {0, 4}, kernel_choice::winners) == case_list{0, 4});
  g.cases[0].results.clear(); // not measured
  CHECK(worth_a_look(g, {0}, kernel_choice::all).empty());
  group limits = group_of({{"copy", "hot", 5}}, "machine");
  CHECK(worth_a_look(limits, all_cases(limits), kernel_choice::all).empty());
}

TEST_CASE("a look runs what is asked for, unchecked, frees it, and says why it saw nothing") {
  auto fake = std::make_unique<test::fake_library>(
      std::vector<test::script>{{.algorithm = {.id = "gpu"}, .wrong = true, .on_device = true},
                                {.algorithm = {.id = "cpu"}},
                                {.algorithm = {.id = "bad"}, .throws = true}});
  test::fake_library* const library = fake.get();
  library_list libraries;
  libraries.push_back(std::move(fake));
  const op::layer l = op::parse("Relu/1x4");
  group g{.what = std::make_shared<layer_subject>(l, op::cost(l), numeric::f32, 1, libraries)};
  for (const char* id : {"gpu", "cpu", "bad"})
    g.cases.push_back({.name = id,
                       .backend = std::string(library->name()),
                       .algorithm = {.id = id},
                       .state = "hot"});
  const nlohmann::json all = look_at_kernels(g, true).at("kernels");
  REQUIRE(all.size() == 3);
  CHECK(all[0].at("case") == "gpu");
  CHECK(all[0].at("why") == "the profiler saw no kernel");
  CHECK(all[1].at("why") == "it runs on no device");
  CHECK(all[2].contains("why"));
  for (const auto& one : all)
    CHECK_FALSE((one.contains("seen") || one.contains("counted")));
  CHECK(library->log.alive == 0);
}
} // namespace test_of_kernel_pass
