// SPDX-License-Identifier: Apache-2.0
#include "../chain/planned.hpp"

#include <benanza/measure/levels/level_subject.hpp>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

TEST_CASE("a line of oneDNN, old or new, is a call with its time") {
  const auto old_one = call_of_line(
      3, "dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_inference,src_f32,,alg,mb1,0.0109863");
  REQUIRE(old_one);
  CHECK(old_one->step == 3);
  CHECK(old_one->what == "exec,cpu,convolution,jit:avx2,forward_inference,src_f32,,alg,mb1");
  CHECK(old_one->ns == doctest::Approx(10986.3));
  const auto newer =
      call_of_line(0, "onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src,,,1x8,0.5");
  REQUIRE(newer);
  CHECK(newer->what == "exec,cpu,reorder,jit:uni,undef,src,,,1x8");
  CHECK(newer->ns == 5e5);
  CHECK_FALSE(call_of_line(0, "onednn_verbose,info,oneDNN v3.2.0 (commit N/A)"));
  CHECK_FALSE(call_of_line(0, "onednn_verbose,create,cpu,convolution,jit,0.1"));
  CHECK_FALSE(call_of_line(0, "onednn_verbose,exec,cpu,convolution,jit,soon"));
  CHECK_FALSE(call_of_line(0, "what somebody else prints,exec,1"));
}

TEST_CASE("a mean without its ends is finer than one tick of a clock") {
  CHECK(trimmed_mean({}) == 0);
  CHECK(trimmed_mean({5}) == 5);
  // A tenth at either end is left out: the 0 and the 100.
  CHECK(trimmed_mean({100, 1, 0, 0, 1, 1, 0, 1, 0, 1}) == doctest::Approx(5. / 8));
  CHECK(typical_ns({1000, 0, 1000}) == doctest::Approx(2000. / 3));
  CHECK(typical_ns({5e4, 9e9, 6e4}) == 6e4); // a pause is none of its time
}

TEST_CASE("levels have words and algorithms of their own") {
  CHECK(parse_level("call") == level::call);
  CHECK_FALSE(parse_level("kernel"));
  CHECK(level_of("level-layer") == level::layer);
  CHECK(level_of("plan") == level::none);
}

TEST_CASE("a chain runs with the events of each level taken") {
  const library_list libraries = real_libraries();
  const result::plan p = plan_of(graph_of(residual), libraries, 0);
  const auto made = std::make_shared<chain>(p, libraries);
  const std::size_t steps = made->steps();
  level_run model(made, libraries, level::model), layers(made, libraries, level::layer),
      calls(made, libraries, level::call);
  const double model_ns = model.time(1), layers_ns = layers.time(1), calls_ns = calls.time(1);
  CHECK(model_ns > 0);
  CHECK(model.parts_of({model_ns}).empty());
  const auto parts = layers.parts_of({layers_ns});
  REQUIRE(parts.size() == steps);
  double sum = 0;
  for (const auto& part : parts)
    sum += part.ns;
  CHECK(sum <= layers_ns + static_cast<double>(steps)); // none takes less than 1 ns
  CHECK(layers.calls_of({layers_ns}).empty());
  CHECK(calls.parts_of({calls_ns}).size() == steps);
  // Each call is of one of the steps, in their order, and nothing is said of another execution.
  const auto told = calls.calls_of({calls_ns});
  REQUIRE_FALSE(told.empty());
  std::int64_t last = 0;
  for (const timed_call& call : told) {
    CHECK(call.part >= last);
    CHECK(call.part < static_cast<std::int64_t>(steps));
    CHECK(call.text.starts_with("exec,cpu,"));
    last = call.part;
  }
  CHECK(calls.calls_of({calls_ns + 1}).empty());
  std::vector<double> out;
  calls.read(out);
  CHECK_FALSE(out.empty());
}

TEST_CASE("a plan's levels are cases of their own, and say what their events cost") {
  const library_list libraries = real_libraries();
  result::plan p = plan_of(graph_of(residual), libraries, 0);
  p.provenance = {{"machine", {}}, {"software", {}}};
  group g = level_group(p, libraries, p.provenance, level::call);
  REQUIRE(g.cases.size() == 3);
  CHECK(g.cases[0].name == "model/test/f32/chain/level-model/run/t1");
  CHECK(g.cases[2].name == "model/test/f32/chain/level-call/run/t1");
  CHECK(g.cases[0].algorithm.equivalence != g.cases[1].algorithm.equivalence); // no race
  CHECK(level_group(p, libraries, p.provenance, level::layer).cases.size() == 2);
  for (bench_case& c : g.cases)
    c.results.assign(1, {});
  g.cases[0].results[0].median_ns = 1000;
  g.cases[1].results[0].median_ns = 990; // within the noise
  g.cases[2].results[0].median_ns = 1500;
  g.what->conclude(g.cases);
  CHECK(g.cases[0].results[0].overhead_ns == 0);
  CHECK(g.cases[1].results[0].overhead_ns == 0);
  CHECK(g.cases[2].results[0].overhead_ns == 510);
}
