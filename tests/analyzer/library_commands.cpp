// SPDX-License-Identifier: Apache-2.0
// What does the command say of libraries: every algorithm of a layer, and how versions compare?
#include "../result/document.hpp"
#include "command.hpp"

#include <benanza/result/json.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

namespace {

using benanza::result::json;
using benanza::result::measurement;
using benanza::result::run;
using benanza::test::analyze;
using benanza::test::holds;
using benanza::test::outcome;

void scale(measurement& m, double factor) {
  for (double& s : m.samples_ns)
    s *= factor;
  m.min_ns = 0;
  benanza::result::recompute(m);
}

/// The small run by two versions of its library: the newer one's times are `factor` as long, but
/// for Relu, which it does in half the time.
run two_versions(double factor) {
  run r = synthetic::small_run();
  const std::size_t n = r.measurements.size();
  for (std::size_t i = 0; i < n; ++i) {
    measurement m = r.measurements[i];
    if (m.backend != "onednn") continue;
    m.backend = "onednn-3.7.2";
    scale(m, m.family == "Relu" ? 0.5 : factor);
    m.name += " 3.7.2";
    r.measurements.push_back(std::move(m));
  }
  r.provenance["software"]["onednn-3.7.2_version"] = "3.7.2";
  return r;
}

} // namespace

TEST_CASE("every algorithm of a layer is listed with its time, or why it has none") {
  run r = synthetic::small_run();
  measurement failed = r.measurements[0];
  failed.algorithm = "broken";
  failed.samples_ns.clear();
  failed.error = "out of\nmemory";
  r.measurements.push_back(failed);
  r.refused = {{"Conv", failed.key, "f32", "onednn", "winograd", "it has none"},
               {"Conv", failed.key, "bf16", "onednn", "winograd", "of another type"}};
  const std::string layer = failed.family + '/' + failed.key;
  const outcome o = analyze({"--algorithms", layer}, synthetic::text(r));
  CHECK(o.status == 0);
  CHECK(holds(o.out, layer + ", f32, 1 thread\n"));
  CHECK(holds(o.out, "broken     out of?memory"));
  CHECK_FALSE(holds(o.out, "out of\nmemory"));
  CHECK(holds(o.out, "winograd   refused: it has none"));
  CHECK_FALSE(holds(o.out, "of another type"));
  CHECK_FALSE(holds(o.out, "benanza_bench --refused"));

  // Ordered by time, the best at 1.00; the same as JSON.
  const json all =
      json::parse(analyze({"--algorithms", layer, "--format", "json"}, synthetic::text(r)).out);
  REQUIRE(all["layers"].size() == 1);
  double last = 0;
  int timed = 0, not_timed = 0;
  for (const json& row : all["layers"][0]["algorithms"])
    if (row.contains("hot_min_ns")) {
      CHECK(row["hot_min_ns"].get<double>() >= last);
      last = row["hot_min_ns"];
      ++timed;
    } else {
      CHECK(row.contains("why_not"));
      ++not_timed;
    }
  CHECK(timed >= 2);
  CHECK(not_timed == 2);

  // By a node's name, and without what was refused.
  const std::string node = r.graphs[0].nodes[0].name;
  r.refused.clear();
  const outcome by_node = analyze({"--algorithms", node}, synthetic::text(r));
  CHECK(by_node.status == 0);
  CHECK(holds(by_node.out, "benanza_bench --refused"));
  const outcome none = analyze({"--algorithms", "NoSuchLayer"}, synthetic::text(r));
  CHECK(none.status == 2);
  CHECK(holds(none.err, "NoSuchLayer"));
}

TEST_CASE("versions of a library are compared model by model and layer by layer") {
  const outcome o = analyze({"--versions"}, synthetic::text(two_versions(1.2)));
  CHECK(o.status == 0);
  CHECK(holds(o.out, "onednn: the bound of each model by one version alone, and by all;"));
  CHECK(holds(o.out, "Layers that are slower in 3.7.2 than in 2.6.3"));
  CHECK(holds(o.out, "Layers that are faster in 3.7.2 than in 2.6.3"));
  const json all = json::parse(
      analyze({"--versions", "--format", "json"}, synthetic::text(two_versions(1.2))).out);
  const json& its = all["libraries"][0];
  CHECK(its["versions"][0]["version"] == "2.6.3");
  CHECK(its["versions"][1]["backend"] == "onednn-3.7.2");
  for (const json& m : its["models"]) {
    // All versions together are at least as fast as each alone.
    int won = m["nodes_won_by_others"];
    for (const json& by : its["by_version"]) {
      if (by["model"] != m["model"]) continue;
      CHECK(m["together_ns"].get<double>() <= by["alone_ns"].get<double>() * (1 + 1e-9));
      won += by["nodes_won"].get<int>();
      if (by["version"] == "3.7.2") CHECK(by["nodes_won"].get<int>() > 0); // Relu
    }
    CHECK(won == m["nodes"].get<int>());
  }
  for (const char* part : {"slower", "faster"}) {
    CHECK(its[part].size() >= 1);
    for (const json& c : its[part]) {
      const double factor = c["new_ns"].get<double>() / c["old_ns"].get<double>();
      CHECK(factor == doctest::Approx(c["layer"].get<std::string>().starts_with("Relu") ? 0.5 : 1.2)
                          .epsilon(0.01));
    }
  }

  const outcome one = analyze({"--versions"}, synthetic::text(synthetic::small_run()));
  CHECK(one.status == 2);
  CHECK(holds(one.err, "one version of each library"));
}

TEST_CASE("results of two versions are one answer, whichever file comes first") {
  benanza::test::scratch_folder f("versions");
  run newer = synthetic::small_run();
  newer.provenance["software"]["onednn_version"] = "3.7.2";
  for (measurement& m : newer.measurements)
    if (m.backend == "onednn") scale(m, 0.9);
  std::ofstream(f / "a.json") << synthetic::text(synthetic::small_run());
  std::ofstream(f / "b.json") << synthetic::text(newer);
  const outcome ab = analyze({f / "a.json", f / "b.json", "--format", "json"});
  CHECK(ab.status == 0);
  CHECK(holds(ab.out, "onednn-3.7.2"));
  const outcome ba = analyze({f / "b.json", f / "a.json", "--format", "json"});
  CHECK(json::parse(ab.out)["models"] == json::parse(ba.out)["models"]);
}
