// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/machine.hpp"
#include "analyzer/report/tables/formats.hpp"
#include "analyzer/report/units.hpp"
#include "bound/machine_run.hpp"
#include "program.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace benanza;
using namespace benanza::report;

namespace {
using benanza::test::holds;

result::run whole_machine() {
  auto r = synthetic::machine_run();
  for (std::int64_t n : {4096, 65536, 1 << 20})
    r.measurements.push_back(synthetic::machine_case(
        result::text({"process", n}), 300 + static_cast<double>(n) / 5, 0, 4 * n, "f32", 2));
  return r;
}

std::string machine_page(const result::run& r, bool details = false) {
  return tables::text_of(machine_answer(r, details));
}

std::string machine_values(const result::run& r) {
  return tables::json_of(machine_answer(r));
}

/// The only line of a page that begins so.
std::string line_of(const std::string& page, const std::string& begin) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) return line;
  return {};
}
} // namespace

TEST_CASE("bytes are shown in the unit that suits them") {
  CHECK(show_bytes(0) == "0 B");
  CHECK(show_bytes(1000) == "1000 B");
  CHECK(show_bytes(4096) == "4 KiB");
  CHECK(show_bytes(1536) == "1.50 KiB");
  CHECK(show_bytes(128 << 20) == "128 MiB");
  CHECK(show_bytes(96.5 * 1048576) == "96.5 MiB");
}

TEST_CASE("the page has peaks, bandwidths with the caches marked, lines, overheads, absences") {
  const std::string page = machine_page(whole_machine(), true);
  const std::string shorter = machine_page(whole_machine());
  CHECK_FALSE(holds(shorter, "alpha"));
  CHECK(holds(shorter, "--details"));
  for (const char* part : {"GFLOP/s", "bf16", "100.0", "200.0", "-- L1: 32 KiB --",
                           "-- L2: 1 MiB --", "-- L3: 32 MiB --", "128 MiB", "alpha", "process",
                           "150 ns", "- Absent: copies between NUMA nodes", "at most"})
    CHECK_MESSAGE(holds(page, part), part, "\n", page);
  CHECK(page.find("-- L1") < page.find(" 64 KiB"));
  CHECK(page.find(" 32 KiB ") < page.find("-- L1"));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);)
    CHECK_MESSAGE(line.size() <= columns, line);
}

TEST_CASE("levels have a line with its error, or what was measured and why there is none") {
  auto r = whole_machine();
  for (synthetic::measurement& m : r.measurements)
    if (m.key == "copy-262144") m.min_ns *= 2;
  const std::string page = machine_page(r, true);
  CAPTURE(page);
  const auto row = [&](const std::string& begin) { // with one space between its cells
    std::istringstream words(line_of(page, begin));
    std::string out;
    for (std::string word; words >> word;)
      out += (out.empty() ? "" : " ") + word;
    return out;
  };
  CHECK(row("t = ") == "t = alpha + moved / beta t alpha beta, GB/s n_half off by");
  CHECK(row("read L1").starts_with("read L1 1 20.0 ns 400.0 7.81 KiB"));
  CHECK(row("read L3") == "read L3 1 below 1.27 us 100.0 - 0.1 %");
  CHECK(row("read memory") == "read memory 1 - 25.0 - 2 sizes");
  CHECK(row("copy L2") == "copy L2 1 - 79.0 to 159.0 - 45.4 %");
  CHECK(holds(page, "a copy of 1 KiB moves 2 KiB."));
  CHECK(row("process 16 KiB").find(" 1.12 us 14.6 2 threads") !=
        std::string::npos); // a message of 4 KiB, in and out, read and written
}

TEST_CASE("what is faster than the sweeps that rooflines rest on is named") {
  auto r = whole_machine();
  CHECK_FALSE(holds(machine_page(r, true), "beyond"));
  r.measurements.push_back(synthetic::machine_case("malloc-134217728", 1e6, 0, 128 << 20));
  CHECK(holds(machine_page(r, true), "beyond \"at most\": malloc plain memory."));
}

TEST_CASE("the page of a GPU has what people ask for first, in the units of one") {
  auto r = whole_machine();
  r.provenance["machine"]["gpu"] = "H200";
  std::erase_if(r.measurements, [](const auto& m) { return m.key == "fma"; }); // a CPU's
  const auto put = [&r](const char* key, double ns, std::int64_t flops, const char* type = "f32") {
    r.measurements.push_back(synthetic::machine_case(key, ns, flops, 0, type));
  };
  put("matmul", 1e6, 700'000'000'000, "f16");
  put("kernel_launch", 2100, 0);
  put("graph_gap", 1200, 0);
  put("event_pair", 1500, 0);
  put("host_to_device_pinned-65536", 3000, 0);
  const std::string page = machine_page(r, true);
  CAPTURE(page);
  std::size_t at = 0;
  for (const char* part :
       {"TFLOP/s", "matmul  the fastest", "700.0", "TB/s  t1", "-- L2", "1.20 us", "1.50 us",
        "2.10 us", "call", "graph_gap: from the last instruction", "t = alpha + moved / beta",
        "host_to_device_pinned"}) {
    CAPTURE(part);
    const std::size_t next = page.find(part, at);
    REQUIRE(next != std::string::npos);
    at = next;
  }
  CHECK(holds(page, "crosses the link."));
  CHECK_FALSE(holds(page, "fma"));
}

TEST_CASE("the JSON says the same") {
  const auto j = nlohmann::json::parse(machine_values(whole_machine()));
  CHECK(j.at("peaks").size() == 3);
  CHECK(j.at("peaks")[0].at("flops_per_ns") == 100);
  CHECK(j.at("bandwidth").size() == 32);
  for (const auto& b : j.at("bandwidth"))
    CHECK(b.at("bytes_per_ns") <= b.at("at_most_bytes_per_ns"));
  CHECK(j.at("fits").size() >= 8);
  for (const auto& f : j.at("fits")) {
    CAPTURE(f.dump());
    CHECK(f.at("slowest_bytes_per_ns") <= f.at("fastest_bytes_per_ns"));
    CHECK(f.at("bytes_per_ns").is_null() == (f.at("sizes") < 3));
    CHECK(f.at("bytes_per_ns").is_null() == f.at("off_by").is_null());
    CHECK(f.at("alpha_ns").is_null() == (f.at("level") != "L1" || f.at("threads") == 2));
  }
  CHECK(j.at("overheads").size() == 4);
  for (const auto& o : j.at("overheads"))
    CHECK(o.at("moved_bytes") == (o.at("kind") == "process" ? 4 * o.at("bytes").get<double>() : 0));
  CHECK(j.at("absent").size() == 1);
  CHECK(j.at("faults").empty());
}

TEST_CASE("a run without the machine is refused with the command that measures it") {
  for (const auto& r : {synthetic::small_run(), synthetic::empty_run()}) {
    CHECK_THROWS_WITH_AS(machine_page(r), doctest::Contains("benchmark_filter=^machine/"), error);
    CHECK_THROWS_AS(machine_values(r), error);
  }
}

TEST_CASE("failed cases and what beats the ceilings are on the page") {
  auto r = whole_machine();
  CHECK(machine_shortfall(r).empty());
  r.measurements.front().error = "it went\naway";
  CHECK(holds(machine_shortfall(r), "1 case of the machine failed"));
  CHECK(holds(machine_page(r), "went?away"));
  synthetic::add(r, synthetic::conv, "impossible", 0, 1000);
  CHECK(holds(machine_page(r), "Measuring fault"));
  CHECK(nlohmann::json::parse(machine_values(r)).at("faults").size() == 1);
}

TEST_CASE("a case name from a file cannot steer a terminal") {
  auto r = synthetic::empty_run();
  r.measurements = {synthetic::machine_case("fma\x1b[2J", 1, 1, 1, "f32", 1, "a\x1b[2J")};
  CHECK_FALSE(holds(machine_page(r), "\x1b"));
}
