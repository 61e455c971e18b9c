// SPDX-License-Identifier: Apache-2.0
// Does a result name the kernels that really ran, seen in a process of its own that times nothing,
// and is a profiler that is absent, refuses or errs no more than a reason?
#include "fake_gpu.hpp"

#include <benanza/result/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace benanza::test;
using nlohmann::json;

namespace {
const std::string all_json = "--backends cudnn --benchmark_format=json --states hot ";

/// True where the fake GPU plays CUPTI too: it needs CUPTI's header for that.
bool fake_records() {
  static const bool here = [] {
    const std::string symbols = text_of(fake_gpu);
    return symbols.find("cuptiActivityFlushAll") != symbols.npos;
  }();
  return here;
}

/// Two engines of the small convolution.
std::pair<std::int64_t, std::int64_t> two_engines() {
  static const auto two = [] {
    const fake_run r({small_conv}, "", all_json);
    std::set<std::int64_t> engines;
    for (const gpu_row& row : r.rows)
      if (row.engine >= 0) engines.insert(row.engine);
    REQUIRE(engines.size() >= 2);
    return std::pair(*engines.begin(), *std::next(engines.begin()));
  }();
  return two;
}

std::string filter_of(std::int64_t a, std::int64_t b) {
  return " --benchmark_filter='^[A-Z].*eng(" + std::to_string(a) + '|' + std::to_string(b) +
         ")[_/]'";
}

std::string fact_of(const fake_run& r) {
  return r.result.at("context").at("benanza").at("provenance").at("measuring").value("kernels", "");
}
} // namespace

TEST_CASE("gpu: the winner's kernels are in all of its rows, and in no others" *
          doctest::skip(!fake_records())) {
  const auto engines = two_engines();
  const auto &slow = engines.first, &fast = engines.second; // clang 14 captures no bindings
  // The fast engine splits: products, then a sum.
  const std::string engine = "engine " + std::to_string(fast);
  const std::string script = "cost 20us\n" + engine + " cost 8us\n" + engine +
                             " runs volta_h884gemm_64x64_nt "
                             "_ZN8cublasLt19splitKreduce_kernelILi32ELi16EiffEEvi\n" +
                             engine + " counts 62.5 9000 80";
  const fake_run r({small_conv}, script,
                   "--backends cudnn --benchmark_format=json --states hot,coldw" +
                       filter_of(slow, fast),
                   layers_bench, true, fake_gpu);
  CAPTURE(r.ended.err);
  CHECK(r.ended.status == 0);
  CHECK(fact_of(r) == "CUPTI 13.0");
  std::set<std::string> states;
  for (const json& row : r.result.at("benchmarks")) {
    const bool is_fast = engine_in(row.at("algorithm")) == fast;
    CAPTURE(row.dump());
    if (!row.contains("kernels")) continue;
    CHECK(is_fast);
    states.insert(row.at("state"));
    const json& kernels = row.at("kernels");
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].at("name") == "volta_h884gemm_64x64_nt");
    CHECK(kernels[0].at("grid") == json({132, 2, 1}));
    CHECK(kernels[0].at("block") == json({256, 1, 1}));
    CHECK(kernels[0].at("registers") == 128);
    CHECK(kernels[0].at("shared_bytes") == 49 * 1024);
    CHECK(kernels[0].at("ns") == 4000);
    CHECK(kernels[1].at("name") == "cublasLt::splitKreduce_kernel<32, 16, int, float, float>");
    CHECK(row.at("tensor_pipe_percent") == 62.5);
    CHECK(row.at("dram_read_bytes") == 9000);
    CHECK(row.at("dram_written_bytes") == 80);
    CHECK(row.at("active_cycles") == 8 * 1980); // 8 us
    // What was read is what was written.
    const auto m = benanza::result::measurement_from_json(row, "test");
    CHECK(json(benanza::result::to_json(m.kernels)) == kernels);
    CHECK(m.counters.active_cycles == 8 * 1980);
  }
  CHECK(states == std::set<std::string>{"hot", "coldw"});
  // Two processes: CUPTI was in one, which replayed nothing; the other was without.
  REQUIRE(r.records.size() == 2);
  for (const json& one : r.records)
    CHECK(one.at("executions").contains("cupti") == (one.at("graphs_launched") == 0));
}

TEST_CASE("gpu: kernels of all algorithms, or of none" * doctest::skip(!fake_records())) {
  const auto engines = two_engines();
  const auto &slow = engines.first, &fast = engines.second; // clang 14 captures no bindings
  const auto named = [&](const std::string& whose) {
    const fake_run r({small_conv}, "cost 20us",
                     all_json + "--kernels " + whose + filter_of(slow, fast), layers_bench, true,
                     fake_gpu);
    CHECK(r.ended.status == 0);
    return std::pair(std::ranges::count_if(r.result.at("benchmarks"),
                                           [](const json& row) {
                                             return row.contains("kernels");
                                           }) == static_cast<std::ptrdiff_t>(r.rows.size()),
                     r.records.size());
  };
  CHECK(named("all") == std::pair(true, std::size_t{2}));
  CHECK(named("none") == std::pair(false, std::size_t{1}));
}

TEST_CASE("gpu: a profiler that is absent, refuses or errs costs names, and no case") {
  const auto engines = two_engines();
  const auto &slow = engines.first, &fast = engines.second; // clang 14 captures no bindings
  const auto told = [&](const std::string& rule, const std::string& cupti, bool asked = false) {
    const fake_run r({small_conv}, "cost 20us\n" + rule,
                     all_json + (asked ? "--kernels winners" : "") + filter_of(slow, fast),
                     layers_bench, true, cupti);
    CHECK(r.ended.status == 0);
    CHECK(asked == one_line(r.ended.err));
    for (const gpu_row& row : r.rows)
      CHECK(row.error == "");
    for (const json& row : r.result.at("benchmarks"))
      CHECK_FALSE(row.contains("kernels"));
    return fact_of(r);
  };
  CHECK(told("", "", true) == "not seen: no CUPTI");
  CHECK(told("", "/no/libcupti.so") == "not seen: no CUPTI (/no/libcupti.so was not found)");
  if (!fake_records()) return;
  CHECK(holds(told("cupti refuses", fake_gpu),
              "not seen: CUPTI does not record kernels: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
  CHECK(holds(told("cupti cut-off", fake_gpu), "CUPTI: a record is cut off"));
  CHECK(holds(told("cupti drops", fake_gpu), "3 records of kernels were lost"));
}

TEST_CASE("gpu: a look that loses the device or ends the process costs names, and no case" *
          doctest::skip(!fake_records())) {
  const auto engines = two_engines();
  const auto &slow = engines.first, &fast = engines.second; // clang 14 captures no bindings
  // The process that measures runs each engine more often than the one that looks.
  const fake_run lost({small_conv}, "cost 20us\ncupti loses-device",
                      all_json + filter_of(slow, fast), layers_bench, true, fake_gpu);
  CHECK(lost.ended.status == 0);
  for (const json& row : lost.result.at("benchmarks"))
    CHECK_FALSE(row.contains("kernels"));
  CHECK(holds(fact_of(lost), "CUPTI 13.0; not seen of "));
  const fake_run died({small_conv, "Relu/1x8x8x8"}, "cost 20us\ncupti ends-process",
                      all_json + filter_of(slow, fast), layers_bench, true, fake_gpu);
  CHECK(died.ended.status == 0);
  CHECK(holds(fact_of(died), "the library ended the process with exit status 3"));
}

TEST_CASE("gpu: counters that are forbidden, or that end their process, cost no names" *
          doctest::skip(!fake_records())) {
  const auto engines = two_engines();
  const auto &slow = engines.first, &fast = engines.second; // clang 14 captures no bindings
  const auto told = [&](const std::string& rule) {
    const fake_run r({small_conv}, "cost 20us\n" + rule,
                     all_json + "--kernels all" + filter_of(slow, fast), layers_bench, true,
                     fake_gpu);
    CHECK(r.ended.status == 0);
    for (const json& row : r.result.at("benchmarks")) {
      CHECK(row.contains("kernels"));
      CHECK_FALSE(row.contains("active_cycles"));
    }
    return fact_of(r);
  };
  CHECK(told("cupti counters-refused") ==
        "CUPTI 13.0; counters not read: CUPTI does not read counters: "
        "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: the driver lets administrators alone profile");
  CHECK(holds(told("cupti counters-end-process"),
              "counters not read: the library ended the process with exit status 4"));
  CHECK(holds(told("cupti counters-lose-device"), "CUPTI 13.0; counters not read: "));
}
