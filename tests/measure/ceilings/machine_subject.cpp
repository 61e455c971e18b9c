// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/ceilings/machine_subject.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

namespace {
class counted_run final : public timed_run {
public:
  counted_run()
      : timed_run("counting") {}
  std::int64_t executions = 0, most = 0;

private:
  void go(std::int64_t times) override {
    executions += times;
    most = std::max(most, times);
    for (std::int64_t i = 0; i < 50 * times; ++i)
      asm volatile("");
  }
};

class named_subject final : public machine_subject {
public:
  using machine_subject::machine_subject;
  ready_case ready(const bench_case&) override { return {std::make_unique<counted_run>()}; }
};
} // namespace

TEST_CASE("a short execution is timed many at once, and given for those asked for") {
  counted_run r;
  r.settle();
  CHECK(r.most > 16);
  r.executions = 0;
  const double one = r.time(1);
  CHECK(r.executions > 16);
  CHECK(one > 0);
  double least = one;
  for (int i = 0; i < 20; ++i)
    least = std::min(least, r.time(1));
  CHECK(least < 25e3); // far less than the many that were executed
  r.executions = 0;
  r.run(3);
  CHECK(r.executions == 3);
  CHECK(r.ran() == "counting");
}

TEST_CASE("cases are named like a layer's") {
  const named_subject s({"copy", 4096}, numeric::f32, 2, 0.5);
  const bench_case c = own_case(s, "avx512");
  CHECK(c.name == "machine/copy-4096/f32/machine/avx512/hot/t2");
  CHECK(c.algorithm.equivalence == "f32");
  CHECK(s.time_share == 0.5);
  CHECK(machine_case(s, "lib", {.id = "a/b c"}).name == "machine/copy-4096/f32/lib/a_b_c/hot/t2");
}
