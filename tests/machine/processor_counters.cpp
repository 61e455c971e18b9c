// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/processor_counters.hpp>
#include <doctest/doctest.h>

#include <vector>

using namespace benanza::machine;

TEST_CASE("the processor's counters count, or say why they do not") {
  processor_counters c;
  if (!c.refused().empty()) {
    CHECK(c.names().empty());
    return;
  }
  c.begin();
  volatile double sum = 0;
  for (int i = 0; i < 100'000; ++i)
    sum = sum + i;
  const std::vector<double> counted = c.end();
  if (counted.empty()) return; // others have them
  REQUIRE(counted.size() == c.names().size());
  if (c.names()[0] == "instructions") CHECK(counted[0] > 100'000);
}

TEST_CASE("counters of the system count what happens between begin and end") {
  constexpr counter_kind faults[] = {{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
                                     {"none", PERF_TYPE_SOFTWARE, 9999}};
  processor_counters c(faults);
  if (!c.refused().empty()) return; // as in a container without rights
  CHECK(c.names() == std::vector<std::string>{"faults"});
  const auto counted_of = [&](std::size_t pages) {
    c.begin();
    std::vector<char> fresh(pages * 4096, 1);
    const std::vector<double> counted = c.end();
    REQUIRE(counted.size() == 1);
    CHECK(fresh.back() == 1);
    return counted[0];
  };
  CHECK(counted_of(5000) > 5); // in large pages too
  CHECK(counted_of(1) < 5);
  constexpr counter_kind nothing[] = {{"none", PERF_TYPE_SOFTWARE, 9999}};
  CHECK_FALSE(processor_counters(nothing).refused().empty());
}
