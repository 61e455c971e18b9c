// SPDX-License-Identifier: Apache-2.0
// Is the best level of kernels taken that a processor has, or the one that is named, or none?
#include <benanza/backend/level.hpp>

#include <cstdlib>
#include <doctest/doctest.h>

namespace test_of_levels {
using benanza::backend::chosen_level;
using benanza::backend::kernel_level;

bool yes() {
  return true;
}
bool no() {
  return false;
}
const kernel_level old_processor[] = {{"v2", "v2.so", yes}, {"v3", "v3.so", yes}, {"v4", "", no}};

TEST_CASE("the highest level that runs is taken, or a lower one that is named") {
  CHECK(chosen_level(old_processor, "").name == "v3");
  CHECK(chosen_level(old_processor, "").built == "v3.so");
  CHECK(chosen_level(old_processor, "v2").name == "v2");
}

TEST_CASE("a level that is not there, or does not run here, is refused with those that do") {
  for (const char* named : {"v4", "v9"})
    CHECK_THROWS_WITH_AS(
        chosen_level(old_processor, named),
        doctest::Contains("there are v2, v3 (BENANZA_LEVEL=" + doctest::String(named)),
        benanza::error);
}

TEST_CASE("a processor below all levels is told to build the programs") {
  const kernel_level none[] = {{"v3", "", no}, {"v4", "", no}};
  CHECK_THROWS_WITH_AS(chosen_level(none, ""), doctest::Contains("fewer instructions than v3"),
                       benanza::error);
  CHECK_THROWS_AS(chosen_level(none, "v3"), benanza::error);
}

TEST_CASE("a level that is named is refused where the kernels are of one") {
  CHECK_NOTHROW(benanza::backend::require_levels());
  setenv("BENANZA_LEVEL", "x86-64-v3", 1);
  CHECK_THROWS_WITH_AS(benanza::backend::require_levels(), doctest::Contains("of one level"),
                       benanza::error);
  unsetenv("BENANZA_LEVEL");
}
} // namespace test_of_levels
