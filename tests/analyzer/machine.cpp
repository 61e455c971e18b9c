// SPDX-License-Identifier: Apache-2.0
// benanza_analyze --machine: the page of the machine in place of the models'.
#include "bound/machine_run.hpp"
#include "command.hpp"
#include "result/document.hpp"

#include <doctest/doctest.h>

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
