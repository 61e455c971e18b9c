// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/team.hpp>
#include <doctest/doctest.h>

#include <set>

using namespace benanza::machine;

TEST_CASE("outside of a region there is one thread, the first") {
  CHECK(team_size() == 1);
  CHECK(team_rank() == 0);
}

TEST_CASE("each thread of a region has a number of its own below its size") {
  std::set<int> ranks;
  int size = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    ranks.insert(team_rank());
    if (team_rank() == 0) size = team_size();
  }
  CHECK(static_cast<int>(ranks.size()) == size);
  CHECK(*ranks.rbegin() == size - 1);
  dismiss_teams();
}
