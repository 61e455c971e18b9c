// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/ceilings/sweep_subject.hpp>
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

TEST_CASE("every kind of sweep runs right on every number of threads and working set") {
  const auto memory = std::make_shared<working_memory>(sweep_subject::memory_bytes(1 << 20));
  for (const sweep& s : kernels().sweeps)
    for (int threads : {1, 2, 3})
      for (std::int64_t bytes : {64, 4096, 100'000, 1 << 20}) {
        CAPTURE(std::string(s.kind));
        CAPTURE(threads);
        CAPTURE(bytes);
        sweep_subject what(s, bytes, threads, 0.1, memory);
        CHECK(what.bytes <= std::max<std::int64_t>(bytes, 64 * s.arrays()));
        CHECK(what.bytes > bytes - 64 * s.arrays());
        what.begin();
        const ready_case made = what.ready(own_case(what, s.way));
        CHECK(made.run->ran() == s.way);
        CHECK(made.run->time(1) > 0);
        what.end();
      }
}

TEST_CASE("no two arrays of a sweep have the low bits of their addresses in common") {
  static std::vector<std::uintptr_t> seen;
  for (const sweep& known : kernels().sweeps) {
    working_memory memory(sweep_subject::memory_bytes(3 << 20));
    sweep s = known;
    s.run = [](float* const* to, const float* const* from, std::int64_t, std::int64_t) {
      seen = {reinterpret_cast<std::uintptr_t>(to[0]), reinterpret_cast<std::uintptr_t>(from[0]),
              reinterpret_cast<std::uintptr_t>(from[1])};
      return std::uint64_t{0};
    };
    sweep_run run(s, (3 << 18) / s.arrays() / 16 * 16, 1, memory);
    run.time(1);
    if (s.written == 0) seen.erase(seen.begin());
    seen.resize(static_cast<std::size_t>(s.arrays()));
    CAPTURE(std::string(s.kind));
    for (std::size_t i = 0; i < seen.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        CHECK((seen[i] - seen[k]) % 4096 >= 64);
  }
}

TEST_CASE("a sweep that leaves places out is found") {
  working_memory memory(1 << 16);
  sweep lazy = kernels().sweeps[0];
  REQUIRE(lazy.kind == "read");
  lazy.run = [](float* const*, const float* const*, std::int64_t, std::int64_t) {
    return std::uint64_t{0};
  };
  sweep_run never_reads(lazy, 1008, 1, memory);
  CHECK_THROWS_WITH_AS(never_reads.check("read"), doctest::Contains("wrong result"), error);
  lazy.kind = "write";
  lazy.written = 1;
  lazy.read = 0;
  sweep_run never_writes(lazy, 1008, 1, memory);
  CHECK_THROWS_AS(never_writes.check("write"), error);
}
