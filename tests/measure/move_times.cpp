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

TEST_CASE("as large a share of a move's slowest is left out as somebody was beside") {
  CHECK(move_times(2).undisturbed() == times_by_move{}); // nothing ran
  move_times t(2);
  for (int i = 0; i < 40; ++i) {
    t.add(10.0 + i % 10);
    t.looked(i < 20); // half of them
    t.add(100.0 + i % 10);
    t.looked(true); // nobody ever
    t.end(0);
  }
  const times_by_move undisturbed = t.undisturbed();
  REQUIRE(undisturbed.size() == 2);
  CHECK(undisturbed[0] == std::vector<double>{10, 11, 12, 13, 14, 10, 11, 12, 13, 14});
  REQUIRE(undisturbed[1].size() == 10); // as many, spread over all
  CHECK(*std::max_element(undisturbed[1].begin(), undisturbed[1].end()) > 105);
}
