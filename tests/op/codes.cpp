// SPDX-License-Identifier: Apache-2.0
// Quantization and layers on codes: keys, bytes, what is refused.
#include <benanza/op/on_codes.hpp>
#include <benanza/op/quantize.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

namespace {
constexpr on_codes<conv> pointwise{
    .base = {.input = {1, 64, 8, 8}, .outputs = 32, .kernel = {1, 1}, .bias = true},
    .types = code_types::u8s8u8,
    .per_channel = true};
}

TEST_CASE("quantize: one scale, one for each place, one for each block") {
  constexpr quantize one{.input = {4, 64}, .code = dtype::s8};
  CHECK_TWICE(one.scales() == shape{});
  CHECK_TWICE(one.cost().bytes(numeric::f32) == 4 * 64 * 5 + 4);
  CHECK_TWICE(quantize{.input = {4, 64}, .axis = 1}.scales() == shape{64});
  CHECK_TWICE(quantize{.input = {4, 65}, .axis = 1, .block = 16}.scales() == shape{4, 5});
  CHECK(write_key(quantize{.input = {4, 64}, .axis = 1, .block = 16, .zero_point = true}) ==
        "4x64-u8-a1-k16-z");
  constexpr quantize few{.input = {3, 5}, .code = dtype::u2, .axis = 0, .zero_point = true};
  CHECK_TWICE(few.cost().fixed_bytes == 4 + 3 * 4 + 1);
  CHECK(write_key(few) == "3x5-u2-a0-z");
  constexpr lookup_table table{.input = {4, 64}, .to = dtype::s8};
  CHECK_TWICE(write_key(table) == "4x64-u8-s8");
  CHECK_TWICE(read_key(lookup_table{}, "4x64-u8-s8") == table);
  CHECK_TWICE(table.cost().fixed_bytes == 2 * 4 * 64 + 256);
  CHECK_REFUSED((lookup_table{.input = {4}, .to = dtype::s32}.validate()), "8 bits");
  for (const dtype wrong : {dtype::f32, dtype::e8m0, dtype::boolean})
    CHECK_REFUSED((quantize{.input = {4}, .code = wrong}.validate()), "whole numbers");
  CHECK_REFUSED((quantize{.input = {4}, .axis = 1}.validate()), "outside");
  CHECK_REFUSED((quantize{.input = {4}, .block = 2}.validate()), "along an axis");
}

TEST_CASE("on codes: bytes are those of the operands' own types") {
  CHECK_TWICE(pointwise.cost().bytes(numeric::f32) == 64 * 64 + 32 * 64 + 32 * 64 + 32 * 4);
  CHECK_TWICE(pointwise.cost().constant_bytes(numeric::f32) == 32 * 64 + 32 * 4);
  CHECK_TWICE(pointwise.cost().macs == 64 * 32 * 64);
  CHECK(computes_in(op::layer(pointwise), numeric::f32) == numeric::u8s8u8);
  CHECK(computes_in(op::layer(pointwise.base), numeric::f32) == numeric::f32);
  constexpr on_codes<matmul> real{.base = {.a = {2, 8}, .b = {8, 4}},
                                  .types = code_types::s8s8real};
  CHECK_TWICE(real.cost().bytes(numeric::f32) == 16 + 32 + 8 * 4);
}

TEST_CASE("on codes: the key says types, channels and zero points") {
  CHECK(write_key(pointwise) == "1x64x8x8-32x1x1-s1-b-u8s8u8-pc");
  on_codes<conv> p = pointwise;
  p.rectified = true;
  CHECK(p.canonical_form() == pointwise); // a code of u8 is no less than zero
  p.zero_result = true;
  CHECK(write_key(p.canonical_form()) == "1x64x8x8-32x1x1-s1-b-u8s8u8-pc-zr-relu");
  for (std::string_view name : {"QLinearAdd/4x8-u8u8u8", "QLinearMul/4x8-8-s8s8s8-za-zb-zr",
                                "MatMulInteger/4x8-8x2-u8s8s32", "QGemm/4x5x6-w-s8u8real-pc"})
    CHECK(op::name(op::parse(name)) == name);
  CHECK(*code_types_of(dtype::s8, dtype::u8, dtype::s32) == code_types::s8u8s32);
  CHECK_FALSE(code_types_of(dtype::s8, dtype::s16, dtype::s32));
}

TEST_CASE("on codes: what is refused") {
  CHECK_REFUSED(op::parse("ConvInteger/1x4x8x8-4x1x1-s1-u8s8u8"), "is s32");
  CHECK_REFUSED(op::parse("QLinearConv/1x4x8x8-4x1x1-s1-u8s8s32"), "codes, or real");
  CHECK_REFUSED(op::parse("ConvInteger/1x4x8x8-4x1x1-s1-b-u8s8s32"), "neither bias nor");
  CHECK_REFUSED(op::parse("QLinearAdd/4-u8u8u8-pc"), "does not belong");
  CHECK_REFUSED(op::parse("QGemm/4x5x6-w-s8u8real-zr"), "zero point");
  CHECK_REFUSED(op::parse("QGemm/4x5x6-w"), "lacks a word");
}
