// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/noise/memory_probe.hpp>
#include <benanza/measure/sampling/noise_monitor.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

using namespace benanza::measure;

TEST_CASE("memory is judged by the probes of a whole window") {
  noise_sum s;
  s.add({.memory_loss = 1});
  CHECK(remedy(s).find("memory took 2.0 times as long") != std::string::npos);
  CHECK(judge({.memory_loss = 0.4}) == interference::none);

  memory_probe p;
  CHECK(p.end_window() == 0);
  for (int i = 0; i < 100; ++i)
    p.note(1000 + 10 * (i % 10));
  CHECK(p.end_window() < 0.05);
  p.note(9000), p.note(9000);
  CHECK(p.end_window() == 0); // too few to judge, and not forgotten
  p.note(1000), p.note(1000), p.note(1000);
  CHECK(p.end_window() < 0.05); // one slow probe in five says nothing, nor do two
  for (int i = 0; i < 9; ++i)
    p.note(2000);
  CHECK(p.end_window() == doctest::Approx(1).epsilon(0.05));

  // However long the run: a few lucky probes are not what memory can do.
  memory_probe lucky;
  for (int window = 0; window < 3000; ++window) {
    lucky.note(100);
    for (int i = 0; i < 4; ++i)
      lucky.note(1000);
    CHECK(lucky.end_window() < 0.05);
  }

  memory_probe none(0), real(std::int64_t{1} << 20);
  for (int i = 0; i < 20; ++i)
    none.probe(), real.probe();
  CHECK(none.end_window() == 0);
  CHECK(std::isfinite(real.end_window()));
}
