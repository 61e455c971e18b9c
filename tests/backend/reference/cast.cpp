// SPDX-License-Identifier: Apache-2.0
// Are casts, choices and repetitions, and functions of whole numbers, what they are by hand?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

TEST_CASE("casts, by hand") {
  using row = std::vector<double>;
  CHECK(computed("Cast/4-real-s64", {{-1.9, 1.9, 0.5, -0.5}}) == row{-1, 1, 0, 0});
  CHECK(computed("Cast/3-real-u8", {{-7.5, 255.9, 3000}}) == row{0, 255, 255});
  CHECK(computed("Cast/3-s32-u8", {{-1, 256, 300}}) == row{255, 0, 44});
  CHECK(computed("Cast/2-s64-s8", {{200, -200}}) == row{-56, 56});
  CHECK(computed("Cast/3-real-bool", {{0, 0.25, -3}}) == row{0, 1, 1});
  CHECK(computed("Cast/2-bool-real", {{0, 1}}) == row{0, 1});
  CHECK(computed("Cast/2-f32-f16", {{1e6, 2049}})[1] == 2048);
  CHECK(computed("Cast/2-f32-e4m3", {{1e6, -1e6}}) == row{448, -448});
  const double least = 0x1p-127, none = std::nan("");
  CHECK(computed("Cast/4-f32-e4m3z", {{1e6, -0x1p-12, 0.47, -300}}) == row{240, 0, 0.46875, -240});
  CHECK(computed("Cast/2-f32-e5m2z", {{1e6, -1e6}}) == row{57344, -57344});
  CHECK(computed("Cast/5-f32-e2m1", {{0.48, 1.05, -3.5, 9, none}}) == row{0.5, 1, -4, 6, 0});
  CHECK(computed("Cast/4-f32-e8m0", {{0, 0.124, 1.1, 8}}) == row{least, 0.125, 2, 8});
  CHECK(computed("Cast/5-real-s4", {{-9, 7.9, 8, 15, -1}}) == row{7, 7, -8, -1, -1});
  CHECK(computed("Cast/4-s32-u2", {{-1, 4, 6, 3}}) == row{3, 0, 2, 3});
  CHECK(computed("Cast/3-s4-s64", {{-8, 7, -1}}) == row{-8, 7, -1});
  CHECK(computed("Cast/3-s4-u8", {{-8, 7, -1}}) == row{248, 7, 255});
  const op::layer power = op::parse("Cast/5-f32-e8m0");
  operands some = make_operands(power, numeric::f32);
  const float given[] = {0, 0x1p-130f, 1.5f, 1.4f, HUGE_VALF};
  std::copy_n(given, 5, some.inputs[0].as<float>().begin());
  some.attributes.round_mode = rounding::nearest;
  CHECK(at(power, some, 2) == 2);
  CHECK(at(power, some, 3) == 1);
  some.attributes.round_mode = rounding::down;
  CHECK(at(power, some, 2) == 1);
  CHECK(at(power, some, 4) == 0x1p127);
  some.attributes.saturates = false;
  for (const std::int64_t i : {0, 1, 4})
    CHECK(std::isnan(at(power, some, i)));
  const op::layer l = op::parse("Cast/2-f32-e4m3");
  operands o = make_operands(l, numeric::f32);
  o.inputs[0].as<float>()[0] = 500;
  o.attributes.saturates = false;
  CHECK(std::isnan(at(l, o, 0)));
}

TEST_CASE("choices and repetitions, by hand") {
  using row = std::vector<double>;
  CHECK(computed("Where/2x1-3-1", {{1, 0}, {1, 2, 3}, {9}}) == row{1, 2, 3, 9, 9, 9});
  CHECK(computed("Expand/2x1-2x2x3", {{1, 2}}) == row{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
  CHECK(computed("Tile/1x2-2x4", {{1, 2}}) == row{1, 2, 1, 2, 1, 2, 1, 2});
}

TEST_CASE("whole numbers, by hand") {
  using row = std::vector<double>;
  CHECK(computed("Add/2-u8", {{200, 255}, {100, 1}}) == row{44, 0});
  CHECK(computed("Sub/2-u16", {{0, 5}, {1, 3}}) == row{65535, 2});
  CHECK(computed("Mul/1-s8", {{100}, {3}}) == row{44});
  CHECK(computed("Div/4-s32", {{-7, 7, 7, -128}, {2, -2, 0, -1}}) == row{-3, -3, 0, 128});
  CHECK(computed("Mod/4-s32", {{-7, 7, 7, -7}, {3, -3, 3, -3}}) == row{2, -2, 1, -1});
  CHECK(computed("FMod/4-s32", {{-7, 7, 7, -7}, {3, -3, 3, -3}}) == row{-1, 1, 1, -1});
  CHECK(computed("Mod/3", {{-7, 7, -6}, {3, -3, 3}}) == row{2, -2, 0});
  CHECK(computed("FMod/2", {{-7.5, 7}, {3, -3}}) == row{-1.5, 1});
  CHECK(computed("BitwiseXor/2-s8", {{-1, 5}, {1, 3}}) == row{-2, 6});
  CHECK(computed("BitwiseNot/2-u8", {{0, 5}}) == row{255, 250});
  CHECK(computed("BitShiftLeft/3-u8", {{255, 1, 1}, {1, 7, 8}}) == row{254, 128, 0});
  CHECK(computed("BitShiftRight/3-s8", {{-8, 8, -8}, {1, 1, -1}}) == row{-4, 4, -1});
  CHECK(computed("Pow/3-s64", {{3, -1, 2}, {4, 3, -1}}) == row{81, -1, 0});
  CHECK(computed("Abs/2-s16", {{-5, -32768}}) == row{5, -32768});
  CHECK(computed("Clip/3-u8", {{0, 40, 200}}) == row{0, 40, 50});
}

TEST_CASE("reductions of nothing") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto of = [](const char* name) { return computed(name, {{}}); };
  CHECK(of("ReduceSum/2x0-a1") == std::vector<double>{0, 0});
  CHECK(of("ReduceProd/1x0-a1")[0] == 1);
  CHECK(of("ReduceMax/1x0-a1")[0] == -infinite);
  CHECK(of("ReduceLogSumExp/1x0-a1")[0] == -infinite);
  CHECK(of("ReduceMin/1x0-a1-s32")[0] == 2147483647);
  CHECK(of("ReduceMax/1x0-a1-bool")[0] == 0);
}
