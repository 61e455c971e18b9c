// SPDX-License-Identifier: Apache-2.0
// Is energy shown as times are, and never as whole where it is not?
#include "analyzer/report/energy.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/report/csv.hpp"
#include "analyzer/report/csv_models.hpp"
#include "analyzer/report/document.hpp"
#include "analyzer/report/limits.hpp"
#include "pages.hpp"

#include <benanza/advice/energy.hpp>

#include <functional>
#include <sstream>

namespace test_of_energy_report {
namespace {
using namespace pages;
using benanza::report::show_energy;

using which = std::function<bool(const measurement&)>;

/// Cases drew so many watts on end.
run with_energy(
    const which& has = [](const measurement&) { return true; }, double watts = 20,
    const std::string& device = "cpu") {
  run r = synthetic::fused_run();
  r.provenance["measuring"]["energy"] = "of the processor's package (RAPL)";
  for (measurement& m : r.measurements) {
    m.device = device;
    if (has(m)) m.energy_nj = watts * m.median_ns;
  }
  return r;
}
run without(const std::string& why) {
  run r = synthetic::fused_run();
  if (!why.empty()) r.provenance["measuring"]["energy"] = why;
  return r;
}
bool not_add(const measurement& m) {
  return m.family != "Add";
}

std::string details(const run& r) {
  return text_report(r, {analyse(r)[0]}, {});
}
std::string screen(const run& r, const std::vector<model_bound>& models) {
  const benanza::bound::source s(r);
  return benanza::report::text_report(r, benanza::advice::advise_all(s, models, {}), models, {});
}
json analysis(const run& r) {
  return json::parse(json_report(r, {analyse(r)[0]}, false))["analyses"][0];
}
std::string in_format(const run& r, std::string (*write)(const benanza::report::input&)) {
  const std::vector<model_bound> models{analyse(r)[0]};
  const benanza::bound::source s(r);
  const auto advised = benanza::advice::advise_all(s, models, {});
  return write({.run = r, .models = models, .advised = advised});
}
benanza::report::limit_answer held(const run& r, const std::string& text) {
  const auto models = analyse(r);
  const benanza::bound::source s(r);
  return benanza::report::hold_to({benanza::report::limit(text)},
                                  benanza::advice::advise_all(s, models, {}))
      .front();
}
} // namespace

TEST_CASE("energies have three digits and a unit that suits them") {
  CHECK(show_energy(0.5) == "0.50 nJ");
  CHECK(show_energy(999.4) == "999 nJ");
  CHECK(show_energy(999.6) == "1.00 uJ");
  CHECK(show_energy(26.34e6) == "26.3 mJ");
  CHECK(show_energy(1.5e9) == "1.50 J");
  CHECK(show_energy(7e15) == "7000 kJ");
}

TEST_CASE("the energy of a run is the sum of its layers', next to the time it should take") {
  const run r = with_energy();
  const std::vector<model_bound> models{analyse(r)[0]};
  const double ns = models[0].fused->prediction.sequential.ns;
  const auto e = benanza::advice::energy_of(models[0]);
  CHECK(e.whole());
  CHECK(e.nj == doctest::Approx(20 * ns).epsilon(0.02));
  CHECK(e.ns == doctest::Approx(ns).epsilon(0.01));

  const std::string first = screen(r, models), all = details(r);
  check_width(first);
  check_width(all);
  CHECK(holds(first, "\n    energy of its layers       " + show_energy(e.nj) +
                         "           -  processor, idle power too\n"));
  CHECK(holds(first, "GFLOP/s   energy  algorithm"));
  CHECK(holds(all, "energy      " + show_energy(e.nj) + " in the layers of a run"));
  CHECK(holds(all, " 20.0 W: "));
  CHECK(holds(all, "idle power"));
  CHECK(holds(all, "GFLOP/s   energy algorithm"));

  const json j = analysis(r);
  CHECK(j["energy"]["layers_nj"] == e.nj);
  CHECK(j["energy"]["share_of_layers"] == 1);
  CHECK(j["energy"]["of"] == "packages");
  CHECK(j["layers"][0]["prediction"]["energy_nj"] > 0);
  CHECK(analysis(with_energy([](const auto&) { return true; }, 20, "gpu"))["energy"]["of"] ==
        "gpu");
}

TEST_CASE("every format has the energy") {
  using namespace benanza::report;
  const run r = with_energy();
  const std::string sum = show_energy(benanza::advice::energy_of(analyse(r)[0]).nj);
  const std::string markdown = in_format(r, [](const input& in) { return markdown_report(in); });
  CHECK(holds(markdown, "| energy of its layers | " + sum + " | \\- |"));
  CHECK(holds(markdown, "| energy | algorithm |"));
  const std::string csv = in_format(r, [](const input& in) { return csv_report(in); });
  CHECK(holds(csv, ",median_coldw_ns,hot_nj,coldw_nj,sets_bound,"));
  const std::string models = in_format(r, [](const input& in) { return csv_models_report(in); });
  CHECK(holds(models, ",expected_ns,layers_nj,measured_share,"));
  const std::string page = in_format(r, [](const input& in) {
    return html_report(
        {in}, {.page = "{{style}}{{data}}{{licence}}{{library}}{{script}}", .library = "d3"});
  });
  CHECK(holds(page, sum + " in the layers"));
  // As many cells as columns, with and without energy.
  for (const run& one : {r, without("")})
    for (const std::string& table :
         {in_format(one, [](const input& in) { return csv_report(in); }),
          in_format(one, [](const input& in) { return csv_models_report(in); })}) {
      std::istringstream lines(table);
      std::string head;
      std::getline(lines, head);
      const auto columns = std::count(head.begin(), head.end(), ',');
      for (std::string line; std::getline(lines, line);) {
        std::int64_t commas = 0;
        bool quoted = false;
        for (const char c : line) {
          quoted = quoted != (c == '"');
          commas += c == ',' && !quoted;
        }
        CHECK(commas == columns);
      }
    }
}

TEST_CASE("a sum of some layers' energies is shown nowhere") {
  const run r = with_energy(not_add);
  const std::string first = screen(r, {analyse(r)[0]}), all = details(r);
  CHECK_FALSE(holds(first, "energy of its layers"));
  CHECK(holds(first, " energy  algorithm")); // of those that have one
  CHECK(holds(all, "energy      no sum: "));
  CHECK(holds(all, "% of the layers have one."));
  CHECK(analysis(r)["energy"]["layers_nj"].is_null());
  CHECK(analysis(r)["energy"]["share_of_layers"] > 0.5);
  CHECK(analysis(r)["energy"]["share_of_layers"] < 1);
  const auto limit = held(r, "energy<1J");
  CHECK(limit.is == benanza::report::kept::no);
  CHECK(holds(limit.why, "% of the layers have one"));

  run hole = with_energy();
  hole.graphs[0].nodes[0].layer = benanza::model::no_layer;
  hole.graphs[0].nodes[0].op = "NonZero";
  hole.graphs[0].nodes[0].problem = "unknown";
  std::erase_if(hole.graphs, [](const auto& g) { return g.name != "block@batch=1"; });
  CHECK_FALSE(benanza::advice::energy_of(analyse(hole)[0]).whole());
}

TEST_CASE("where there is no energy a line of the details says why, and nothing else does") {
  const std::string plain = details(without(""));
  CHECK_FALSE(holds(plain, "nergy"));
  const run none = without("none: no RAPL in /sys/class/powercap");
  const std::string all = details(none);
  const std::string line = "energy      none: no RAPL in /sys/class/powercap.\n";
  CHECK(holds(all, '\n' + line));
  CHECK(all.size() == plain.size() + line.size());
  CHECK_FALSE(holds(screen(none, {analyse(none)[0]}), "nergy"));
  CHECK_FALSE(analysis(none).contains("energy"));
  CHECK(holds(details(without("of the processor's package (RAPL)")),
              "energy      none: no layer was sampled undisturbed with it.\n"));
}

TEST_CASE("energy is held to limits in units of its own") {
  const run r = with_energy();
  CHECK(held(r, "energy<1J").is == benanza::report::kept::yes);
  CHECK(held(r, "energy<1J").unit == "nJ");
  CHECK(held(r, "energy<1uJ").is == benanza::report::kept::no);
  CHECK(holds(held(r, "energy<1uJ").shown, " mJ"));
  CHECK(held(without(""), "energy<1J").why == "no layer has an energy");
  CHECK_THROWS_WITH(benanza::report::limit("energy<1"), doctest::Contains("an energy has a unit"));
  CHECK_THROWS_WITH(benanza::report::limit("energy<1ms"), doctest::Contains("nJ, uJ, mJ, J"));
}

TEST_CASE("a run of the whole model has an energy of its own") {
  run r = synthetic::fused_run();
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1,fused";
  m.name = "model/block@batch=1,fused/f32/plan";
  m.backend = "chain", m.state = "run";
  m.energy_nj = 30 * m.median_ns;
  r.measurements.push_back(m);
  const std::vector<model_bound> models{analyse(r)[0]};
  REQUIRE(models[0].runs.size() == 1);
  CHECK(holds(screen(r, models), ", " + show_energy(m.energy_nj) + '\n'));
  CHECK(analysis(r)["runs"][0]["energy_nj"] == m.energy_nj);
}
} // namespace test_of_energy_report
