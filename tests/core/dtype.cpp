// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/dtype.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace benanza;

TEST_CASE("every element type has one token that reads back") {
  std::set<std::string_view> seen;
  for (const auto& [type, token] : detail::dtype_names) {
    CHECK(name(type) == token);
    CHECK(parse_dtype(token) == type);
    CHECK(seen.insert(token).second);
    CHECK(token.find_first_of("/- \t") == std::string_view::npos);
  }
  CHECK(seen.size() == static_cast<std::size_t>(dtype::boolean) + 1);
}

TEST_CASE("every numeric class has one token that reads back") {
  std::set<std::string_view> seen;
  for (const auto& [type, token] : detail::numeric_names) {
    CHECK(name(type) == token);
    CHECK(parse_numeric(token) == type);
    CHECK(seen.insert(token).second);
  }
  CHECK(seen.size() == static_cast<std::size_t>(numeric::e4m3) + 1);
}

TEST_CASE("tokens are exact") {
  static_assert(name(dtype::boolean) == "bool");
  static_assert(name(dtype::real) == "real");
  static_assert(name(numeric::u8s8u8) == "u8s8u8");
  for (const char* text : {"", "F32", "f32 ", " f32", "float", "f3", "f321", "?", "fp16", "int8"}) {
    CAPTURE(std::string(text));
    CHECK(!parse_dtype(text));
    CHECK(!parse_numeric(text));
  }
  // A class is no element type and the other way round.
  CHECK(!parse_dtype("tf32"));
  CHECK(!parse_dtype("u8s8u8"));
  CHECK(!parse_numeric("s64"));
  CHECK(!parse_numeric("real"));
}

TEST_CASE("values outside the list have no name") {
  CHECK(name(static_cast<dtype>(200)) == "?");
  CHECK(name(static_cast<numeric>(200)) == "?");
}

TEST_CASE("the storage of each class") {
  struct row {
    numeric type;
    dtype source, weights, result;
    bool quantised;
    int significant_bits;
  };
  constexpr row table[] = {
      {numeric::f32, dtype::f32, dtype::f32, dtype::f32, false, 24},
      {numeric::tf32, dtype::f32, dtype::f32, dtype::f32, false, 11},
      {numeric::f16, dtype::f16, dtype::f16, dtype::f16, false, 11},
      {numeric::bf16, dtype::bf16, dtype::bf16, dtype::bf16, false, 8},
      {numeric::u8s8u8, dtype::u8, dtype::s8, dtype::u8, true, 0},
      {numeric::s8s8s8, dtype::s8, dtype::s8, dtype::s8, true, 0},
      {numeric::e4m3, dtype::e4m3, dtype::e4m3, dtype::e4m3, false, 4},
  };
  static_assert(std::size(table) == detail::numeric_names.size());
  for (const row& r : table) {
    CAPTURE(std::string(name(r.type)));
    CHECK(source_of(r.type) == r.source);
    CHECK(weights_of(r.type) == r.weights);
    CHECK(result_of(r.type) == r.result);
    CHECK(quantised(r.type) == r.quantised);
    CHECK(significant_bits(r.type) == r.significant_bits);
  }
}

TEST_CASE("the size of each element type") {
  struct row {
    dtype type;
    int bytes;
  };
  constexpr row table[] = {
      {dtype::f64, 8},  {dtype::f32, 4},   {dtype::f16, 2},     {dtype::bf16, 2}, {dtype::e4m3, 1},
      {dtype::e5m2, 1}, {dtype::e4m3z, 1}, {dtype::e5m2z, 1},   {dtype::e8m0, 1}, {dtype::e2m1, 1},
      {dtype::s2, 1},   {dtype::u2, 1},    {dtype::s4, 1},      {dtype::u4, 1},   {dtype::s8, 1},
      {dtype::u8, 1},   {dtype::s16, 2},   {dtype::u16, 2},     {dtype::s32, 4},  {dtype::u32, 4},
      {dtype::s64, 8},  {dtype::u64, 8},   {dtype::boolean, 1},
  };
  static_assert(std::size(table) + 1 == detail::dtype_names.size());
  for (const row& r : table) {
    CAPTURE(std::string(name(r.type)));
    CHECK(size_bytes(r.type) == r.bytes);
    CHECK(size_bytes(r.type, numeric::u8s8u8) == r.bytes); // the class says nothing here
  }
}

TEST_CASE("elements of less than a byte are packed") {
  static_assert(bytes_of(dtype::s4, 5) == 3);
  static_assert(bytes_of(dtype::u2, 5) == 2);
  static_assert(bytes_of(dtype::e2m1, 0) == 0);
  static_assert(bytes_of(dtype::real, 5, numeric::bf16) == 10);
  CHECK(bytes_of(dtype::u4, 8) == 4);
  CHECK(bytes_of(dtype::s64, std::int64_t{1} << 56) == std::int64_t{1} << 59);
  CHECK(packed_in_bytes(dtype::e2m1));
  CHECK(!packed_in_bytes(dtype::e8m0));
  CHECK(holds_reals(dtype::e2m1));
  CHECK(!holds_reals(dtype::s2));
}

TEST_CASE("real takes the storage of the class's sources") {
  static_assert(size_bytes(dtype::real) == 4);
  static_assert(size_bytes(dtype::real, numeric::bf16) == 2);
  CHECK(size_bytes(dtype::real, numeric::f32) == 4);
  CHECK(size_bytes(dtype::real, numeric::tf32) == 4);
  CHECK(size_bytes(dtype::real, numeric::f16) == 2);
  CHECK(size_bytes(dtype::real, numeric::u8s8u8) == 1);
  CHECK(size_bytes(dtype::real, numeric::s8s8s8) == 1);
  CHECK(size_bytes(dtype::real, numeric::e4m3) == 1);
}
