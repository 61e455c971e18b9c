// SPDX-License-Identifier: Apache-2.0
#include "../../program.hpp"

#include <benanza/machine/environment.hpp>
#include <benanza/measure/ceilings/numa.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

TEST_CASE("lists of numbers are read as the system writes them") {
  CHECK(numbers("0-3,8,10-11") == std::vector<int>{0, 1, 2, 3, 8, 10, 11});
  CHECK(numbers("7") == std::vector<int>{7});
  for (const char* none : {"", "a", "1-", "3-1", "1;2", "0-99999999"})
    CHECK(numbers(none).empty());
}

TEST_CASE("nodes have memory and processors of ours") {
  const test::scratch_folder s("numa");
  const auto write = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(s / file).parent_path());
    std::ofstream(s / file) << text << '\n';
  };
  write("has_memory", "0-2");
  write("node0/cpulist", "0-3");
  write("node1/cpulist", "4-7");
  write("node2/cpulist", ""); // memory alone
  const auto both = nodes({2, 3, 4}, s.path.string());
  REQUIRE(both.size() == 2);
  CHECK(both[0].processors == std::vector<int>{2, 3});
  CHECK(both[1].number == 1);
  CHECK(nodes({0}, s.path.string()).size() == 1);
  CHECK(nodes({0}, s / "nowhere").empty());
}

TEST_CASE("a copy between nodes is right, also from a node to itself") {
  const auto here = nodes(numbers(machine::detail::affinity().second));
  if (here.empty()) return; // a kernel without NUMA
  const auto before = machine::detail::affinity();
  for (const sweep& s : kernels().sweeps) {
    if (s.kind != "copy") continue;
    numa_subject what(s, 1 << 20, here.front(), here.back());
    CHECK(what.bytes == 2 << 20);
    CHECK(what.ready(own_case(what, s.way)).run->time(1) > 0);
  }
  CHECK(machine::detail::affinity() == before);
}
