// SPDX-License-Identifier: Apache-2.0
// A short run of every target, always the same: spoiled files are taken or refused, and nothing
// else happens. BENANZA_FUZZ_SECONDS makes it longer.
#include "mutate.hpp"

#include <doctest/doctest.h>

#include <chrono>

TEST_CASE("fuzz: what strangers give is taken or refused") {
  const char* given = std::getenv("BENANZA_FUZZ_SECONDS");
  const double seconds = given == nullptr ? 1.0 : std::atof(given);
  REQUIRE_FALSE(fuzz::targets().empty());
  for (const fuzz::target& t : fuzz::targets()) {
    CAPTURE(t.name);
    const std::vector<std::string> samples = t.samples();
    REQUIRE_FALSE(samples.empty());
    std::size_t taken = 0, refused = 0;
    for (const std::string& s : samples)
      CHECK(fuzz::run(t, s)); // a target whose good files are refused tries nothing
    fuzz::dice d(1);
    const auto began = std::chrono::steady_clock::now();
    const std::chrono::duration<double> most(seconds);
    std::string last;
    while (std::chrono::steady_clock::now() - began < most) {
      const bool go_on = !last.empty() && fuzz::below(d, 2) == 0;
      const std::string& from = go_on ? last : samples[fuzz::below(d, samples.size())];
      last = t.change != nullptr && fuzz::below(d, 4) != 0 ? t.change(from, d)
                                                           : fuzz::spoil(from, t.words, d);
      ++(fuzz::run(t, last) ? taken : refused);
      if (last.size() > 4 * samples.front().size() + 4096) last.clear();
    }
    MESSAGE("fuzz: ", t.name, ": ", taken + refused, " executions, ", refused, " refused");
    CHECK(taken + refused > 0);
  }
}
