// SPDX-License-Identifier: Apache-2.0
// benanza_analyze --machine: the page of the machine in place of the models'.
#include "bound/machine_run.hpp"
#include "command.hpp"
#include "result/document.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

namespace {
benanza::test::outcome machine_page(const benanza::result::run& r,
                                    std::vector<std::string> more = {}) {
  more.insert(more.begin(), "--machine");
  return benanza::test::analyze(std::move(more), synthetic::text(r));
}
} // namespace

TEST_CASE("--machine shows the machine, and needs no model for it") {
  const auto page = machine_page(synthetic::machine_run());
  CHECK(page.status == 0);
  CHECK(page.out.find("GFLOP/s") != std::string::npos);
  CHECK(page.err.empty());
  const auto both = machine_page(synthetic::machine_run(), {"--format", "json"});
  CHECK(nlohmann::json::parse(both.out).at("peaks").size() == 3);
}

TEST_CASE("--machine refuses a result without the machine in one line") {
  const auto page = machine_page(synthetic::small_run());
  CHECK(page.status == 2);
  CHECK(page.out.empty());
  CHECK(page.err.find("--benchmark_filter=^machine/") != std::string::npos);
  CHECK(page.err.find('\n') == page.err.size() - 1);
}

TEST_CASE("a failed case of the machine makes its page partial") {
  auto r = synthetic::machine_run();
  r.measurements.front().error = "it went away";
  const auto page = machine_page(r);
  CHECK(page.status == 1);
  CHECK(page.err.find("it went away") != std::string::npos);
  CHECK(machine_page(r, {"--strict"}).status == 2);
}

namespace {
/// Ceilings of a GPU alone: the made-up machine's, as if they were of one.
benanza::result::run gpu_ceilings() {
  auto r = synthetic::machine_run();
  for (auto& m : r.measurements)
    m.backend = "cuda", m.device = "gpu";
  r.provenance["software"]["cuda_gpu"] = "H200";
  return r;
}
} // namespace

TEST_CASE("a result of a GPU's ceilings alone has a page of the machine") {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, std::vector<std::string>{"--device", "gpu"}}) {
    const auto page = machine_page(gpu_ceilings(), more);
    CAPTURE(page.err);
    CHECK(page.status == 0);
    CHECK(page.out.find("H200") != std::string::npos);
  }
  const auto page = machine_page(gpu_ceilings(), {"--device", "cpu"});
  CHECK(page.status == 2);
  CHECK(page.err.find("nothing was measured on a cpu; there are: gpu") != std::string::npos);
}

TEST_CASE("ceilings of CPU and GPU are two pages, and no layer has to be there for either") {
  auto r = gpu_ceilings();
  synthetic::add_machine(r);
  const auto neither = machine_page(r);
  CHECK(neither.status == 2);
  CHECK(neither.err.find("choose with --device cpu or --device gpu") != std::string::npos);
  CHECK(machine_page(r, {"--device", "gpu"}).out.find("H200") != std::string::npos);
  CHECK(machine_page(r, {"--device", "cpu"}).out.find("H200") == std::string::npos);
  // Layers of one device: the machine's page is of that, and of the other one if it is asked for.
  const auto layers = synthetic::small_run();
  r.measurements.insert(r.measurements.end(), layers.measurements.begin(),
                        layers.measurements.end());
  CHECK(machine_page(r).out.find("H200") == std::string::npos);
  CHECK(machine_page(r, {"--device", "gpu"}).out.find("H200") != std::string::npos);
}

TEST_CASE("layers of a GPU and its ceilings come in two files, of one kind of GPU") {
  auto layers = synthetic::small_run(), ceilings = gpu_ceilings();
  for (auto& m : layers.measurements)
    m.backend = "cudnn", m.device = "gpu";
  layers.provenance["software"]["cudnn_gpu"] = "H200";
  layers.provenance["machine"] = ceilings.provenance["machine"];
  const benanza::test::scratch_folder s("ceilings");
  const auto analyse = [&] {
    std::ofstream(s / "layers.json") << synthetic::text(layers);
    std::ofstream(s / "ceilings.json") << synthetic::text(ceilings);
    return benanza::test::analyze({s / "layers.json", s / "ceilings.json", "--device", "gpu"}, "");
  };
  const auto page = analyse();
  CAPTURE(page.err);
  CHECK(page.status == 0);
  CHECK(page.out.find("the machine's limits") != std::string::npos);
  CHECK(page.out.find("limited by") != std::string::npos);
  ceilings.provenance["software"]["cuda_gpu"] = "H100";
  const auto other = analyse();
  CHECK(other.status == 2);
  CHECK(other.err.find("results of different machines are not merged: gpu is \"H200\" and "
                       "\"H100\"") != std::string::npos);
}
