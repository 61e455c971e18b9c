// SPDX-License-Identifier: Apache-2.0
#include "machine_run.hpp"
#include <benanza/bound/roofline.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::bound;
using doctest::Approx;

namespace {
const op::layer conv = op::parse(synthetic::conv);
const op::layer relu = op::parse("Relu/1x64x112x112"); // 2 x 3.2 MB
} // namespace

TEST_CASE("arithmetic binds a convolution, memory a relu") {
  const ceilings c(synthetic::machine_run());
  const std::int64_t flops = op::cost(conv).flops();
  const roof a = roofline(c, conv, numeric::f32, 1, flops);
  CHECK_FALSE(a.by_memory);
  CHECK(a.ns == Approx(static_cast<double>(flops) / 100));
  const roof m = roofline(c, relu, numeric::f32, 1, op::cost(relu).flops());
  CHECK(m.by_memory);
  const double at_l3 = 2 * 64 * 112 * 112 * 4 / 100.0;
  CHECK(m.ns < at_l3); // a part may stay in a faster level
  CHECK(m.ns > 0.9 * at_l3);
}

TEST_CASE("a layer is held to the least arithmetic, in its own type") {
  const ceilings c(synthetic::machine_run());
  const std::int64_t flops = op::cost(conv).flops();
  const double direct = roofline(c, conv, numeric::f32, 1, flops).ns;
  CHECK(roofline(c, conv, numeric::f32, 1, flops / 4).ns == Approx(direct / 4).epsilon(1e-6));
  CHECK(roofline(c, conv, numeric::bf16, 1, flops).ns == Approx(direct / 2));
}

TEST_CASE("where a type of 16 bits computes slower than f32, f32 is the limit") {
  auto r = synthetic::machine_run();
  for (auto& m : r.measurements)
    if (m.type == "bf16") m.algorithm_flops /= 4; // half as fast as f32
  const std::int64_t flops = op::cost(conv).flops();
  const roof in_f32 = roofline(ceilings(r), conv, numeric::f32, 1, flops);
  const roof least = roofline(ceilings(r), conv, numeric::bf16, 1, flops);
  CHECK(least.ns == Approx(in_f32.ns));
  CHECK(least.wider_gain == Approx(2));
  CHECK(in_f32.wider_gain == 1);
  CHECK(roofline(ceilings(synthetic::machine_run()), conv, numeric::bf16, 1, flops).wider_gain ==
        1);
}

TEST_CASE(
    "beside weights in codes activations may be rounded: the faster arithmetic is the limit") {
  auto r = synthetic::machine_run();
  const op::layer codes = op::parse("MatMulGgml/1x512x2048-n2048-q4_k"),
                  nbits = op::parse("MatMulNBits/1x512x2048-n2048-k32"),
                  plain = op::parse("MatMul/1x512x2048-2048x2048");
  const std::int64_t flops = op::cost(codes).flops();
  const auto in = [&](const op::layer& l) {
    return roofline(ceilings(r), l, numeric::f32, 1, flops).ns;
  };
  CHECK(in(codes) == Approx(static_cast<double>(flops) / 100)); // bytes were not measured
  r.measurements.push_back(synthetic::machine_case("fma", 1e4, 3'000'000, 0, "u8s8u8"));
  CHECK(in(codes) == Approx(static_cast<double>(flops) / 300));
  CHECK(in(nbits) == Approx(static_cast<double>(flops) / 300));
  CHECK(in(plain) == Approx(static_cast<double>(flops) / 100));
  // In bf16 both have the same peak, of 200 a ns.
  CHECK(in(op::parse("MatMulGgml/1x512x2048-n2048-bf16")) ==
        Approx(static_cast<double>(flops) / 200));
}

TEST_CASE("what was not measured is unknown, and views cost nothing") {
  const ceilings c(synthetic::machine_run());
  CHECK(roofline(c, conv, numeric::u8s8u8, 1, 1000).ns == 0);
  CHECK(roofline(c, conv, numeric::f32, 2, 1000).ns == 0);
  CHECK(roofline(ceilings(synthetic::empty_run()), conv, numeric::f32, 1, 1000).ns == 0);
  CHECK(roofline(c, op::parse(synthetic::flatten), numeric::f32, 1, 0).ns == 0);
  const op::layer mover = op::parse("Transpose/1x64x56x56-o0x2x3x1");
  const roof moved = roofline(c, mover, numeric::u8s8u8, 1, 0); // no arithmetic: none is asked for
  CHECK(moved.ns > 0);
  CHECK(moved.by_memory);
}

TEST_CASE("a faster machine, fewer flops and a larger bandwidth never raise a roofline") {
  synthetic::random dice{11};
  for (int i = 0; i < 100; ++i) {
    const double faster = 1 + dice.unit();
    auto r = synthetic::empty_run();
    synthetic::add_machine(r, 1, faster);
    const ceilings quick(r), slow(synthetic::machine_run());
    const op::layer l = op::parse("Conv/1x" + std::to_string(1 + dice.below(200)) + "x28x28-" +
                                  std::to_string(1 + dice.below(200)) + "x1x1");
    const std::int64_t flops = op::cost(l).flops();
    const double base = roofline(slow, l, numeric::f32, 1, flops).ns;
    CHECK(roofline(quick, l, numeric::f32, 1, flops).ns <= base);
    CHECK(roofline(slow, l, numeric::f32, 1, flops / 2).ns <= base);
    CHECK(base > 0);
  }
}

TEST_CASE("what beats the ceilings is named") {
  auto r = synthetic::empty_run();
  synthetic::add_machine(r);
  const double least = static_cast<double>(op::cost(conv).flops()) / 100;
  synthetic::add(r, synthetic::conv, "honest", 0, least * 1.02);
  const double bytes = static_cast<double>(op::cost(relu).bytes(numeric::f32));
  synthetic::add(r, "Relu/1x64x112x112", "jit", 0, bytes / 90);
  CHECK(ceiling_faults(r, ceilings(r)).empty());

  auto too_fast = r;
  synthetic::add(too_fast, synthetic::conv, "impossible", 1, least * 0.9);
  const auto faults = ceiling_faults(too_fast, ceilings(too_fast));
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].find("impossible/hot") != std::string::npos);
  CHECK(faults[0].find("peak") != std::string::npos);

  auto memory = r;
  synthetic::add(memory, "Relu/1x64x112x112", "impossible", 1, bytes / 120);
  const auto named = ceiling_faults(memory, ceilings(memory));
  REQUIRE(named.size() == 1);
  CHECK(named[0].find("memory") != std::string::npos);
}

TEST_CASE("what beats the ceilings by its higher clock is no fault") {
  auto r = synthetic::empty_run();
  synthetic::add_machine(r);
  for (auto& m : r.measurements)
    m.min_clock_ns = 1300;
  const double least = static_cast<double>(op::cost(conv).flops()) / 100;
  synthetic::add(r, synthetic::conv, "quick", 0, least * 0.96);
  const double bytes = static_cast<double>(op::cost(relu).bytes(numeric::f32));
  synthetic::add(r, "Relu/1x64x112x112", "quick", 0, bytes / 120);
  const auto faults = [&](double clock_ns) {
    for (auto& m : r.measurements)
      if (m.algorithm == "quick") m.min_clock_ns = clock_ns;
    return ceiling_faults(r, ceilings(r)).size();
  };
  CHECK(faults(0) == 2); // unknown
  CHECK(faults(1300) == 2);
  CHECK(faults(1400) == 2);
  CHECK(faults(1250) == 1); // 4 % higher: the convolution's time is explained, the relu's is not
  CHECK(faults(1150) == 0);
}

TEST_CASE(
    "a peak that was measured at a low clock counts for what it would reach at a higher one") {
  auto r = synthetic::empty_run();
  synthetic::add_machine(r);
  const double least = static_cast<double>(op::cost(conv).flops()) / 100;
  synthetic::add(r, synthetic::conv, "quick", 0, least * 0.97);
  // Plain loops reached 100 GFLOP/s, products 98; the layer ran at the loops' clock.
  const auto faults = [&](double products_clock_ns) {
    for (auto& m : r.measurements)
      m.min_clock_ns = m.key == "matmul" ? products_clock_ns : 1300;
    return ceiling_faults(r, ceilings(r));
  };
  CHECK(faults(1300).size() == 1);
  CHECK(faults(1320).size() == 1); // would have reached 99.5
  CHECK(faults(1400).empty());     // 105
  CHECK(ceilings(r).peak_clock_ns(numeric::f32, 1) == Approx(1400 * 0.98));
  CHECK(faults(0).size() == 1); // unknown
  CHECK(ceilings(r).peak_clock_ns(numeric::f32, 1) == Approx(1300));
  CHECK(ceilings(r).peak_clock_ns(numeric::bf16, 1) == Approx(1300));
  CHECK(ceilings(r).peak_clock_ns(numeric::f16, 1) == 0);
}

TEST_CASE("an algorithm that needs less arithmetic is held to its own") {
  auto r = synthetic::empty_run();
  synthetic::add_machine(r);
  const double least = static_cast<double>(op::cost(conv).flops()) / 100;
  synthetic::add(r, synthetic::conv, "wino", 0, least * 0.4);
  for (auto& m : r.measurements)
    if (m.algorithm == "wino") m.algorithm_flops = m.flops / 4;
  CHECK(ceiling_faults(r, ceilings(r)).empty());
  for (auto& m : r.measurements)
    if (m.algorithm == "wino") m.algorithm_flops = m.flops;
  CHECK(ceiling_faults(r, ceilings(r)).size() == 1);
}

TEST_CASE("noise of a percent is no fault, and without ceilings nothing is") {
  auto r = synthetic::empty_run();
  synthetic::add(r, synthetic::conv, "a", 0, static_cast<double>(op::cost(conv).flops()) / 100.5);
  CHECK(ceiling_faults(r, ceilings(r)).empty());
  synthetic::add_machine(r);
  CHECK(ceiling_faults(r, ceilings(r)).empty());
  auto inexact = r;
  inexact.measurements[0].min_ns /= 10;
  CHECK(ceiling_faults(inexact, ceilings(inexact)).size() == 1);
  inexact.measurements[0].equivalence = "f32-inexact";
  CHECK(ceiling_faults(inexact, ceilings(inexact)).empty());
}
