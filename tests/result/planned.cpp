// SPDX-License-Identifier: Apache-2.0
// Does a run know which cases it set out to measure, whatever took them away, and do parts of it
// become a whole again?
#include "synthetic.hpp"

#include <benanza/result/merge.hpp>
#include <benanza/result/reader.hpp>
#include <benanza/result/writer.hpp>
#include <doctest/doctest.h>

#include <sstream>

namespace test_of_planned {
using namespace benanza::result;

run planned_run() {
  run r = synthetic::small_run();
  planned_cases all;
  for (measurement& m : r.measurements) {
    m.name = m.family + '/' + m.key + '/' + m.type + '/' + m.backend + '/' + m.algorithm + '/' +
             m.state + "/t1";
    ++all[setting_name(m.name)];
  }
  r.provenance["measuring"][planned_fact] = planned_text(all);
  return r;
}

std::int64_t absent_cases(const run& r) {
  std::int64_t n = 0;
  for (const measurement& m : r.measurements)
    if (m.algorithm == absent_name) n += cases_behind(m);
  return n;
}

TEST_CASE("a setting is a case without its algorithm and state") {
  CHECK(setting_name("Relu/8x4/f32/host/plain/hot/t2") == "Relu/8x4/f32/host/t2");
  CHECK(setting_name("odd") == "odd");
  const measurement m = benanza::result::detail::absent_row("Relu/8x4/bf16/host/t2", 3);
  CHECK(m.family == "Relu");
  CHECK(m.key == "8x4");
  CHECK(m.type == "bf16");
  CHECK(m.backend == "host");
  CHECK(m.threads == 2);
  CHECK(not_reached(m));
  CHECK(cases_behind(m) == 3);
}

TEST_CASE("what a result says of its plan comes back, and what says nothing is left out") {
  run r = planned_run();
  std::ostringstream file;
  write(file, r);
  const run again = read(file.str(), "again");
  CHECK(planned_of(again) == planned_of(r));
  CHECK(planned_of(r).size() > 3);
  r.provenance["measuring"][planned_fact] = "\n3\nx Relu\n-1 a/b\n0 c/d\n2 Relu/8/f32/host/t1";
  CHECK(planned_of(r) == planned_cases{{"Relu/8/f32/host/t1", 2}});
}

TEST_CASE("what is absent has a row, and parts of a run are a whole again") {
  const run whole = merge({planned_run()});
  CHECK(absent_cases(whole) == 0);
  run first = planned_run(), second = planned_run();
  std::size_t i = 0;
  std::erase_if(first.measurements, [&](const measurement&) { return i++ % 3 == 0; });
  i = 0;
  std::erase_if(second.measurements, [&](const measurement&) { return i++ % 3 != 0; });
  const auto n = static_cast<std::int64_t>(planned_run().measurements.size());
  CHECK(absent_cases(merge({first})) == (n + 2) / 3);
  CHECK(merge({merge({first}), second}).measurements.size() == whole.measurements.size());
  CHECK(absent_cases(merge({first, second})) == 0);
}

TEST_CASE("a backend that gets its version as a name takes its plan along") {
  run old = planned_run(), now = planned_run();
  old.provenance["software"]["onednn_version"] = "2.6.3";
  now.provenance["software"]["onednn_version"] = "3.7.2";
  CHECK(absent_cases(merge({old, now})) == 0);
  std::erase_if(old.measurements, [](const measurement& m) { return m.family == "Relu"; });
  const run both = merge({old, now});
  CHECK(absent_cases(both) == 1);
  for (const measurement& m : both.measurements)
    if (m.algorithm == absent_name) CHECK(m.backend == "onednn-2.6.3");
}

} // namespace test_of_planned
