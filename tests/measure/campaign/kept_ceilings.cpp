// SPDX-License-Identifier: Apache-2.0
// Are the machine's limits measured once, and not in each run?
#include "../fake_library.hpp"
#include "program.hpp"

#include <benanza/measure/campaign/journal.hpp>
#include <benanza/measure/campaign/kept_ceilings.hpp>
#include <benanza/measure/ceilings/list.hpp>
#include <benanza/measure/subjects/case_list.hpp>
#include <doctest/doctest.h>

#if BENANZA_STORE_BUILT

using namespace benanza;
using namespace benanza::measure;

namespace {
/// A group of the machine's, of two cases; or one of a layer.
struct two_cases {
  library_list libraries;
  std::vector<group> groups;
  explicit two_cases(bool of_machine = true) {
    libraries.push_back(std::make_unique<test::fake_library>(
        std::vector<test::script>{{.algorithm = {.id = "a"}}, {.algorithm = {.id = "b"}}}));
    const op::layer l = op::parse("Relu/1x4x5x5");
    selection asked;
    asked.filter = "^machine/call/";
    groups = of_machine ? ceilings::list_machine_cases(libraries, {numeric::f32}, {0}, asked)
                        : list_cases({{0, l, op::cost(l)}}, {}, libraries, {});
    REQUIRE(groups.size() == 1);
    REQUIRE(only().cases.size() >= 2);
  }
  group& only() { return groups.front(); }
  void fill() {
    for (bench_case& c : only().cases) {
      c.results = {group_runner::blank(only(), c)};
      result::measurement& m = c.results[0];
      m.min_ns = m.p10_ns = m.median_ns = m.p90_ns = 1000;
      m.samples_ns = {1000, 1000};
      m.count = 2;
    }
  }
  std::size_t filled() {
    return static_cast<std::size_t>(
        std::count_if(only().cases.begin(), only().cases.end(),
                      [](const bench_case& c) { return !c.results.empty(); }));
  }
};

result::run at(const std::string& date, const std::string& cpu = "one",
               const std::string& effort = "normal") {
  result::run r;
  r.provenance = {{"machine", {{"cpu", cpu}}},
                  {"software", {{"benanza", "1"}}},
                  {"measuring", {{"date", date}, {"effort", effort}}}};
  return r;
}
} // namespace

TEST_CASE(
    "what was measured of the machine, undisturbed, comes back in the next run, with its day") {
  const test::scratch_folder s("kept_ceilings");
  const std::string path = s / "c.db";
  {
    two_cases measured;
    measured.fill();
    measured.only().cases[1].results[0].disturbed = "others ran here";
    ceilings_keeper k(nullptr, path, at("2026-01-02"));
    k.recall(measured.only());
    CHECK(k.recalled() == 0);
    k.keep(measured.only(), all_cases(measured.only()));
  }
  const auto found = [&](const result::run& header) {
    two_cases next;
    ceilings_keeper k(nullptr, path, header);
    k.recall(next.only());
    CHECK(next.filled() == k.recalled());
    if (k.recalled() > 0) CHECK(k.since() == "2026-01-02");
    CHECK(next.only().cases[1].results.empty());
    return k.recalled();
  };
  CHECK(found(at("2026-01-03")) == two_cases().only().cases.size() - 1);
  CHECK(found(at("2026-01-03", "another")) == 0);
  CHECK(found(at("2026-01-03", "one", "thorough")) == 0);
}

TEST_CASE("what comes back goes on to where the run keeps its results; a layer's, a device's are "
          "not kept") {
  const test::scratch_folder s("kept_ceilings_of_run");
  const std::string path = s / "c.db";
  const run_setting setting{{"machine", {{"cpu", "one"}}}};
  const auto keep = [&](two_cases what) {
    what.fill();
    ceilings_keeper(nullptr, path, at("2026-01-02")).keep(what.only(), all_cases(what.only()));
  };
  const auto recalled = [&](two_cases what) {
    ceilings_keeper k(nullptr, path, at("2026-01-03"));
    k.recall(what.only());
    return what.filled();
  };
  keep(two_cases(false));
  CHECK(recalled(two_cases(false)) == 0);
  two_cases on_device;
  on_device.only().cases[0].on_device = true;
  keep(std::move(on_device));
  CHECK(recalled(two_cases()) == 0);
  keep(two_cases());
  CHECK(recalled(two_cases()) == two_cases().only().cases.size());
  {
    journal of_run(s / "run.json.unfinished", setting, true);
    two_cases next;
    ceilings_keeper k(&of_run, path, at("2026-01-03"));
    k.recall(next.only());
    CHECK(k.place() == of_run.place());
  }
  journal again(s / "run.json.unfinished", setting, false);
  two_cases next;
  again.recall(next.only());
  CHECK(next.filled() == next.only().cases.size());
}

TEST_CASE("where nothing can be kept, the machine is measured each time") {
  CHECK(ceilings_path() == "/dev/null/benanza/ceilings.db"); // tests have no cache
  CHECK(with_kept_ceilings(nullptr, at("2026-01-02")) == nullptr);
}

#endif
