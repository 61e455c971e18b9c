// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/environment.hpp>
#include <benanza/measure/ceilings/numa.hpp>
#include <benanza/measure/ceilings/process_copy.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::measure::ceilings;

namespace {
std::vector<int> allowed() {
  return numbers(machine::detail::affinity().second);
}
} // namespace

TEST_CASE("another process receives what was sent, and is gone afterwards") {
  for (std::int64_t bytes : {4096, 100'000}) {
    process_run r(bytes, allowed().back());
    CHECK_FALSE(r.right());
    r.run(2);
    CHECK(r.right());
  }
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1); // no child is left
}

TEST_CASE("a process that cannot start its work is an error, not a hang") {
  process_run r(4096, CPU_SETSIZE - 1);
  CHECK_THROWS_WITH_AS(r.run(1), doctest::Contains("the other process ended"), error);
}

TEST_CASE("a message is copied twice, each time read and written") {
  process_subject what(65536, allowed());
  CHECK(what.bytes == 4 * 65536);
  CHECK(what.key == "process-65536");
  if (allowed().size() < 2) {
    CHECK_THROWS_AS(what.ready(own_case(what, "two_copies")), error);
  } else {
    CHECK(what.ready(own_case(what, "two_copies")).run->time(1) > 0);
  }
}
