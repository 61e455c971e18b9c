// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/matmul_nbits.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("matmul_nbits: key, dims and cost") {
  constexpr matmul_nbits up{.a = {1, 1, 2048}, .n = 5632, .block = 32, .zero_points = true};
  CHECK_TWICE(write_key(up) == "1x1x2048-n5632-k32-z");
  CHECK_TWICE(read_key(matmul_nbits{}, "1x1x2048-n5632-k32-z") == up);
  CHECK_TWICE(up.output() == shape{1, 1, 5632});
  CHECK_TWICE(up.codes() == shape{5632, 64, 16});
  CHECK_TWICE(up.cost().macs == 2048 * 5632);
  CHECK_TWICE(up.cost().constant_fixed_bytes == 2048 * 5632 / 2 + 5632 * 32);
  CHECK_TWICE(up.cost().weights == 5632 * 64);
  constexpr matmul_nbits odd{.a = {3, 50}, .n = 7, .bits = 8, .block = 16, .bias = true};
  CHECK_TWICE(write_key(odd) == "3x50-n7-q8-k16-b");
  CHECK_TWICE(odd.codes() == shape{7, 4, 16}); // the last block is not full
  constexpr matmul_nbits four{
      .a = {1, 10, 64}, .n = 6, .block = 32, .zero_points = true, .bias = true, .experts = 4};
  CHECK_TWICE(write_key(four) == "1x10x64-n6-k32-z-b-e4");
  CHECK_TWICE(four.codes() == shape{24, 2, 16});
  CHECK_TWICE(four.output() == shape{1, 10, 6});
  CHECK_TWICE(four.cost().macs == 10 * 6 * 64); // each row meets one matrix
  CHECK_TWICE(four.cost().weights == 24 * 2 + 24);
  CHECK_TWICE(write_key(four.of_one(3)) == "3x64-n6-k32-z-b");
}

TEST_CASE("matmul_nbits: what makes no sense is refused") {
  CHECK_REFUSED((matmul_nbits{.a = {2, 32}, .n = 4, .bits = 3, .block = 32}.validate()), "4 or 8");
  CHECK_REFUSED((matmul_nbits{.a = {2, 32}, .n = 4, .block = 24}.validate()), "power of two");
  CHECK_REFUSED((matmul_nbits{.a = {2, 32}, .n = 0, .block = 32}.validate()), "empty");
  CHECK_REFUSED((matmul_nbits{.n = 4, .block = 32}.validate()), "scalar");
  CHECK_REFUSED((matmul_nbits{.a = {3, 32}, .n = 4, .block = 32, .experts = 4}.validate()),
                "fewer than the experts");
}
