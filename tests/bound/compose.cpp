// SPDX-License-Identifier: Apache-2.0
// Do models come out as the sum of their sequences, along the longest path, and at their cheapest
// tiling; and are n and s what DLBricks defines? On tables made by hand.
#include <benanza/bound/compose/accuracy.hpp>
#include <benanza/bound/compose/compose.hpp>
#include <benanza/model/sequences.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace benanza;
using namespace benanza::bound;

namespace {
model::graph graph_of(const std::vector<std::pair<std::string, std::string>>& rows) {
  model::graph g;
  g.name = "net@batch=1";
  for (const auto& [layer, operands] : rows) {
    const int number = static_cast<int>(g.nodes.size());
    model::node n{.name = "n" + std::to_string(number), .layer = number};
    g.layers.push_back(op::parse(layer));
    n.operands = *model::read_operands(operands, number);
    n.inputs = model::inputs_of(n.operands);
    g.nodes.push_back(n);
  }
  return g;
}

/// A fork at the first node, a branch of two and one of one, joined.
const model::graph forked = graph_of({{"Relu/1x8", "i"},
                                      {"Tanh/1x8", "0"},
                                      {"Sigmoid/1x8", "1"},
                                      {"Abs/1x8", "0"},
                                      {"Add/1x8", "2 3"}});

void add(result::run& r, const model::graph& sequence, const char* state, double ns) {
  result::measurement m{.family = "sequence", .type = "f32", .backend = "chain"};
  m.key = sequence.name.substr(model::sequence_prefix.size());
  m.algorithm = "first";
  m.state = state;
  m.equivalence = "f32";
  m.median_ns = m.min_ns = ns;
  m.sampling_ns = 10 * ns;
  r.measurements.push_back(m);
}
const setting f32{numeric::f32, 1};
} // namespace

TEST_CASE("a model is the sum of its sequences, and in parallel the longest path over them") {
  result::run r;
  for (const auto& [nodes, ns] : std::vector<std::pair<std::vector<int>, double>>{
           {{0}, 1}, {{1, 2}, 10}, {{3}, 4}, {{4}, 2}}) {
    add(r, model::sequence_of(forked, nodes), "hot", ns);
    add(r, model::sequence_of(forked, nodes), "cold", 3 * ns);
  }
  const sequence_times times(r, f32);
  const auto cuts = model::split(forked, {.length = 2});
  const composed c = compose(forked, cuts, times, {}, numeric::f32);
  CHECK(c.missing.empty());
  CHECK(c.sequences == 4);
  CHECK(c.weights.gone == 1); // nothing is known of the last cache
  CHECK(c.sequential.ns == doctest::Approx(51));
  CHECK(c.sequential.low_ns == doctest::Approx(17));
  CHECK(c.sequential.high_ns == doctest::Approx(51));
  CHECK(c.parallel_ns == doctest::Approx(39));
  // A cache that keeps everything: hot.
  const composed warm =
      compose(forked, cuts, times, {.last = {.bytes = 1e12, .ns = 1e12}}, numeric::f32);
  CHECK(warm.weights.gone == 0);
  CHECK(warm.sequential.ns == doctest::Approx(17));
}

TEST_CASE("what layers leave to each other is between the last cache and memory") {
  result::run r;
  const model::graph one = model::sequence_of(forked, {0});
  add(r, one, "hot", 1);
  add(r, one, "llcw", 2);
  add(r, one, "coldw", 4);
  add(r, one, "cold", 8);
  const sequence_times times(r, f32);
  const sequence_cases& its = *times.find(one.name);
  CHECK(its.estimate_ns(warmth{.gone = 0}) == 2);
  CHECK(its.estimate_ns(warmth{.gone = 0.25}) == 2.5);
  CHECK(its.estimate_ns(warmth{}) == 4);
  CHECK(its.interval(3).low_ns == 1);
  CHECK(its.interval(3).high_ns == 8);
}

TEST_CASE("a model that a core's own caches hold is hot") {
  result::run r;
  for (const auto& nodes : model::split(forked, {.length = 9})) {
    add(r, model::sequence_of(forked, nodes), "hot", 1);
    add(r, model::sequence_of(forked, nodes), "llcw", 2);
    add(r, model::sequence_of(forked, nodes), "coldw", 3);
  }
  const sequence_times times(r, f32);
  const auto with = [&](std::int64_t bytes) {
    return compose(forked, model::split(forked, {.length = 9}), times, {.private_bytes = bytes},
                   numeric::f32);
  };
  const std::int64_t footprint = model::footprint_bytes(forked, numeric::f32);
  CHECK(with(footprint).weights.hot);
  CHECK(with(footprint).sequential.ns == 4);
  CHECK_FALSE(with(footprint - 1).weights.hot);
  CHECK(with(footprint - 1).sequential.ns == 12);
}

TEST_CASE("a sequence without a time is named, and views need none") {
  result::run r;
  const model::graph g = graph_of({{"Relu/1x8", "i"}, {"Identity/1x8", "0"}, {"Tanh/1x8", "1"}});
  add(r, model::sequence_of(g, {0}), "hot", 1);
  const composed c =
      compose(g, model::split(g, {.length = 1}), sequence_times(r, f32), {}, numeric::f32);
  REQUIRE(c.missing.size() == 1);
  CHECK(c.missing[0] == model::sequence_of(g, {2}).name);
  CHECK(c.missing_text[0] == "Tanh/1x8 i.1;");
}

TEST_CASE("the cheapest tiling takes overlapping windows where they are faster") {
  result::run r;
  const model::graph g = graph_of({{"Relu/1x8", "i"}, {"Tanh/1x8", "0"}, {"Abs/1x8", "1"}});
  add(r, model::sequence_of(g, {0}), "hot", 3);
  add(r, model::sequence_of(g, {1}), "hot", 3);
  add(r, model::sequence_of(g, {2}), "hot", 3);
  add(r, model::sequence_of(g, {0, 1}), "hot", 5);
  add(r, model::sequence_of(g, {1, 2}), "hot", 4);
  const sequence_times times(r, f32);
  CHECK(times.longest() == 2);
  using cuts = std::vector<std::vector<int>>;
  CHECK(best_tiling(g, model::cut::chain, times, 2, {}) == cuts{{0}, {1, 2}});
  CHECK(best_tiling(g, model::cut::window, times, 2, {}) == cuts{{0}, {1, 2}});
  CHECK(best_tiling(g, model::cut::chain, times, 1, {}) == cuts{{0}, {1}, {2}});
  r.measurements.erase(r.measurements.begin() + 1);
  CHECK(best_tiling(g, model::cut::chain, sequence_times(r, f32), 2, {}) == cuts{{0}, {1, 2}});
}

TEST_CASE("a run of the whole model is found by what it is, or by the model's name") {
  result::run r;
  CHECK(whole_run(r, forked, f32) == nullptr);
  add(r, model::sequence_of(forked, {0, 1, 2, 3, 4}), "hot", 20);
  REQUIRE(whole_run(r, forked, f32) != nullptr);
  CHECK(whole_run(r, forked, f32)->median_ns == 20);
  CHECK(whole_run(r, forked, {numeric::f32, 2}) == nullptr);
}

TEST_CASE("n and s are as DLBricks defines them") {
  const accuracy a = accuracy_of({{"a", 0.9}, {"b", 1.08}, {"c", 1.03}});
  CHECK(a.geometric_mean == doctest::Approx(std::cbrt(0.9 * 1.08 * 1.03)));
  CHECK(a.mean_absolute == doctest::Approx(0.21 / 3));
  CHECK(a.within_5 == 1);
  CHECK(a.within_10 == 3);
  CHECK(std::abs(a.worst_n - 1) == doctest::Approx(0.1));
  CHECK(accuracy_of({}).geometric_mean == 0);
  CHECK(saving{.models_ns = 300, .sequences_ns = 75}.times() == 4);

  // The same by a sweep: a layer takes 1 ns for each of its letters. Two models: A A B, and A C.
  const model::graph one = graph_of({{"Relu/1x8", "i"}, {"Relu/1x8", "0"}, {"Tanh/1x8", "1"}});
  const model::graph two = graph_of({{"Relu/1x8", "i"}, {"Sigmoid/1x8", "0"}});
  const std::vector<model::graph> both{one, two};
  const auto letters = [](const op::layer& l) { return static_cast<double>(op::family(l).size()); };
  const model::sweep_row single = model::sweep(both, {.length = 1}, letters);
  CHECK(single.sequences == 5);
  CHECK(single.unique == 4); // A of what the caller gives, A of what a layer makes, B, C
  CHECK(single.saving == doctest::Approx(23.0 / 19));
  const model::sweep_row pairs = model::sweep(both, {.length = 2}, letters);
  CHECK(pairs.sequences == 3);
  CHECK(pairs.mean_length == doctest::Approx(5.0 / 3));
  // No pair comes twice: none is taken. Else the longest that saves about the most.
  CHECK(pairs.saving == 1);
  CHECK(model::recommended({single, pairs}) == nullptr);
  CHECK(model::recommended({single}) == nullptr);
  const model::sweep_row two_fold{.length = 2, .saving = 2}, longer{.length = 3, .saving = 1.85},
      longest{.length = 4, .saving = 1.7};
  CHECK(model::recommended({single, two_fold, longer, longest})->length == 3);
  CHECK(model::jaccard({"a", "b"}, {"b", "c"}) == doctest::Approx(1.0 / 3));
}
