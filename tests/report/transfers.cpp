// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/transfers.hpp"
#include "bound/machine_run.hpp"
#include "pages.hpp"

#include <benanza/bound/transfers.hpp>
#include <doctest/doctest.h>

namespace test_of_transfers {
using namespace benanza;
using doctest::Approx;

/// The block as if a GPU had run it: copies take 10 us, and 10 bytes a ns there, 5 back.
result::run on_gpu() {
  result::run r = synthetic::fused_run();
  for (const std::int64_t n : {4096, 65536, 1 << 20})
    for (const double rate : {10.0, 5.0})
      r.measurements.push_back(synthetic::machine_case(
          result::text({rate > 5 ? "host_to_device_pinned" : "device_to_host_pinned", n}),
          10e3 + static_cast<double>(n) / rate, 0, n));
  for (result::measurement& m : r.measurements)
    m.device = result::gpu_device;
  return r;
}

TEST_CASE("inputs and results of a model on a GPU take what copies of their size take") {
  const result::run r = on_gpu();
  const model::graph& g = r.graphs[0];
  const auto [inputs, results] = bound::outer_bytes(g, numeric::f32);
  CHECK(inputs == static_cast<double>(4 * elements(*op::operand_dims(g.layers[0], 0))));
  CHECK(results == static_cast<double>(4 * elements(*model::result_dims(g, {5}))));
  const auto t = bound::transfers_of(r, g, numeric::f32);
  REQUIRE(t);
  CHECK(t->there_ns == Approx(10e3 + inputs / 10).epsilon(0.01));
  CHECK(t->back_ns == Approx(10e3 + results / 5).epsilon(0.01));
}

TEST_CASE("the line is next to the bound, which does not hold it; on a CPU there is none") {
  const result::run r = on_gpu();
  const auto models = pages::analyse(r);
  const std::string line = report::transfers_line(r, models[0]);
  CHECK(line.find("not in the bound") != std::string::npos);
  const auto j = report::transfers_json(r, models[0]);
  CHECK(j.at("bound_with_them_ns").get<double>() ==
        Approx(models[0].fastest_form().bound.sequential.ns + j.at("there_ns").get<double>() +
               j.at("back_ns").get<double>()));
  const result::run cpu = synthetic::fused_run();
  CHECK(report::transfers_line(cpu, pages::analyse(cpu)[0]).empty());
  CHECK(report::transfers_json(cpu, pages::analyse(cpu)[0]).is_null());
}
} // namespace test_of_transfers
