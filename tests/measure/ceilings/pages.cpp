// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/ceilings/pages.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure::ceilings;

TEST_CASE("fresh pages are zeros on a huge page's boundary") {
  for (page_size size : {page_size::small, page_size::huge}) {
    const pages p(3 * huge_page_bytes + 5000, size);
    CHECK(reinterpret_cast<std::uintptr_t>(p.data()) % huge_page_bytes == 0);
    CHECK(p.bytes() == 3 * huge_page_bytes + 5000);
    for (std::int64_t i = 0; i < p.bytes(); i += 777)
      REQUIRE(p.data()[i] == std::byte{0});
    p.data()[p.bytes() - 1] = std::byte{7};
  }
}

TEST_CASE("pages know how many of them are huge") {
  const pages p(4 * huge_page_bytes, page_size::small);
  std::memset(p.data(), 1, 4 * huge_page_bytes);
  CHECK(p.huge_bytes() == 0);
  if (!huge_pages_given()) return;
  const pages q(4 * huge_page_bytes, page_size::huge);
  std::memset(q.data(), 1, 4 * huge_page_bytes);
  CHECK(q.huge_bytes() > 0);
  CHECK(q.huge_bytes() % huge_page_bytes == 0);
}

TEST_CASE("memory that cannot be had is refused") {
  CHECK_THROWS_AS(pages(std::int64_t{1} << 60), error);
}

TEST_CASE("sources are filled as far as they are asked for, and stay") {
  working_memory m(1 << 22);
  const float* x = m.sources(4096);
  CHECK(x[0] == source_value(0));
  CHECK(x[1023] == source_value(1023));
  m.results()[5] = -1;
  CHECK(m.sources(1 << 22) == x);
  CHECK(x[5] == source_value(5));
  CHECK(x[(1 << 20) - 1] == source_value((1 << 20) - 1));
}
