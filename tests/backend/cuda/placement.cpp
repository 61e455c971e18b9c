// SPDX-License-Identifier: Apache-2.0
// Do operands get to their places in memory, and back, whatever the strides, types and padding?
#include <benanza/backend/cuda/placement.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;

namespace {
tensor counted(const shape& dims, dtype type) {
  tensor t{.dims = dims, .type = type};
  t.bytes.resize(static_cast<std::size_t>(t.count() * size_bytes(type)));
  for (std::int64_t i = 0; i < t.count(); ++i)
    store(type, t.bytes.data(), i, static_cast<double>(i));
  return t;
}
std::vector<double> numbers(dtype type, std::span<const std::byte> bytes) {
  std::vector<double> out;
  load_all(type, bytes.data(), std::ssize(bytes) / size_bytes(type), out);
  return out;
}
using values = std::vector<double>;
} // namespace

TEST_CASE("cuda: elements are where the strides say") {
  const tensor t = counted({2, 3}, dtype::f32);
  CHECK(cuda::spread(t, {{2, 3}, {3, 1}, dtype::f32, 6}) == t.bytes);
  CHECK(numbers(dtype::f32, cuda::spread(t, {{2, 3}, {1, 2}, dtype::f32, 6})) ==
        values{0, 3, 1, 4, 2, 5});
  CHECK(numbers(dtype::f32, cuda::spread(t, {{2, 3}, {4, 1}, dtype::f32, 8})) ==
        values{0, 1, 2, 0, 3, 4, 5, 0}); // what is between is zero
}

TEST_CASE("cuda: matrices of a stack are transposed each for itself") {
  CHECK(cuda::matrix_strides({2, 3}, false) == shape{3, 1});
  CHECK(cuda::matrix_strides({2, 3}, true) == shape{1, 2});
  CHECK(cuda::matrix_strides({5, 2, 3}, true) == shape{6, 1, 2});
  CHECK(cuda::lies_two_ways(2, 3));
  CHECK_FALSE(cuda::lies_two_ways(1, 3));
  CHECK_FALSE(cuda::lies_two_ways(3, 1));
}

TEST_CASE("cuda: elements change their type, and are scaled, on the way") {
  const tensor t = counted({2, 3}, dtype::f32);
  CHECK(numbers(dtype::bf16, cuda::spread(t, {{6}, {1}, dtype::bf16, 6})) ==
        values{0, 1, 2, 3, 4, 5});
  CHECK(numbers(dtype::f32, cuda::spread(t, {{6}, {1}, dtype::f32, 6}, 0.5)) ==
        values{0, 0.5, 1, 1.5, 2, 2.5});
  CHECK(numbers(dtype::s8, cuda::spread(t, {{6}, {1}, dtype::s8, 6}, 100)) ==
        values{0, 100, 127, 127, 127, 127});
}

TEST_CASE("cuda: what was put somewhere is found there again") {
  const tensor t = counted({2, 3, 4}, dtype::f16);
  for (const shape& strides :
       {shape{12, 4, 1}, shape{12, 1, 3}, shape{1, 2, 6}, shape{40, 10, 2}}) {
    const cuda::stored there{t.dims, strides, dtype::f16, 80};
    values back;
    cuda::gather(there, cuda::spread(t, there), back);
    CHECK(back == numbers(t.type, t.bytes));
  }
}

TEST_CASE("cuda: an operand of another size is refused") {
  CHECK_THROWS_WITH_AS(cuda::spread(counted({2, 3}, dtype::f32), {{7}, {1}, dtype::f32, 7}),
                       "an operand has 6 elements in place of 7", error);
}
