// SPDX-License-Identifier: Apache-2.0
// Is a Winograd that is less exact than its type measured in a class of its own, next to the bound
// and not in it? On the fake GPU, whose engines are one where a script says so.
#include "gpu_engines.hpp"

#include <doctest/doctest.h>

using namespace benanza::test;
using nlohmann::json;

namespace {
const std::string f16 = cudnn_json + "--types f16 --states hot --effort quick ";

/// The rows of one engine, or of a legacy algorithm, as the result has them.
std::vector<json> rows_of(const fake_run& r, const std::string& part) {
  std::vector<json> out;
  for (const json& b : r.result.at("benchmarks"))
    if (holds(b.at("algorithm").get<std::string>() + '_', part)) out.push_back(b);
  return out;
}
} // namespace

TEST_CASE("gpu winograd: less exact than its type it is measured, and competes with its like") {
  const auto engines = engines_of(small_conv, "--types f16");
  REQUIRE(engines.size() >= 4);
  std::string script = "cost 20us\n";
  for (std::size_t i = 0; i < 3; ++i)
    script += engine(engines[i], "winograd");
  script += engine(engines[0], "off 0.003") + engine(engines[0], "cost 4us") +
            engine(engines[1], "off 0.05") + "legacy 7 winograd\nlegacy 7 off 0.003\n";
  const fake_run r({small_conv}, script, f16);
  CHECK(r.ended.status == 1);
  const auto all = [&](std::size_t i) {
    return rows_of(r, "eng" + std::to_string(engines[i]) + '_');
  };
  REQUIRE(!all(0).empty());
  for (const json& row : all(0)) {
    CHECK(row.at("equivalence") == "f16-winograd");
    CHECK(is(row.at("min_ns"), 4e3));
    CHECK(holds(row.at("notes"), "winograd"));
  }
  REQUIRE(!all(1).empty());
  for (const json& row : all(1)) {
    CHECK(row.at("equivalence") == "f16-winograd");
    CHECK(holds(row.at("error_message"), "even for an inexact algorithm (f16-winograd)"));
  }
  REQUIRE(!all(2).empty());
  for (const json& row : all(2)) // as exact as any other
    CHECK(row.at("equivalence") == "f16");
  const auto legacy = rows_of(r, "legacy:winograd_nonfused:default_");
  REQUIRE(!legacy.empty());
  CHECK(legacy[0].at("equivalence") == "f16-winograd");
  CHECK(legacy[0].value("error_message", "").empty());
  CHECK(r.tidy());
}

TEST_CASE("gpu winograd: the bound of f16 is without it, and the page has both") {
  const std::string layer = "Conv/1x1x28x28-8x5x5-s1-p2"; // of the sample's model
  const auto engines = engines_of(layer, "--types f16");
  REQUIRE(engines.size() >= 2);
  const std::int64_t fast = engines[0];
  const scratch_folder s("winograd");
  const fake_run r({},
                   "cost 20us\n" + engine(fast, "winograd") + engine(fast, "off 0.003") +
                       engine(fast, "cost 4us"),
                   f16, BENANZA_BENCH_BINARY);
  std::ofstream(s / "run.json") << r.ended.out;
  const outcome o =
      shell(std::string(BENANZA_ANALYZE_BINARY) + " --format json " + (s / "run.json"));
  CAPTURE(o.err);
  REQUIRE(json::accept(o.out));
  const json analysis = json::parse(o.out);
  bool found = false;
  for (const auto& a : analysis.at("analyses"))
    for (const auto& l : a.at("layers")) {
      if (l.at("layer") != layer || !l.contains("bound")) continue;
      found = true;
      CHECK(is(l.at("bound").at("ns"), 20e3));
      CHECK(l.at("winograd").at("class") == "f16-winograd");
      CHECK(is(l.at("winograd").at("ns"), 4e3));
      CHECK(a.at("bound_with_winograd_ns") < a.at("bound").at("sequential").at("ns"));
    }
  CHECK(found);
  const outcome text = shell(std::string(BENANZA_ANALYZE_BINARY) + ' ' + (s / "run.json"));
  CHECK(holds(text.out, "with f16-winograd"));
}

TEST_CASE("gpu: plans are built ahead by threads that may use all processors of the run") {
  const auto mine = [] {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  }();
  for (const bool in_one_process : {true, false}) {
    const fake_run r({small_conv}, "cost 20us\nbuilds 50ms", f16, layers_bench, in_one_process);
    std::int64_t most = 0;
    for (const json& record : r.records)
      most = std::max<std::int64_t>(most, record.at("plan_processors"));
    CHECK(most == mine);
  }
}
