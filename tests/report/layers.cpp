// SPDX-License-Identifier: Apache-2.0
// Where does a model's time go, and where is most of it lost?
#include "analyzer/report/layers.hpp"
#include "pages.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace test_of_layers {
using namespace pages;

TEST_CASE("layers far above their rooflines are ranked by the time that is lost") {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements)
    if (m.family == "Relu") m.fallback = "host";
  // A roofline of a tenth for all layers.
  const benanza::bound::limits tenth{[&](const auto& l, numeric, int, std::int64_t) {
    double least = 0;
    for (const measurement& m : r.measurements)
      if (m.family + '/' + m.key == benanza::op::name(l) && (least == 0 || m.min_ns < least))
        least = m.min_ns;
    return least > 0 ? std::optional(benanza::bound::roof{least / 10}) : std::nullopt;
  }};
  const std::vector<model_bound> models = analyse(r, tenth);
  const auto lost = benanza::report::by_lost_time(models[0]);
  REQUIRE(lost.size() > 2);
  CHECK(lost[0].layer->name == synthetic::conv);
  CHECK(lost[0].uses == 2);
  CHECK(lost[0].lost_ns == doctest::Approx(2 * 0.9 * 350e3));
  for (std::size_t i = 1; i < lost.size(); ++i)
    CHECK(lost[i].lost_ns <= lost[i - 1].lost_ns);
  const std::string text = text_report(r, models, {});
  check_width(text);
  CHECK(holds(text, "Where the best algorithm stays far above the layer's roofline:"));
  CHECK(holds(text, "10.0 times the roofline"));
  CHECK(holds(text, "2 nodes run only by plain kernels"));
  for (const benanza::bound::layer_answer& l : models[0].layers)
    if (l.algorithms.bound_from_roofline()) // the rate that was measured, not that of the roofline
      CHECK(benanza::report::rate(l).gflops ==
            doctest::Approx(static_cast<double>(l.flops) / (10 * l.algorithms.bound.ns)));
  const json report = json::parse(json_report(r, models, false));
  CHECK(report["analyses"][0]["far_above_roofline"].size() == lost.size());
}
} // namespace test_of_layers
