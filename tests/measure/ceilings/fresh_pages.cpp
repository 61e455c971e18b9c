// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/ceilings/fresh_pages.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

TEST_CASE("every execution touches fresh pages, all of them") {
  for (int threads : {1, 3}) {
    fresh_pages_run r(page_size::small, 1 << 20, threads);
    r.check("small");
    CHECK(r.ran() == "small_pages");
    CHECK(r.time(3) > 0);
  }
  if (huge_pages_given()) {
    fresh_pages_run r(page_size::huge, 2 * huge_page_bytes, 1);
    r.check("huge");
    CHECK(r.ran() == "huge_pages");
  }
}

TEST_CASE("both sizes of pages are made ready by their names") {
  fresh_pages_subject what(1);
  CHECK(what.bytes == 16 << 20);
  CHECK(fresh_pages_subject(1, 1 << 20).key == "first_touch-1048576");
  CHECK(what.ready(own_case(what, "small_pages")).run->ran() == "small_pages");
  if (huge_pages_given())
    CHECK(what.ready(own_case(what, "huge_pages")).run->ran() == "huge_pages");
}
