// SPDX-License-Identifier: Apache-2.0
// Does each algorithm of a layer have its share of the roofline, by what sets it?
#include "analyzer/report/algorithms.hpp"
#include "analyzer/report/tables/formats.hpp"
#include "bound/machine_run.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

namespace test_of_algorithms {
using namespace benanza;
using benanza::test::holds;
using doctest::Approx;

TEST_CASE("each algorithm has its share of the layer's roofline, where ceilings were measured") {
  const std::string relu = "Relu/1x64x112x112";
  auto r = synthetic::empty_run();
  synthetic::add_machine(r); // 100 f32 flops a ns
  const auto flops = static_cast<double>(op::cost(op::parse(synthetic::conv)).flops());
  synthetic::add(r, synthetic::conv, "fast", 0, flops / 50);
  synthetic::add(r, synthetic::conv, "slow", 1, flops / 10);
  synthetic::add(r, relu, "jit", 0, 300e3);
  const auto all = report::algorithms_of(r, "");
  REQUIRE(all.size() == 2);
  CHECK(all[0].share(all[0].timed[0]) ==
        Approx(flops / 100 / all[0].timed[0].hot_ns).epsilon(1e-9));
  CHECK(all[0].share(all[0].timed[1]) < 0.11);
  CHECK(all[1].roofline.by_memory);
  const std::string text = report::tables::text_of(report::algorithms_answer(all, true));
  for (const char* part : {"231.2 MFLOP at 100 GFLOP/s", "6.12 MiB of memory at", "of roofline"})
    CHECK_MESSAGE(holds(text, part), part, "\n", text);
  const auto json =
      nlohmann::json::parse(report::tables::json_of(report::algorithms_answer(all, true)))
          .at("layers");
  CHECK(json[0].at("limited_by") == "arithmetic");
  CHECK(json[1].at("limited_by") == "memory");
  CHECK(json[1].at("algorithms")[0].at("share_of_roofline").get<double>() ==
        Approx(all[1].roofline.ns / all[1].timed[0].hot_ns));

  CHECK_FALSE(holds(text, "contradiction"));
  auto impossible = r;
  synthetic::add(impossible, relu, "dream", 1, 10e3);
  CHECK(holds(report::tables::text_of(
                  report::algorithms_answer(report::algorithms_of(impossible, "Relu"), true)),
              "faster than the machine: a contradiction"));

  std::erase_if(r.measurements, [](const auto& m) { return m.family == "machine"; });
  const auto without = report::algorithms_of(r, "Conv");
  CHECK_FALSE(
      holds(report::tables::text_of(report::algorithms_answer(without, true)), "roofline:"));
  CHECK(nlohmann::json::parse(report::tables::json_of(report::algorithms_answer(without, true)))
            .at("layers")[0]
            .at("roofline_ns")
            .is_null());
}
} // namespace test_of_algorithms
