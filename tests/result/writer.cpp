// SPDX-License-Identifier: Apache-2.0
// Does what was written come back through the reader, failed cases and odd texts too?
#include "synthetic.hpp"

#include <benanza/result/reader.hpp>
#include <benanza/result/writer.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using benanza::result::run;
using benanza::result::to_json;

namespace {

run trip(const run& r) {
  std::stringstream text;
  benanza::result::write(text, r);
  return benanza::result::read(text, "written");
}

} // namespace

TEST_CASE("a run comes back from its file as it was") {
  run r = synthetic::small_run();
  r.measurements[0].error = "out of \"memory\"\n";
  r.measurements[1].samples_ns[1] = 1.0 / 3;
  r.provenance["measuring"]["remark"] = "caf\xc3\xa9";
  const run back = trip(r);
  CHECK(back.provenance == r.provenance);
  REQUIRE(back.graphs.size() == 1);
  CHECK(to_json(back.graphs[0]) == to_json(r.graphs[0]));
  REQUIRE(back.measurements.size() == r.measurements.size());
  for (std::size_t i = 0; i < r.measurements.size(); ++i)
    CHECK(to_json(back.measurements[i]) == to_json(r.measurements[i]));
}

TEST_CASE("a run without measurements is written too") {
  CHECK(trip(synthetic::empty_run()).measurements.empty());
}

TEST_CASE("an entry has what Google Benchmark's tools ask for") {
  const auto j = benanza::result::entry_of(synthetic::small_run().measurements[0]);
  for (const char* key : {"name", "run_name", "run_type", "iterations", "real_time", "cpu_time",
                          "time_unit", "repetition_index"})
    CHECK(j.contains(key));
  CHECK(j["real_time"] == j["median_ns"]);
}
