// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/chain/storage.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using namespace benanza::measure;

TEST_CASE("rooms that were given back are taken again, the best fitting first") {
  activation_storage s;
  const int large = s.take(1000), small = s.take(100);
  CHECK(s.release(large));
  CHECK(!s.release(large));
  CHECK(s.release(small));
  const int again = s.take(90), grown = s.take(2000);
  s.allocate();
  CHECK(s.at(again) == s.at(small));
  CHECK(s.at(grown) == s.at(large));
  CHECK(s.bytes() == 2100);
  activation_storage held;
  const int input = held.hold(std::vector<std::byte>(8, std::byte{7}));
  CHECK(!held.release(input));
  held.allocate();
  CHECK(held.at(input)[7] == std::byte{7});
}
