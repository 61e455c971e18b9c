// SPDX-License-Identifier: Apache-2.0
#include "analyzer/load/page.hpp"
#include "analyzer/report/tables/formats.hpp"
#include "analyzer/report/units.hpp"
#include "program.hpp"
#include "result/synthetic.hpp"

#include <doctest/doctest.h>

namespace test_of_cold_starts {
using namespace benanza;
using benanza::test::holds;
using doctest::Approx;

/// A case of the model, whose least and median time is that.
void add(result::run& r, const std::string& backend, const std::string& way, double ns,
         std::int64_t bytes = 0, const std::string& model = "block@batch=1") {
  result::measurement m = r.measurements.front();
  m.family = "model";
  m.key = model;
  m.backend = backend;
  m.algorithm = way;
  m.state = backend == std::string("chain") ? result::whole_run : "warm";
  m.weight_bytes = bytes;
  m.samples_ns = {ns, ns, ns};
  m.min_ns = 0;
  result::recompute(m);
  m.name = "model/" + model + "/f32/" + backend + '/' + way + "/warm/t1";
  r.measurements.push_back(m);
}

/// 100 MB: 60 ms to read, 800 from disk, 140 to pack, 2 to map, 20 to attach to; 10 to be ready, 38
/// to run.
result::run loaded() {
  result::run r = synthetic::fused_run();
  add(r, "load", "read", 60e6, 100'000'000);
  add(r, "load", "mmap", 70e6, 100'000'000);
  add(r, "load", "disk_read", 900e6, 100'000'000);
  add(r, "load", "disk_mmap", 800e6, 100'000'000);
  add(r, "load", "pack", 140e6, 110'000'000);
  add(r, "load", "setup", 10e6, 110'000'000);
  add(r, "load", "touch", 30e6, 110'000'000);
  add(r, "load", "populate", 2e6, 110'000'000);
  add(r, "load", "attach:1", 20e3, 110'000'000);
  add(r, "load", "attach:4", 80e3, 110'000'000);
  add(r, "load", "attach:4000", 80e6, 110'000'000);
  add(r, "chain", "plan", 38e6, 110'000'000);
  return r;
}

namespace {
std::string cold_page(const result::run& r, const std::vector<bound::cold_start>& all) {
  return report::tables::text_of(report::cold_start_answer(r, all));
}

std::string cold_json(const result::run& r, const std::vector<bound::cold_start>& all) {
  return report::tables::json_of(report::cold_start_answer(r, all));
}
} // namespace

TEST_CASE("both ways to a first answer are added up, and held against loading for nothing") {
  const result::run r = loaded();
  const auto all = bound::cold_starts(r);
  REQUIRE(all.size() == 1);
  const bound::cold_start& c = all[0];
  CHECK(c.complete());
  CHECK(c.private_ns() == Approx(10e6 + 60e6 + 140e6 + 38e6));
  CHECK(c.shared_ns() == Approx(10e6 + 20e3 + 2e6 + 38e6));
  CHECK(c.speedup() == Approx(248.0 / 50.02));
  CHECK(c.speedup_when_ready() == Approx(238.0 / 40.02));
  CHECK(c.ideal() == Approx(248.0 / 48));
  CHECK(c.efficiency() == Approx(48 / 50.02));
  CHECK(c.file_bytes == 100'000'000);
  CHECK(c.packed_bytes == 110'000'000);
}

TEST_CASE("rho is what sharing saves in all; of very many small objects it is a loss") {
  result::run r = loaded();
  add(r, "load", "attach:12000", 240e6, 110'000'000);
  const auto all = bound::cold_starts(r);
  REQUIRE(all[0].shared.size() == 4);
  CHECK(all[0].shared[0].rho_ns() == Approx(60e6 + 140e6 - 20e3 - 2e6));
  CHECK(all[0].shared[0].rho_ns() == Approx(all[0].private_ns() - all[0].shared_ns()));
  CHECK(all[0].attach_ns == Approx(20e3));
  CHECK(all[0].shared[1].objects == 4);
  CHECK(all[0].shared[3].rho_ns() < 0);
  const std::string text = cold_page(r, all);
  CHECK(holds(text, "12000 objects: a load of one's own 200 ms"));
  CHECK(holds(text, "sharing so many objects does not pay"));
  CHECK_FALSE(holds(text, "sharing does not pay")); // beside a speedup of 4.96
}

TEST_CASE("from a disk a load of one's own takes longer, and sharing saves more") {
  result::run r = loaded();
  const bound::cold_start c = bound::cold_starts(r)[0];
  CHECK(c.disk_private_ns() == Approx(10e6 + 800e6 + 140e6 + 38e6));
  CHECK(c.disk_speedup() == Approx(988.0 / 50.02));
  CHECK(c.shared[0].disk_rho_ns() == Approx(c.disk_private_ns() - c.shared_ns()));
  const std::string text = cold_page(r, {c});
  for (const char* part :
       {"of disk", "of cache", "988 ms", "19.75x, 4.96x", "from the page cache 60.0 ms",
        "from disk 800 ms (0.125 GB/s, disk_mmap)"})
    CHECK_MESSAGE(holds(text, part), part, "\n", text);
  const auto json = nlohmann::json::parse(cold_json(r, {c})).at("cold_starts")[0];
  CHECK(json.at("disk_mmap_ns") == 800e6);
  CHECK(json.at("disk_speedup").get<double>() == Approx(988.0 / 50.02));
  CHECK(json.at("granularity")[0].at("disk_rho_ns").get<double>() ==
        Approx(c.shared[0].disk_rho_ns()));
}

TEST_CASE("where no disk was read the page says why, and has no figure of one") {
  result::run r = loaded();
  for (result::measurement& m : r.measurements)
    if (result::of_a_disk(m.algorithm)) m.error = "no disk is read: all stays in memory";
  const bound::cold_start c = bound::cold_starts(r)[0];
  CHECK(c.complete());
  CHECK_FALSE(c.from_disk());
  const std::string text = cold_page(r, {c});
  CHECK(holds(text, "not measured"));
  CHECK(holds(text, "stays in"));
  CHECK_FALSE(holds(text, "of disk"));
  const auto json = nlohmann::json::parse(cold_json(r, {c})).at("cold_starts")[0];
  CHECK(json.at("disk_read_ns").is_null());
  CHECK(json.at("disk_speedup").is_null());
  CHECK(json.at("no_disk") == "no disk is read: all stays in memory");
  std::erase_if(r.measurements, [](const auto& m) { return result::of_a_disk(m.algorithm); });
  CHECK(holds(cold_page(r, bound::cold_starts(r)), "from disk not measured"));
}

TEST_CASE("clients that begin at once stand beside each other, private and shared") {
  result::run r = loaded();
  const auto clients = [&r](const char* way, const std::vector<double>& answers,
                            std::int64_t held) {
    add(r, "load", way, answers.back(), held);
    for (const double ns : answers)
      r.measurements.back().parts.push_back({"client", ns});
  };
  clients("private:1", {300e6}, 150'000'000);
  clients("shared:1", {60e6}, 50'000'000);
  clients("private:4", {500e6, 600e6, 700e6, 800e6}, 600'000'000);
  clients("shared:4", {100e6, 110e6, 120e6, 130e6}, 190'000'000);
  clients("private:8", {900e6}, 1); // without the other one it says nothing
  const bound::cold_start c = bound::cold_starts(r)[0];
  CHECK(c.packed_bytes == 110'000'000); // and not what clients hold
  REQUIRE(c.at_once.size() == 2);
  CHECK(c.at_once[1].count == 4);
  CHECK(c.at_once[1].own.median_ns == Approx(650e6));
  CHECK(c.at_once[1].own.worst_ns == Approx(800e6));
  CHECK(c.at_once[1].shared.held_bytes == 190'000'000);
  CHECK(c.at_once[1].speedup() == Approx(800.0 / 130));
  const std::string text = cold_page(r, {c});
  for (const char* part : {"650 ms", "800 ms", "115 ms", "130 ms", "572 MiB", "6.15x"})
    CHECK_MESSAGE(holds(text, part), part, "\n", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    CHECK_MESSAGE(line.size() <= report::columns, line);
  const auto json = nlohmann::json::parse(cold_json(r, {c})).at("cold_starts")[0];
  CHECK(json.at("clients")[1].at("private_worst_ns") == 800e6);
}

TEST_CASE("a way that failed is named with its reason, and the answer is not whole") {
  result::run r = loaded();
  for (const char* way : {"private:1", "shared:1", "shared:4", "private:8"})
    add(r, "load", way, 300e6, 150'000'000);
  add(r, "load", "private:4", 300e6);
  r.measurements.back().error = "clients: out of memory\x1b[2J";
  for (result::measurement& m : r.measurements)
    if (m.algorithm == "attach:4") m.error = "attach: too many files are open";
  const auto all = bound::cold_starts(r);
  CHECK(all[0].complete());
  REQUIRE(all[0].at_once.size() == 1);
  CHECK(all[0].shared.size() == 2);
  const std::string text = cold_page(r, all);
  for (const char* part : {"no time of attach:4: attach: too many files", "no time of private:4: ",
                           "out of memory", "no time of shared:8: not measured"})
    CHECK_MESSAGE(holds(text, part), part, "\n", text);
  CHECK_FALSE(holds(text, "no time of shared:4"));
  CHECK_FALSE(holds(text, "\x1b"));
  CHECK(holds(report::cold_start_shortfall(all), "attach:4"));
  const auto json = nlohmann::json::parse(cold_json(r, all)).at("cold_starts")[0];
  CHECK(json.at("failed").size() == 3);
}

TEST_CASE("the bound of a cold start is that of a run and the fastest way to the weights") {
  const result::run r = loaded();
  const bound::cold_start c = bound::cold_starts(r)[0];
  CHECK(c.least_load_ns == Approx(2e6 + 20e3));
  const bound::source s(r);
  const bound::model_bound b = bound::analyse(s, r.graphs[0], {numeric::f32, 1});
  REQUIRE(c.bound_ns.has_value() == !b.partial());
  if (c.bound_ns) {
    CHECK(*c.bound_ns == b.bound.sequential.ns);
    CHECK(*c.cold_bound_ns() == Approx(b.bound.sequential.ns + 2.02e6));
    CHECK(*c.cold_bound_ns() < c.shared_ns());
  }
}

TEST_CASE("what was not measured is named, and nothing is added up without it") {
  result::run r = loaded();
  std::erase_if(r.measurements, [](const auto& m) {
    return m.backend == "chain" || m.algorithm == "pack" || m.algorithm == "attach:1";
  });
  const auto all = bound::cold_starts(r);
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].lacking.size() == 2);
  CHECK(holds(all[0].lacking[0], "pack, attach"));
  CHECK(holds(all[0].lacking[1], "benanza_bench --plan"));
  CHECK_FALSE(report::cold_start_shortfall(all).empty());
  const auto j = nlohmann::json::parse(cold_json(r, all)).at("cold_starts")[0];
  CHECK(j.at("run_ns").is_null());
  CHECK(j.at("speedup").is_null());
  CHECK(bound::cold_starts(synthetic::fused_run()).empty());
}

namespace {
/// The same on a GPU: 40 ms to copy there, or 5 when 20 were spent on pinning.
result::run loaded_on_gpu() {
  result::run r = loaded();
  std::erase_if(r.measurements, [](const auto& m) { return m.algorithm == "populate"; });
  add(r, "load", "pageable", 40e6, 110'000'000);
  add(r, "load", "pinned", 5e6, 110'000'000);
  add(r, "load", "pin", 20e6, 110'000'000);
  for (result::measurement& m : r.measurements)
    m.device = result::gpu_device;
  return r;
}
} // namespace

TEST_CASE("on a GPU weights are copied there, or are another process's") {
  const auto all = bound::cold_starts(loaded_on_gpu());
  REQUIRE(all.size() == 1);
  const bound::cold_start& c = all[0];
  CHECK(c.on_gpu);
  CHECK(c.complete());
  CHECK(c.pins());
  CHECK(c.private_ns() == Approx(10e6 + 60e6 + 140e6 + 25e6 + 38e6));
  CHECK(c.shared_ns() == Approx(10e6 + 20e3 + 30e6 + 38e6));
  CHECK(c.shared[0].rho_ns() == Approx(c.private_ns() - c.shared_ns()));
  CHECK(c.least_load_ns == Approx(30e6 + 20e3)); // not 60 + 5
  const std::string text = cold_page(loaded_on_gpu(), all);
  CHECK(holds(text, "on a GPU"));
  CHECK(holds(text, "pin and pinned"));
  const auto j = nlohmann::json::parse(cold_json(loaded_on_gpu(), all)).at("cold_starts")[0];
  CHECK(j.at("device") == "gpu");
  CHECK(j.at("pinned_ns") == 5e6);
  CHECK(j.at("populate_ns").is_null());
}

TEST_CASE("a CPU's and a GPU's ways of a model stand beside each other, and are not mixed") {
  result::run r = loaded();
  for (const result::measurement& m : loaded_on_gpu().measurements)
    r.measurements.push_back(m);
  const auto all = bound::cold_starts(r);
  REQUIRE(all.size() == 2);
  CHECK_FALSE(all[0].on_gpu);
  CHECK(all[0].private_ns() == Approx(248e6));
  CHECK(all[1].on_gpu);
  CHECK(all[1].private_ns() == Approx(273e6));
  std::erase_if(r.measurements, [](const auto& m) {
    return m.algorithm == "pin" || (m.device == result::gpu_device && m.algorithm == "attach:1");
  });
  CHECK(holds(bound::cold_starts(r)[1].lacking.at(0), "pin, attach"));
}

TEST_CASE("the page fits a screen, and the JSON says the same") {
  result::run r = loaded();
  add(r, "load", "read", 1, 1, "odd\x1b[2J");
  const auto all = bound::cold_starts(r);
  const std::string text = cold_page(r, all);
  for (const char* part : {"first answer", "248 ms", "50.0 ms", "4.96x", "efficiency 96.0 %"})
    CHECK_MESSAGE(holds(text, part), part, "\n", text);
  CHECK_FALSE(holds(text, "\x1b"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    CHECK_MESSAGE(line.size() <= report::columns, line);
  const auto j = nlohmann::json::parse(cold_json(r, all)).at("cold_starts")[0];
  CHECK(j.at("speedup").get<double>() == Approx(4.958).epsilon(1e-3));
  CHECK(j.at("granularity").size() == 3);
}
} // namespace test_of_cold_starts
