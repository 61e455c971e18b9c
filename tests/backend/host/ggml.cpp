// SPDX-License-Identifier: Apache-2.0
// Weights in ggml's blocks: what they hold, and products with them.
#include "checked.hpp"

#include <benanza/backend/ggml_blocks.hpp>

#include <bit>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::test;

namespace {
/// A block of random bytes whose scale is 1/8, and whose minimum, if it has one, a half.
std::vector<std::byte> some_block(op::ggml_format f) {
  using enum op::ggml_format;
  std::vector<std::byte> out(static_cast<std::size_t>(op::block_of(f).bytes));
  std::uint32_t state = 1;
  for (std::byte& b : out)
    b = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
  if (f == op::ggml_format::f16)
    store(dtype::f16, out.data(), 0, -0.375);
  else if (f == op::ggml_format::bf16)
    store(dtype::bf16, out.data(), 0, -10);
  else if (f == q6_k)
    store(dtype::f16, out.data() + 208, 0, 0.125);
  else if (f == mxfp4)
    out[0] = std::byte{126};
  else
    store(dtype::f16, out.data(), 0, 0.125);
  if (f == q4_1 || f == q5_1 || f == q4_k || f == q5_k) store(dtype::f16, out.data(), 1, 0.5);
  return out;
}
} // namespace

TEST_CASE("blocks of every format hold what ggml's own reader finds in them") {
  // Of the numbers: each times its place, added up; and the sum of their sizes.
  constexpr double expected[][2] = {{-0.375, 0.375},     {-10, 10},
                                    {-10.625, 16.125},   {796.75, 48.375},
                                    {-61.75, 34.875},    {1231.875, 73.25},
                                    {279.375, 257.375},  {520025.125, 4302.875},
                                    {1513392, 9858.625}, {-732162.875, 35339.625},
                                    {-90.625, 222.875},  {-211808.625, 28514.25},
                                    {-70.75, 36}};
  static_assert(std::size(expected) == std::size(op::ggml_names));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CAPTURE(std::string(op::ggml_names[i]));
    const auto f = static_cast<op::ggml_format>(i);
    float numbers[most_in_ggml_block];
    decode(f, some_block(f).data(), numbers);
    double placed = 0, sizes = 0;
    for (std::int64_t k = 0; k < op::block_of(f).weights; ++k) {
      placed += static_cast<double>(numbers[k]) * static_cast<double>(k + 1);
      sizes += std::fabs(static_cast<double>(numbers[k]));
    }
    CHECK(placed == expected[i][0]);
    CHECK(sizes == expected[i][1]);
  }
}

TEST_CASE("products with weights in ggml's blocks, of one row and of several") {
  for (const std::string_view format : op::ggml_names)
    for (const char* dims : {"1x1x512-n170", "2x768-n40", "3x256-n33", "7x1024-n100", "13x256-n5"})
      check("MatMulGgml/" + std::string(dims) + '-' + std::string(format));
}

TEST_CASE("rows that several matrices in ggml's blocks share") {
  for (const std::string_view format : op::ggml_names)
    for (const auto& [dims, experts] :
         {std::pair("1x10x256-n96", "e4"), std::pair("8x512-n33", "e8"),
          std::pair("1x7x256-n170", "e3"), std::pair("2x256-n5", "e2")})
      check("MatMulGgml/" + std::string(dims) + '-' + std::string(format) + '-' + experts);
}

TEST_CASE("rows of tables in ggml's blocks") {
  for (const std::string_view format : op::ggml_names)
    check("GatherGgml/50x512-2x3-" + std::string(format));
  check("GatherGgml/50x256-0-q4_k");
}
