// SPDX-License-Identifier: Apache-2.0
// Is a clock made of stamps of the same multiprocessor alone, and of stamps far enough apart?
#include "on_fake.hpp"

#include <benanza/backend/cuda/sm_clock.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace benanza::backend;
using cuda_test::on_fake;
using stamps = std::vector<cuda::source::stamp>;

namespace {
/// `ms` later at 1400 MHz, on multiprocessors that have counted from different numbers.
stamps later(const stamps& first, double ms) {
  stamps out = first;
  for (cuda::source::stamp& s : out) {
    s.ns += static_cast<unsigned long long>(ms * 1e6);
    s.cycles += static_cast<unsigned long long>(ms * 1.4e6);
  }
  return out;
}
const stamps began{{5000, 10, 4}, {6000, 77'000'000, 5}};
} // namespace

TEST_CASE("sm clock: cycles of one multiprocessor over time, whatever others count") {
  CHECK(cuda::thousand_cycles_ns(began, later(began, 2)) == doctest::Approx(1000 / 1.4));
  stamps moved = later(began, 2);
  std::swap(moved[0], moved[1]); // blocks came in another order
  CHECK(cuda::thousand_cycles_ns(began, moved) == doctest::Approx(1000 / 1.4));
  moved.pop_back(); // one in common
  CHECK(cuda::thousand_cycles_ns(began, moved) == doctest::Approx(1000 / 1.4));
}

TEST_CASE("sm clock: not known without a multiprocessor in common, or too soon, or of nonsense") {
  stamps elsewhere = later(began, 2);
  for (cuda::source::stamp& s : elsewhere)
    s.sm += 10;
  CHECK(cuda::thousand_cycles_ns(began, elsewhere) == 0);
  CHECK(cuda::thousand_cycles_ns(began, later(began, 0.1)) == 0);
  CHECK(cuda::thousand_cycles_ns(began, began) == 0);
  CHECK(cuda::thousand_cycles_ns(later(began, 2), began) == 0); // the last ones are old
  stamps stands = later(began, 2);
  for (std::size_t i = 0; i < stands.size(); ++i)
    stands[i].cycles = began[i].cycles + 1;
  CHECK(cuda::thousand_cycles_ns(began, stands) == 0);
}

TEST_CASE("sm clock: stamps enclose what a stream does" *
          doctest::skip(!on_fake() || !cuda::compiles)) {
  const cuda::stream s;
  const cuda::sm_clock c(s);
  CHECK(c.why_not().empty());
  const cuda::memory m(cuda_test::bytes_for(1'000'000));
  c.begin(s);
  cudaMemsetAsync(m.data(), 0, static_cast<std::size_t>(m.bytes()), s.get());
  c.end(s);
  s.wait();
  CHECK(c.thousand_cycles_ns() == doctest::Approx(1000 / 1.98).epsilon(0.01));
}
