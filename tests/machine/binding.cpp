// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/binding.hpp>
#include <doctest/doctest.h>

#include <thread>

using namespace benanza::machine;

TEST_CASE("another processor is one of those allowed, and not the one we are on") {
  std::thread([] {
    const int here = sched_getcpu();
    CHECK(bind_to(here)); // or it may be another one the next moment
    CHECK(other_processor({}) == -1);
    CHECK(other_processor({here}) == -1);
    CHECK(other_processor({here, here + 1}) == here + 1);
    CHECK_FALSE(bind_to(CPU_SETSIZE - 1)); // there is none such
  }).join();
}
