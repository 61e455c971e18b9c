// SPDX-License-Identifier: Apache-2.0
// Does the same question have the same answer in every command and format, whatever was measured?
// Random times of models, some with a fused form, some with a rewritten graph, are read by all.
#include "../result/document.hpp"
#include "analyzer/report/units.hpp"
#include "command.hpp"

#include <benanza/result/json.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace test_of_agreement {
using benanza::result::json;
using benanza::result::run;
using benanza::test::analyze;
using benanza::test::holds;
using benanza::test::outcome;
using benanza::test::scratch_folder;

/// A result of models whose cases take other times each round.
run random_run(int round) {
  synthetic::random dice{100u + static_cast<unsigned>(round)};
  run r = round % 3 == 0   ? synthetic::fused_run()
          : round % 3 == 1 ? synthetic::large_run(3, 24, 3, 8)
                           : synthetic::rewritten_run(1e5 * (0.2 + 2 * dice.unit()));
  for (auto& m : r.measurements) {
    const double factor = 0.5 + 1.5 * dice.unit();
    for (double& ns : m.samples_ns)
      ns *= factor;
    m.min_ns *= factor;
  }
  return r;
}

struct answers {
  double bound = 0, expected = 0;
};

json report(const std::string& file) {
  const outcome o =
      analyze({file, "--format", "json", "--limit", "bound<1000s", "--limit", "expected<1000s"});
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  return json::parse(o.out);
}

std::map<std::string, answers> of_json(const json& j) {
  std::map<std::string, answers> out;
  for (const json& a : j["analyses"])
    out[a["model"]] = {a["lower_bound"]["ns"], a["expected"]["ns"]};
  return out;
}

std::map<std::string, answers> of_limits(const json& j) {
  std::map<std::string, answers> out;
  for (const json& l : j["limits"])
    (l["figure"] == "bound" ? out[l["model"]].bound : out[l["model"]].expected) = l["value"];
  return out;
}

std::map<std::string, answers> of_table(const std::string& file) {
  std::istringstream lines(analyze({file, "--format", "csv-models"}).out);
  std::map<std::string, answers> out;
  std::string line;
  std::getline(lines, line);
  CHECK(line.starts_with("model,batch,type,threads,bound_ns,parallel_bound_ns,expected_ns,"));
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::vector<std::string> cell(7);
    for (std::string& c : cell)
      std::getline(cells, c, ',');
    out[cell[0].substr(1, cell[0].size() - 2)] = {std::stod(cell[4]), std::stod(cell[6])};
  }
  return out;
}

/// By the model alone, which is how a sweep over models calls it.
std::map<std::string, answers> of_models(const std::map<std::string, answers>& all) {
  std::map<std::string, answers> out;
  for (const auto& [name, of] : all)
    out[name.substr(0, name.find('@'))] = of;
  return out;
}

std::map<std::string, answers> of_sweeps(const std::string& file) {
  std::map<std::string, answers> out;
  for (const std::string figure : {"bound", "expected"}) {
    const json j = json::parse(
        analyze({"sweep", file, "--over", "model", "--figure", figure, "--format", "json"}).out);
    for (const json& p : j["points"]) {
      answers& of = out[p["model"]];
      (figure == "bound" ? of.bound : of.expected) = p["value"];
    }
  }
  return out;
}

void same(const std::map<std::string, answers>& a, const std::map<std::string, answers>& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& its : a) {
    const std::string& model = its.first; // clang 14 captures no bindings
    const answers& of = its.second;
    CAPTURE(model);
    REQUIRE(b.contains(model));
    CHECK(of.bound == doctest::Approx(b.at(model).bound).epsilon(1e-9));
    CHECK(of.expected == doctest::Approx(b.at(model).expected).epsilon(1e-9));
  }
}

/// What can be added up does, and nothing is below what it cannot be below.
void adds_up(const json& a) {
  double sum = 0, shares = 0;
  for (const json& l : a["layers"]) {
    if (l["bound"].is_object()) sum += l["bound"]["ns"].get<double>() * l["uses"].get<double>();
    shares += l["share"].get<double>();
  }
  CHECK(sum == doctest::Approx(a["bound"]["sequential"]["ns"].get<double>()));
  CHECK(shares == doctest::Approx(1));
  for (const char* total : {"bound", "prediction"}) {
    const json& t = a[total];
    CHECK(t["parallel"]["ns"] <= t["sequential"]["ns"]);
    CHECK(t["sequential"]["low_ns"] <= t["sequential"]["ns"]);
    CHECK(t["sequential"]["ns"] <= t["sequential"]["high_ns"]);
  }
  CHECK(a["lower_bound"]["ns"] <= a["bound"]["sequential"]["ns"]);
  const double rate = 1e9 / a["lower_bound"]["ns"].get<double>();
  CHECK(a["bound_rate"]["items_per_s"].get<double>() == doctest::Approx(rate));
}

TEST_CASE("the same question has the same answer in every command and format") {
  const scratch_folder f("agreement");
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    const std::string file = f / "run.json";
    std::ofstream(file) << synthetic::text(random_run(round));
    const json j = report(file);
    const std::map<std::string, answers> page = of_json(j);
    REQUIRE_FALSE(page.empty());
    same(page, of_limits(j));
    same(page, of_table(file));
    same(of_models(page), of_sweeps(file));
    for (const json& a : j["analyses"])
      adds_up(a);
    for (const auto& [model, of] : page) {
      const std::string shown = benanza::report::show_time(of.bound);
      for (const char* format : {"text", "md"}) {
        CAPTURE(format);
        CHECK(holds(analyze({file, "--model", model, "--format", format}).out, shown));
      }
      CHECK(holds(analyze({file, "--model", model, "-q"}).out, shown));
      const std::string just = std::to_string(of.bound * 1e-3 * 1.0001) + "us";
      CHECK(analyze({file, "--model", model, "--limit", "bound<" + just}).status == 0);
      CHECK(analyze({file, "--model", model, "--limit", "bound>" + just}).status == 3);
    }
    const json again = json::parse(analyze({"compare", file, file, "--format", "json"}).out);
    CHECK((again["verdict"] == "SAME" || again["verdict"] == "UNSURE")); // where samples scatter
    for (const json& m : again["models"]) {
      CHECK(m["change"].get<double>() == doctest::Approx(0));
      if (m["what"] == "bound")
        CHECK(m["old_ns"].get<double>() ==
              doctest::Approx(page.at(m["subject"]).bound).epsilon(0.01)); // at one clock
    }
  }
}
} // namespace test_of_agreement
