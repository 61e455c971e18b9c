// SPDX-License-Identifier: Apache-2.0
// Are figures named that cannot both be right, and is said what the run lacks?
#include "analysed.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace test_of_faults {
using namespace analysed;

TEST_CASE("results in one state only are used and marked") {
  run hot = synthetic::small_run(), cold = hot;
  std::erase_if(hot.measurements, [](const auto& m) { return m.state == "coldw"; });
  std::erase_if(cold.measurements, [](const auto& m) { return m.state == "hot"; });
  CHECK(holds(analyse(hot).notes, "no times with cold weights for 4 nodes"));
  CHECK(holds(analyse(cold).notes, "no hot times for 4 nodes"));
  CHECK(analyse(cold).partial());
}

TEST_CASE("a first choice that was not measured is not taken for the best one in silence") {
  run r = synthetic::small_run();
  std::erase_if(r.measurements, [](const auto& m) { return m.algorithm.starts_with("brgconv"); });
  CHECK(holds(analyse(r).notes, "first choice was not measured for 3 nodes"));
}

TEST_CASE("a prediction below its bound is a measuring fault, by name") {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements)
    if (m.key == "1x64x56x56-256x1x1-s1-b" && m.state == "coldw") {
      for (double& s : m.samples_ns)
        s /= 2;
      m.min_ns /= 2;
    }
  using benanza::bound::fault;
  CHECK(analyse(r).faults ==
        std::vector<fault>{{"the prediction lies below the bound", synthetic::wide}});
}

TEST_CASE("where f32 computes faster than the model's type, the bound is not said to be all") {
  const run r = synthetic::small_run();
  const auto notes = [&](double gain) {
    const benanza::bound::limits of{[&](const auto&, numeric, int, std::int64_t) {
      return std::optional(benanza::bound::roof{1, false, 0, gain});
    }};
    return benanza::bound::analyse(benanza::bound::source(r, of), r.graphs[0], {numeric::f32, 1})
        .notes;
  };
  CHECK(holds(notes(2), "arithmetic in f32 is 2 times as fast here"));
  CHECK_FALSE(holds(notes(1.05), "times as fast"));
}

TEST_CASE("a bound below its roofline is a measuring fault, by name") {
  const run r = synthetic::small_run();
  const benanza::bound::limits high{[](const auto& l, numeric, int, std::int64_t least_flops) {
    const bool named = benanza::op::name(l) == synthetic::conv;
    // What Winograd needs, a quarter, is what the layer is held to.
    CHECK((!named || least_flops < benanza::op::direct_flops(l) / 2));
    return named ? std::optional(benanza::bound::roof{360e3, false, 1000}) : std::nullopt;
  }};
  const auto faults = [&](double clock_ns) {
    run at_clock = r;
    for (measurement& m : at_clock.measurements)
      m.min_clock_ns = clock_ns;
    return benanza::bound::analyse(benanza::bound::source(at_clock, high), r.graphs[0],
                                   {numeric::f32, 1})
        .faults;
  };
  const std::vector<benanza::bound::fault> named{
      {"the bound lies below the roofline", synthetic::conv}};
  CHECK(faults(0) == named); // unknown
  CHECK(faults(1000) == named);
  CHECK(faults(1100) == named);
  CHECK(faults(995) == named); // by more than its higher clock
  CHECK(faults(970).empty());  // 350 us against 360 at 3 % less
}
} // namespace test_of_faults
