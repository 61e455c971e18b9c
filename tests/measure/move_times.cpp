// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/move_times.hpp>
#include <doctest/doctest.h>

using namespace benanza::measure;

TEST_CASE("looks that were wrong leave no move undisturbed, later ones do") {
  move_times t(2);
  const auto execute = [&](double first_ns, double second_ns) {
    t.add(first_ns), t.looked(true);
    t.add(second_ns), t.looked(true);
    t.end(first_ns + second_ns);
  };
  execute(10, 20);
  CHECK(t.undisturbed() == times_by_move{{10}, {20}});
  t.disbelieve_looks();
  CHECK(t.undisturbed() == times_by_move{});
  CHECK(t.of({30}) == times_by_move{{10}, {20}});
  execute(5, 6);
  CHECK(t.undisturbed() == times_by_move{{5}, {6}});
}
