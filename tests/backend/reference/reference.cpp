// SPDX-License-Identifier: Apache-2.0
// Are results rounded as their storage says, and are the right places checked?
#include "by_hand.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

TEST_CASE("quantised results are scaled, rounded to even and saturated") {
  const auto l = op::parse("Add/4");
  operands o = make_operands(l, numeric::u8s8u8);
  o.output_scale = 0.5;
  for (std::size_t i = 0; i < 4; ++i) {
    o.inputs[0].as<std::uint8_t>()[i] = std::array<std::uint8_t, 4>{1, 3, 255, 0}[i];
    o.inputs[1].as<std::uint8_t>()[i] = std::array<std::uint8_t, 4>{0, 0, 255, 0}[i];
  }
  const std::vector<std::int64_t> all{0, 1, 2, 3};
  std::vector<double> out(4);
  evaluate(l, numeric::u8s8u8, o, all, out);
  CHECK(out == std::vector<double>{0, 2, 255, 0});
  o.output_scale = 10;
  evaluate(l, numeric::u8s8u8, o, all, out);
  CHECK(out == std::vector<double>{10, 30, 255, 0});
  std::vector<double> short_of(3);
  CHECK_THROWS_AS(evaluate(l, numeric::f32, o, all, short_of), error);
}

TEST_CASE("all outputs are checked where they are few") {
  const auto all = positions_to_check(op::parse("Relu/3x4"), 100);
  REQUIRE(all.size() == 12);
  for (std::size_t i = 0; i < 12; ++i)
    CHECK(all[i] == static_cast<std::int64_t>(i));
  CHECK(positions_to_check(op::parse("Slice/3x4-0x4"), 100).empty());
}

TEST_CASE("of a softmax the place of the largest operand is checked too") {
  const auto l = op::parse("Softmax/3x1000-a1");
  operands o = make_operands(l, numeric::f32);
  const auto usual = positions_to_check(l, 60);
  for (const std::int64_t at : {std::int64_t{1234}, usual[7], std::int64_t{2999}}) {
    auto x = o.inputs[0].as<float>();
    std::fill(x.begin(), x.end(), 0.f);
    x[static_cast<std::size_t>(at)] = 500;
    const auto places = positions_to_check(l, 60, o);
    CHECK(std::binary_search(places.begin(), places.end(), at));
    CHECK(std::is_sorted(places.begin(), places.end()));
    CHECK(std::adjacent_find(places.begin(), places.end()) == places.end());
    CHECK(places.size() <= usual.size() + 1);
  }
}

TEST_CASE("corners, edges and random places where they are many") {
  const auto l = op::parse("Conv/1x64x56x56-64x3x3-s1-p1");
  const auto some = positions_to_check(l, 500);
  CHECK(some.size() <= 500);
  CHECK(some.size() > 450);
  CHECK(some == positions_to_check(l, 500));
  const std::set<std::int64_t> places(some.begin(), some.end());
  CHECK(places.size() == some.size());
  const shape out = op::output(l);
  for (std::int64_t c : {0, 63})
    for (std::int64_t y : {0, 55})
      for (std::int64_t x : {0, 55})
        CHECK(places.count(index_of(out, {0, c, y, x})) == 1);
  int edge = 0;
  for (std::int64_t p : some) {
    CHECK(p >= 0);
    CHECK(p < elements(out));
    edge += place_of(out, p)[3] == 0 || place_of(out, p)[3] == 55;
  }
  CHECK(edge > 50);
  CHECK(edge < 400);
  CHECK(positions_to_check(l, 3).size() == 3);
}

TEST_CASE("every kind of layer has a value in every type") {
  for (const char* name : {"Conv/1x3x5x5-4x3x3-s1",
                           "ConvTranspose/1x3x5x5-4x3x3-s1",
                           "Gemm/2x3x4",
                           "MatMul/2x3-3x4",
                           "MaxPool/1x3x5x5-2x2-s1",
                           "BatchNormalization/1x3x4",
                           "LRN/1x3x4-n3",
                           "LayerNormalization/3x4-a1-b",
                           "RMSNormalization/3x4-a1",
                           "GroupNormalization/1x4x3-g2",
                           "InstanceNormalization/1x2x3",
                           "Softmax/3-a0",
                           "Attention/1x2x3x4-causal-mask3x3",
                           "Exp/3",
                           "Add/3",
                           "ReduceMax/3x4-a0",
                           "Concat/4-a0-n2",
                           "Split/4-a0-n2",
                           "Transpose/2x3-o1x0",
                           "Pad/3-b1-e1",
                           "Slice/3-2",
                           "Gather/3-2",
                           "Resize/3-6-linear",
                           "DepthToSpace/1x4x2x2-k2",
                           "Identity/3"})
    for (numeric t : {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16, numeric::u8s8u8,
                      numeric::s8s8s8, numeric::e4m3}) {
      const auto l = op::parse(name);
      const operands o = make_operands(l, t);
      const auto where = positions_to_check(l, 1000);
      std::vector<double> out(where.size());
      evaluate(l, t, o, where, out);
      for (double v : out)
        CHECK_MESSAGE(std::isfinite(v), name);
      CHECK_MESSAGE(std::set<double>(out.begin(), out.end()).size() >
                        (t == numeric::u8s8u8 ? 0 : 1),
                    name << ' ' << std::string(benanza::name(t)));
    }
}
