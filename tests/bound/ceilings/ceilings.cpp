// SPDX-License-Identifier: Apache-2.0
#include "bound/machine_run.hpp"
#include <benanza/bound/ceilings/ceilings.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::bound;
using doctest::Approx;

TEST_CASE("the peak of a type is its fastest case, and a type that was not measured has none") {
  const ceilings c(synthetic::machine_run());
  CHECK(c.peak_flops_per_ns(numeric::f32, 1) == 100);
  CHECK(c.peak_flops_per_ns(numeric::bf16, 1) == 200);
  CHECK(c.peak_flops_per_ns(numeric::u8s8u8, 1) == 0);
  CHECK(c.peak_flops_per_ns(numeric::f32, 2) == 0);
  CHECK(c.known(numeric::f32, 1));
  CHECK_FALSE(c.known(numeric::f16, 1));
  CHECK_FALSE(c.known(numeric::f32, 2));
  REQUIRE(c.peaks().at({numeric::f32, 1}).size() == 2);
  CHECK(c.peaks().at({numeric::f32, 1})[0].kind == "fma");
  CHECK(c.peaks().at({numeric::f32, 1})[1].kind == "matmul");
}

TEST_CASE("a call's arithmetic is no peak") {
  auto r = synthetic::empty_run();
  r.measurements = {synthetic::machine_case("call", 1, 1'000'000, 128)};
  CHECK(ceilings(r).peak_flops_per_ns(numeric::f32, 1) == 0);
  REQUIRE(ceilings(r).overheads().size() == 1);
  CHECK(ceilings(r).overheads()[0].ns == 1);
}

TEST_CASE("the bandwidth between two sizes is no less than at either, and never rises") {
  const ceilings c(synthetic::machine_run());
  CHECK(c.bytes_per_ns(100'000, 1) >= c.bytes_per_ns(131072, 1));
  double before = c.bytes_per_ns(0, 1);
  CHECK(before > 300);
  for (double bytes = 1000; bytes < 1e9; bytes *= 1.1) {
    const double rate = c.bytes_per_ns(bytes, 1);
    CHECK(rate <= before * (1 + 1e-12));
    CHECK(rate > 24);
    before = rate;
  }
  for (const auto& [where, points] : c.curves())
    for (const bandwidth& b : points)
      CHECK(b.bytes_per_ns() <= c.bytes_per_ns(b.working_set_bytes, 1) * (1 + 1e-12));
  CHECK(c.bytes_per_ns(1e12, 1) == Approx(25).epsilon(1e-3));
  CHECK(c.bytes_per_ns(4096, 3) == 0);
}

TEST_CASE("what fits a faster level may stay there") {
  auto r = synthetic::empty_run();
  r.measurements = {synthetic::machine_case("read-1000", 10, 0, 1000),
                    synthetic::machine_case("read-2000", 200, 0, 2000)};
  const ceilings c(r); // 100 a ns, then 10
  CHECK(c.bytes_per_ns(500, 1) == Approx(100));
  CHECK(c.bytes_per_ns(1999, 1) == Approx(100));
  CHECK(c.bytes_per_ns(3000, 1) == Approx(3000 / (1000 / 100.0 + 2000 / 10.0)));
}

TEST_CASE("of two algorithms of a kind the faster one is the curve's") {
  auto r = synthetic::empty_run();
  r.measurements = {synthetic::machine_case("copy-4096", 100, 0, 4096, "f32", 1, "a"),
                    synthetic::machine_case("copy-4096", 50, 0, 4096, "f32", 1, "b"),
                    synthetic::machine_case("copy-4096", 70, 0, 4096, "f32", 1, "c")};
  const ceilings c(r);
  REQUIRE(c.curves().at({"copy", 1}).size() == 1);
  CHECK(c.curves().at({"copy", 1})[0].algorithm == "b");
}

TEST_CASE("each level has its line, found again from what the times were made of") {
  const ceilings c(synthetic::machine_run());
  std::map<std::string, level_fit> read;
  for (const level_fit& f : c.fits())
    if (f.kind == "read") read[f.level] = f;
  REQUIRE(read.size() == 4);
  for (const auto& [name, rate] :
       std::map<std::string, double>{{"L1", 400}, {"L2", 200}, {"L3", 100}}) {
    const std::string& level = name; // what CAPTURE takes
    CAPTURE(level);
    REQUIRE(read.count(level) == 1);
    const level_fit& f = read[level];
    REQUIRE(f.line);
    CHECK(f.sizes >= 3);
    CHECK(*f.off_by < 0.04);
    CHECK(f.line->bytes_per_ns == Approx(rate).epsilon(0.04));
    CHECK(f.line->alpha_below_ns > synthetic::machine_alpha_ns);
    // 20 ns do not show in 200 us in L3; in 10 ns in L1 they do.
    CHECK(f.line->alpha_known == (level == "L1"));
  }
  CHECK(read["L1"].line->alpha_ns == Approx(synthetic::machine_alpha_ns));
  REQUIRE(read["L1"].half_bytes());
  CHECK(*read["L1"].half_bytes() == Approx(8000));
  const level_fit& memory = read["memory"]; // two sizes: no line, but what was measured
  CHECK(memory.sizes == 2);
  CHECK_FALSE(memory.off_by);
  CHECK_FALSE(memory.line);
  CHECK(memory.slowest_per_ns == Approx(25).epsilon(1e-3));
}

TEST_CASE("no line is shown that is more than 15 % off a time; what was measured is") {
  auto r = synthetic::machine_run();
  for (synthetic::measurement& m : r.measurements)
    if (m.key == "read-262144") m.min_ns *= 1.5; // in L2, as are 64, 128 and 512 KiB
  for (const level_fit& f : ceilings(r).fits())
    if (f.kind == "read" && f.level == "L2") {
      CHECK_FALSE(f.line);
      CHECK_FALSE(f.half_bytes());
      REQUIRE(f.off_by);
      CHECK(*f.off_by > most_off_by);
      CHECK(f.slowest_per_ns == Approx(262144 / (1.5 * (20 + 262144 / 200.0))));
      CHECK(f.fastest_per_ns == Approx(524288 / (20 + 524288 / 200.0)));
    }
}

TEST_CASE("half of the rate is reached at a size of the level, or at none that is named") {
  auto r = synthetic::machine_run();
  std::erase_if(r.measurements, [](const auto& m) { return m.key.starts_with("copy-"); });
  for (std::int64_t n = 65536; n <= 524288; n *= 2) // 300 ns: half of 200 a ns at 60000 bytes
    r.measurements.push_back(synthetic::machine_case(result::text({"copy", n}),
                                                     300 + static_cast<double>(n) / 200, 0, n));
  for (const level_fit& f : ceilings(r).fits())
    if (f.kind == "copy") {
      REQUIRE(f.line);
      CHECK(f.line->alpha_ns == Approx(300));
      CHECK(f.line->half_bytes() == Approx(60000)); // in L1, or near its edge
      CHECK_FALSE(f.half_bytes());
    }
}

TEST_CASE("without the caches' sizes the knees of the curve are taken") {
  auto r = synthetic::machine_run();
  for (const char* fact : {"l1d_bytes", "l2_bytes", "llc_bytes"})
    r.provenance["machine"].erase(fact);
  const cache_levels found = ceilings(r).levels(1);
  REQUIRE(found.caches().size() == 3);
  CHECK(found.caches()[0].bytes == 32768);
  CHECK(found.caches()[1].bytes == 1 << 20);
  CHECK(found.caches()[2].bytes == 32 << 20);
}

TEST_CASE("messages belong to levels by the bytes that they move, and these are their rate") {
  auto r = synthetic::machine_run();
  for (std::int64_t n = 65536; n <= 524288; n *= 2) // moved; half of them copied
    r.measurements.push_back(synthetic::machine_case(result::text({"memcpy_flushed", n / 2}),
                                                     1000 + static_cast<double>(n) / 40, 0, n));
  const auto fits = ceilings(r).fits();
  const auto found = std::find_if(fits.begin(), fits.end(),
                                  [](const auto& f) { return f.kind == "memcpy_flushed"; });
  REQUIRE(found != fits.end());
  CHECK(found->level == "L2");
  CHECK(found->sizes == 4);
  CHECK(found->least_bytes == 65536);
  REQUIRE(found->line);
  CHECK(found->line->bytes_per_ns == Approx(40));
  CHECK(found->line->alpha_ns == Approx(1000));
  const ceilings c(r);
  for (const overhead& o : c.overheads())
    if (o.kind == "memcpy_flushed") CHECK(o.moved_bytes == 2.0 * static_cast<double>(o.bytes));
}

TEST_CASE("between GPU and host no cache makes levels; each way has a line of its own") {
  auto r = synthetic::machine_run();
  for (std::int64_t n : {65536, 1 << 20, 16 << 20})
    for (const double rate : {2.0, 16.0}) {
      r.measurements.push_back(synthetic::machine_case(result::text({"host_to_device", n}),
                                                       5000 + static_cast<double>(n) / rate, 0, n,
                                                       "f32", 1, rate < 4 ? "slow" : "fast"));
      r.measurements.back().device = result::gpu_device;
    }
  std::map<std::string, level_fit> ways;
  for (const level_fit& f : ceilings(r).fits())
    if (f.kind == "host_to_device") ways[f.way] = f;
  REQUIRE(ways.size() == 2);
  for (const auto& [name, f] : ways) {
    const std::string& way = name;
    CAPTURE(way);
    CHECK(f.level == "all");
    REQUIRE(f.line);
    CHECK(f.line->alpha_ns == Approx(5000));
    CHECK(f.line->bytes_per_ns == Approx(way == "slow" ? 2 : 16));
  }
  REQUIRE(ways["fast"].half_bytes());
  CHECK(*ways["fast"].half_bytes() == Approx(80000));
  CHECK_FALSE(ways["slow"].half_bytes()); // 10000: less than any size
}

TEST_CASE("what a message takes is interpolated between the sizes that were measured") {
  auto r = synthetic::empty_run();
  for (const auto& [n, ns] : std::map<std::int64_t, double>{{1000, 10}, {3000, 30}, {9000, 60}})
    r.measurements.push_back(synthetic::machine_case(result::text({"process", n}), ns, 0, 4 * n));
  const ceilings c(r);
  CHECK(*c.message_ns("process", 10) == Approx(10));
  CHECK(*c.message_ns("process", 1000) == Approx(10));
  CHECK(*c.message_ns("process", 2000) == Approx(20));
  CHECK(*c.message_ns("process", 6000) == Approx(45));
  CHECK(*c.message_ns("process", 90000) == Approx(600));
  CHECK_FALSE(c.message_ns("malloc", 1000));
}

TEST_CASE("failed cases, other families and odd keys are left out") {
  auto r = synthetic::small_run();
  synthetic::measurement bad = synthetic::machine_case("fma", 1, 1'000'000, 0);
  bad.error = "interrupted";
  r.measurements.push_back(bad);
  CHECK(ceilings(r).empty());
  r.measurements.push_back(synthetic::machine_case("copy-x", 1, 0, 4096));
  r.measurements.push_back(synthetic::machine_case("copy-4096", 1, 0, 0));
  r.measurements.push_back(synthetic::machine_case("fma", 1, 0, 0));
  const ceilings c(r);
  CHECK(c.peaks().empty());
  CHECK(c.curves().empty());
  CHECK(ceilings(synthetic::machine_run()).absent().find("NUMA") != std::string::npos);
}
