// SPDX-License-Identifier: Apache-2.0
// Is no bound below what reading the weights takes, and none above what can be told?
#include "machine_run.hpp"

#include "analysed.hpp"

#include <benanza/compare/values.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

namespace test_of_memory_floor {
using namespace analysed;

/// The small model, which is said to read so many bytes of weights and caches in a run, with the
/// ceilings of a made-up machine.
run reading(std::int64_t weights, std::int64_t caches) {
  run r = synthetic::small_run();
  synthetic::add_machine(r);
  for (auto& g : r.graphs)
    g.streamed_weight_bytes = weights, g.cache.bytes = caches;
  return r;
}

constexpr std::int64_t much = std::int64_t{1} << 30;

TEST_CASE("where reading takes longer than the layers alone, it is the bound of every form") {
  const model_bound before = analyse(reading(0, 0)), b = analyse(reading(0, much));
  CHECK_FALSE(before.set_by_memory());
  CHECK(before.layers_ns == before.bound.sequential.ns);
  REQUIRE(b.set_by_memory());
  // 32 MiB stay in the cache, the rest comes at 25 bytes a ns.
  const double rest = static_cast<double>(much - (32 << 20)) / 25 / 1.1;
  CHECK(b.memory.ns > rest);
  CHECK(b.memory.ns < 1.05 * rest);
  CHECK(b.bound.sequential.ns == b.memory.ns);
  CHECK(b.bound.sequential.low_ns == b.memory.ns);
  CHECK(b.roofline.sequential.ns == b.memory.ns);
  CHECK(b.layers_ns == before.layers_ns);
  CHECK(b.prediction.sequential.ns == before.prediction.sequential.ns);
}

TEST_CASE("what memory sets is compared with memory's scatter, at any clock") {
  const run layers = reading(0, 0), memory = reading(0, much);
  const auto compared = [](const run& r) { return benanza::compare::bound_of(analyse(r), false); };
  CHECK(compared(layers).spread < 0.1);
  CHECK(compared(memory).spread >= benanza::bound::reads_faster - 1);
  CHECK(compared(memory).clocked.per_clock == 0);
}

TEST_CASE("weights count as the layers read them, at most") {
  const run r = reading(much, 0); // which the figures refer to
  const model_bound b = analyse(r);
  CHECK(b.memory.weight_bytes < much); // the layers have fewer
  CHECK(b.memory.weight_bytes == benanza::bound::detail::weights_by_layers(*b.graph, numeric::f32));
  CHECK(analyse(reading(1000, 0)).memory.weight_bytes == 1000);
}

TEST_CASE("in a narrower type as much less is read, in a wider one no more") {
  const benanza::bound::limits machine{.of = {},
                                       .bytes_read_per_ns = [](double, int) { return 1.0; }};
  const run r = reading(0, 1000);
  const auto bytes = [&](numeric own, numeric t) {
    auto g = r.graphs[0];
    g.type = own;
    return benanza::bound::floor_of(g, t, 1, machine, 0).cache_bytes;
  };
  CHECK(bytes(numeric::f32, numeric::bf16) == 500);
  CHECK(bytes(numeric::f16, numeric::f32) == 1000);
}

TEST_CASE("other cores may read too: a parallel bound waits for a rate of all of them") {
  run r = reading(0, much);
  r.provenance["machine"]["cores"] = "2";
  const double path = analyse(reading(0, 0)).bound.parallel.ns;
  const model_bound one = analyse(r);
  CHECK(one.memory.all_threads_ns == 0);
  CHECK(one.bound.parallel.ns == path);
  synthetic::add_machine(r, 2, 2);
  const model_bound both = analyse(r);
  CHECK(both.memory.all_threads_ns > 0);
  CHECK(both.memory.all_threads_ns < both.memory.ns);
  CHECK(both.bound.parallel.ns == both.memory.all_threads_ns);
}

TEST_CASE("weights that a layer read faster than the ceilings say raise the rate") {
  run r = reading(0, much);
  const double before = analyse(r).memory.ns;
  auto& m = *std::find_if(r.measurements.begin(), r.measurements.end(),
                          [](const auto& c) { return c.state == "coldw"; });
  const auto takes = [&m](double ns, std::int64_t bytes) {
    m.samples_ns.assign(m.samples_ns.size(), ns);
    m.min_ns = ns;
    m.weight_bytes = bytes;
  };
  takes(1e5, 5'000'000); // too few bytes to tell
  CHECK(analyse(r).memory.ns == before);
  takes(1e6, 50'000'000);
  CHECK(analyse(r).memory.ns == doctest::Approx(much / 50.0 / 1.1));
}

TEST_CASE("without a rate, or without a layer that was measured, there is no such bound") {
  run r = synthetic::small_run();
  for (auto& g : r.graphs)
    g.cache.bytes = much;
  CHECK_FALSE(analyse(r).set_by_memory());
  run empty = reading(0, much);
  std::erase_if(empty.measurements, benanza::result::of_a_layer);
  CHECK_FALSE(analyse(empty).has_bound());
}

} // namespace test_of_memory_floor
