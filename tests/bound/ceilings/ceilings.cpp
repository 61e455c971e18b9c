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
  std::map<std::string, latency_fit> copy;
  for (const level_fit& f : c.fits())
    if (f.kind == "read") copy[f.level] = f.line;
  REQUIRE(copy.size() == 3); // two sizes in L1 and in memory: too few beside the edges
  CHECK(copy.count("L1") == 1);
  for (const auto& [name, rate] :
       std::map<std::string, double>{{"L1", 400}, {"L2", 200}, {"L3", 100}}) {
    const std::string& level = name; // what CAPTURE takes
    CAPTURE(level);
    REQUIRE(copy.count(level) == 1);
    CHECK(copy[level].bytes_per_ns == Approx(rate).epsilon(1e-3));
    CHECK(copy[level].alpha_ns == Approx(synthetic::machine_alpha_ns).epsilon(0.02));
    CHECK(copy[level].residual < 1e-3);
  }
}

TEST_CASE("without the caches' sizes the knees of the curve stand in") {
  auto r = synthetic::machine_run();
  for (const char* fact : {"l1d_bytes", "l2_bytes", "llc_bytes"})
    r.provenance["machine"].erase(fact);
  const cache_levels found = ceilings(r).levels(1);
  REQUIRE(found.caches().size() == 3);
  CHECK(found.caches()[0].bytes == 32768);
  CHECK(found.caches()[1].bytes == 1 << 20);
  CHECK(found.caches()[2].bytes == 32 << 20);
}

TEST_CASE("messages have one line for all their sizes") {
  auto r = synthetic::empty_run();
  for (std::int64_t n : {4096, 65536, 1 << 20})
    r.measurements.push_back(synthetic::machine_case(
        result::text({"process", n}), 300 + static_cast<double>(n) / 5, 0, 2 * n, "f32", 2));
  const auto fits = ceilings(r).fits();
  REQUIRE(fits.size() == 1);
  CHECK(fits[0].level == "all");
  CHECK(fits[0].line.bytes_per_ns == Approx(5).epsilon(1e-3));
  CHECK(fits[0].line.alpha_ns == Approx(300).epsilon(1e-2));
}

TEST_CASE("each way of a kind of message has a line of its own") {
  auto r = synthetic::empty_run();
  for (std::int64_t n : {1 << 20, 16 << 20, 128 << 20})
    for (const double rate : {2.0, 16.0})
      r.measurements.push_back(synthetic::machine_case(
          result::text({"first_touch", n}), 5000 + static_cast<double>(n) / rate, 0, n, "f32", 1,
          rate < 4 ? "small_pages" : "huge_pages"));
  const ceilings c(r);
  REQUIRE(c.message("first_touch", "small_pages"));
  CHECK(c.message("first_touch", "small_pages")->bytes_per_ns == Approx(2).epsilon(1e-3));
  CHECK(c.message("first_touch", "huge_pages")->bytes_per_ns == Approx(16).epsilon(1e-3));
  CHECK(c.message("first_touch", "huge_pages")->half_bytes() == Approx(5000 * 16).epsilon(1e-2));
  CHECK_FALSE(c.message("process"));
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
