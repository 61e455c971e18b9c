// SPDX-License-Identifier: Apache-2.0
// Does each mover take the right element? By hand, and by moving back what was moved.
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

TEST_CASE("movers, by hand") {
  CHECK(computed("Concat/2x3-a1-n2", {{1, 2, 3, 4}, {5, 6}}) ==
        std::vector<double>{1, 2, 5, 3, 4, 6});
  CHECK(computed("Split/2x3-a1-n2", {{1, 2, 5, 3, 4, 6}}) == counted(6));
  CHECK(computed("Transpose/2x3-o1x0", {counted(6)}) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(computed("Slice/5-3-from4-bym2", {counted(5)}) == std::vector<double>{5, 3, 1});
  CHECK(computed("Gather/3x2-3", {counted(6), {2, -1, 0}}) ==
        std::vector<double>{5, 6, 5, 6, 1, 2});
  CHECK(computed("DepthToSpace/1x4x1x1-k2", {counted(4)}) == counted(4));
  CHECK(computed("DepthToSpace/1x8x1x1-k2", {counted(8)}) ==
        std::vector<double>{1, 3, 5, 7, 2, 4, 6, 8});
  CHECK(computed("DepthToSpace/1x8x1x1-k2-crd", {counted(8)}) == counted(8));
  CHECK(computed("Flatten/1x2x2-1x4", {counted(4)}) == counted(4));
}

TEST_CASE("paddings, by hand") {
  CHECK(computed("Pad/3-b1-e2", {{1, 2, 3}}) == std::vector<double>{0, 1, 2, 3, 0, 0});
  CHECK(computed("Pad/3-b1-e2-edge", {{1, 2, 3}}) == std::vector<double>{1, 1, 2, 3, 3, 3});
  CHECK(computed("Pad/3-b3-e3-reflect", {{1, 2, 3}}) ==
        std::vector<double>{2, 3, 2, 1, 2, 3, 2, 1, 2});
  CHECK(computed("Pad/3-b2-e2-wrap", {{1, 2, 3}}) == std::vector<double>{2, 3, 1, 2, 3, 1, 2});
  CHECK(computed("Pad/3-bm1-em1", {{1, 2, 3}}) == std::vector<double>{2});
  // Cut first, then filled from what is left.
  CHECK(computed("Pad/3-bm1-e1-edge", {{1, 2, 3}}) == std::vector<double>{2, 3, 3});
  CHECK(computed("Pad/4-b1-em2-reflect", {{1, 2, 3, 4}}) == std::vector<double>{2, 1, 2});
}

TEST_CASE("resizes, by hand") {
  const auto resized = [](const std::string& key) {
    return computed("Resize/" + key, {{1, 2, 4}});
  };
  CHECK(resized("3-6") == std::vector<double>{1, 1, 2, 2, 4, 4});
  CHECK(resized("3-6-asymmetric") == std::vector<double>{1, 1, 2, 2, 4, 4});
  CHECK(resized("3-2") == std::vector<double>{1, 4}); // places 0.25 and 1.75
  CHECK(resized("3-2-asymmetric") == std::vector<double>{1, 2});
  CHECK(resized("3-5-linear-align_corners") == std::vector<double>{1, 1.5, 2, 3, 4});
  CHECK(resized("3-6-linear") == std::vector<double>{1, 1.25, 1.75, 2.5, 3.5, 4});
  CHECK(resized("3-1-linear-pytorch_half_pixel") == std::vector<double>{1});
  CHECK(resized("3-1-linear") == std::vector<double>{2});
  CHECK(resized("3-3-cubic") == std::vector<double>{1, 2, 4});
}

TEST_CASE("what is moved back is where it was") {
  const auto back_and_forth = [](const char* name, const char* inverse) {
    const auto l = op::parse(name), back = op::parse(inverse);
    const operands o = make_operands(l, numeric::f32);
    operands moved;
    moved.inputs = {o.inputs[0]};
    const auto values = outputs(l, o);
    for (std::size_t i = 0; i < values.size(); ++i)
      moved.inputs[0].as<float>()[i] = static_cast<float>(values[i]);
    const auto again = outputs(back, moved);
    for (std::size_t i = 0; i < again.size(); ++i)
      CHECK(again[i] == static_cast<double>(o.inputs[0].as<float>()[i]));
  };
  back_and_forth("Transpose/2x3x4x5-o2x0x3x1", "Transpose/4x2x5x3-o1x3x0x2");
  back_and_forth("SpaceToDepth/2x3x4x6-k2", "DepthToSpace/2x12x2x3-k2");
  back_and_forth("SpaceToDepth/2x3x4x6-k2-crd", "DepthToSpace/2x12x2x3-k2-crd");
  back_and_forth("Slice/7-7-from6-bym1", "Slice/7-7-from6-bym1");
}
