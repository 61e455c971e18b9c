// SPDX-License-Identifier: Apache-2.0
// What does a layer rest on, and which command measures it?
#include "../model/graph_maker.hpp"
#include "../result/synthetic.hpp"

#include <benanza/bound/answers.hpp>
#include <benanza/bound/appended.hpp>
#include <benanza/bound/coverage.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_of_answers {
using benanza::numeric;
using benanza::bound::case_table;
using benanza::result::run;
using synthetic::conv;

TEST_CASE("types and threads do not mix; another type fills in for a layer that lacks its own") {
  using benanza::bound::answer;
  using benanza::bound::basis;
  run r = synthetic::empty_run();
  synthetic::add(r, conv, "a", 0, 100);
  synthetic::add(r, conv, "a", 0, 40, 1.1, "u8s8u8");
  synthetic::add(r, conv, "a", 0, 60, 1.1, "f32", 2);
  synthetic::add(r, synthetic::softmax, "a", 0, 7);
  const case_table cases(r);
  const benanza::bound::limits none;
  const auto ask = [&](const std::string& layer, numeric type, int threads) {
    return answer({cases, none, type, numeric::f32, threads}, benanza::op::parse(layer), 1);
  };
  CHECK(ask(conv, numeric::f32, 1).algorithms.bound.ns == 100);
  CHECK(ask(conv, numeric::f32, 2).algorithms.bound.ns == 60);
  CHECK(ask(conv, numeric::u8s8u8, 1).algorithms.bound.ns == 40);
  CHECK(ask(conv, numeric::u8s8u8, 1).rests_on == basis::measured);
  CHECK(ask(synthetic::softmax, numeric::u8s8u8, 1).rests_on == basis::other_type);
  CHECK(ask(synthetic::softmax, numeric::u8s8u8, 1).type == numeric::f32);
  CHECK(ask(conv, numeric::u8s8u8, 2).rests_on == basis::other_type);
  CHECK(ask(synthetic::relu, numeric::f32, 1).rests_on == basis::missing);
  CHECK(ask(synthetic::relu, numeric::f32, 1).reason == "not measured");
  CHECK(ask(synthetic::flatten, numeric::f32, 1).rests_on == basis::view);

  r.measurements[0].error = r.measurements[1].error = "out of memory";
  const case_table with_failures(r);
  const auto failed =
      answer({with_failures, none, numeric::f32, numeric::f32, 1}, benanza::op::parse(conv), 1);
  CHECK(failed.rests_on == basis::missing);
  CHECK(failed.reason == "out of memory");
  CHECK(failed.failed == 2);
  CHECK_FALSE(failed.nothing_runs);
}

TEST_CASE("where frameworks may round activations, a bound rests on no kernel that does not") {
  using benanza::bound::answer;
  const std::string codes = "MatMulGgml/1x8x256-n256-q4_0", plain = "MatMul/1x8x256-256x256";
  run r = synthetic::empty_run();
  for (const std::string& layer : {codes, plain})
    synthetic::add(r, layer, "fast", 0, 15'000); // of a library
  const case_table cases(r);
  const benanza::bound::limits ten_us{
      .of = [](const benanza::op::layer&, numeric, int, std::int64_t) {
        return std::optional(benanza::bound::roof{.ns = 10'000});
      }};
  const auto ask = [&](const std::string& layer) {
    return answer({cases, ten_us, numeric::f32, numeric::f32, 1}, benanza::op::parse(layer), 1);
  };
  CHECK(ask(codes).algorithms.bound.ns == 10'000);
  CHECK(ask(codes).algorithms.bound_from_roofline());
  CHECK(ask(codes).algorithms.prediction.ns >= 15'000);
  CHECK(ask(plain).algorithms.bound.ns == 15'000);
}

TEST_CASE(
    "appending to a cache takes no more than copying the new part: frameworks do it in place") {
  using benanza::bound::answer;
  using benanza::bound::copy_of_added;
  const std::string append = "Concat/1x2x513x64-a2-n2";
  benanza::model::graph g = graphs::maker().add(append, "i i").g;
  const auto copy = [&] {
    const auto l = copy_of_added(g, 0);
    return l ? benanza::op::name(*l) : "none";
  };
  CHECK(copy() == "none"); // the model has no cache
  g.cache = {.bytes = 1, .sequences = 1, .past = 512, .added = 1};
  CHECK(copy() == "Relu/1x2x1x64");
  g.nodes[0].operands.pop_back();
  CHECK(copy() == "none");
  g = graphs::maker().add("Relu/1x2x512x64", "i").add(append, "0 i").g;
  g.cache = {.bytes = 1, .sequences = 1, .past = 512, .added = 1};
  CHECK(!copy_of_added(g, 0));
  CHECK(!copy_of_added(g, 1)); // what a node has made is no cache
  g = graphs::maker().add("Concat/1x2x514x64-a2-n2", "i i").g;
  g.cache = {.bytes = 1, .sequences = 1, .past = 512, .added = 1};
  CHECK(copy() == "none");

  run r = synthetic::empty_run();
  synthetic::add(r, append, "fast", 0, 15'000);
  const case_table cases(r);
  const benanza::bound::limits by_bytes{.of = [](const benanza::op::layer& l, numeric type, int,
                                                 std::int64_t) {
    return std::optional(
        benanza::bound::roof{.ns = static_cast<double>(benanza::op::least_bytes(l, type)) / 100});
  }};
  const auto layer = benanza::op::parse(append), added = benanza::op::parse("Relu/1x2x1x64");
  const auto ask = [&](const benanza::op::layer* part) {
    return answer({cases, by_bytes, numeric::f32, numeric::f32, 1}, layer, 1, part);
  };
  CHECK(ask(nullptr).algorithms.bound.ns == 15'000);
  CHECK(ask(&added).algorithms.bound.ns == doctest::Approx(2 * 128 * 4 / 100.0));
  CHECK(ask(&added).algorithms.why_roofline == benanza::bound::roofline_for::appending);
  CHECK(ask(&added).roofline->ns == ask(&added).algorithms.bound.ns);
}

TEST_CASE("that nothing runs a layer is a reason, and no failure") {
  using benanza::bound::answer;
  using benanza::bound::basis;
  run r = synthetic::empty_run();
  for (const char* type : {"u8s8u8", "f32"}) {
    auto& m = r.measurements.emplace_back(
        synthetic::timed(synthetic::relu, "none", 0, "none", {1.0}, type));
    m.backend = "none";
    m.error = std::string("nothing runs it in ") + type;
  }
  const benanza::bound::limits none;
  const auto ask = [&](numeric type) {
    const case_table cases(r);
    return answer({cases, none, type, numeric::f32, 1}, benanza::op::parse(synthetic::relu), 3);
  };
  const auto l = ask(numeric::u8s8u8);
  CHECK(l.rests_on == basis::missing);
  CHECK(l.nothing_runs);
  CHECK(l.failed == 0);
  CHECK(l.reason == "nothing runs it in u8s8u8");
  const auto covered = benanza::bound::cover({l}, {});
  REQUIRE(covered.holes.size() == 1);
  CHECK(covered.holes[0].command.empty());
  CHECK_FALSE(covered.holes[0].failed);
  CHECK(case_table(r).settings(synthetic::make_graph("g", {synthetic::relu}, {{}})).empty());

  r.measurements.pop_back(); // its own type was not tried
  CHECK_FALSE(ask(numeric::u8s8u8).nothing_runs);
  synthetic::add(r, synthetic::relu, "a", 0, 7);
  CHECK(ask(numeric::u8s8u8).rests_on == basis::other_type);
  CHECK_FALSE(ask(numeric::u8s8u8).nothing_runs);
}

TEST_CASE("the command that measures a layer is a filter for that layer only") {
  using benanza::bound::measuring_command;
  CHECK(measuring_command(conv) ==
        "benanza_bench --benchmark_filter='^Conv/1x64x56x56-64x3x3-s1-p1/'");
  CHECK(measuring_command("Conv+Relu/1.5(x)") ==
        R"(benanza_bench --benchmark_filter='^Conv\+Relu/1\.5\(x\)/')");
}
} // namespace test_of_answers
