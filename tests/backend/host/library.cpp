// SPDX-License-Identifier: Apache-2.0
// What the host offers, and whose memory its kernels read and write.
#include "checked.hpp"

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::test;

TEST_CASE("what the host cannot run is not offered") {
  const auto owned = test::built("host");
  library& lib = *owned;
  CHECK(lib.name() == "host");
  CHECK_FALSE(lib.facts().empty());
  for (const char* name : {"Conv/1x3x8x8-4x3x3-s1", "MatMul/2x3-3x4", "Flatten/1x2x3-1x6",
                           "Exp/5-s64", "And/5", "BitwiseAnd/5", "BitwiseNot/5", "Mean/5-u16"}) {
    const op::layer l = op::parse(name);
    CHECK(lib.enumerate(l, numeric::f32, {}).empty());
    CHECK_THROWS_AS(lib.prepare(l, numeric::f32, {}, {}, {}), error);
  }
  for (const char* name : {"Transpose/2x3-o1x0-s4", "Concat/4-a0-n2-u2", "Gather/4-2-e2m1"})
    CHECK(lib.enumerate(op::parse(name), numeric::f32, {}).empty());
  CHECK(lib.enumerate(op::parse("Relu/5"), numeric::f16, {}).empty());
  CHECK(lib.enumerate(op::parse("Attention/1x2x3x4"), numeric::u8s8u8, {}).empty());
  CHECK(lib.enumerate(op::parse("RMSNormalization/3x4-a1"), numeric::f16, {}).empty());
  CHECK(lib.enumerate(op::parse("Relu/5"), numeric::tf32, {}).empty());
  CHECK(lib.enumerate(op::parse("Asin/5"), numeric::u8s8u8, {}).empty());
  const op::layer gather = op::parse("Gather/10-3");
  operands o = make_operands(gather, numeric::f32);
  o.inputs[1].as<std::int64_t>()[1] = 10;
  CHECK_THROWS_AS(
      lib.prepare(gather, numeric::f32, lib.enumerate(gather, numeric::f32, {})[0], o, {}), error);
  CHECK(lib.enumerate(op::parse("Slice/5-3"), numeric::f16, {}).size() == 1);
}

TEST_CASE("activations are the memory that is read and written") {
  for (const std::string name : {"Relu/1x8x6x6", "Concat/1x8x6x6-a1-n2", "Mul/1x8x6x6-1x8x1x1"}) {
    CAPTURE(name);
    const op::layer l = op::parse(name);
    const auto owned = test::built("host");
    library& lib = *owned;
    const auto a = lib.enumerate(l, numeric::f32, {.threads = 1}).at(0);
    const auto p = lib.prepare(l, numeric::f32, a, make_operands(l, numeric::f32), {.threads = 1});
    const auto all = [&](auto is) {
      std::vector<double> out;
      p->read(out);
      return std::all_of(out.begin(), out.end(), is);
    };
    const auto none = [](double v) { return v == 0; };
    for (const std::span<std::byte> memory : p->chain()->operand_memory())
      std::fill(memory.begin(), memory.end(), std::byte{0});
    p->run(1);
    CHECK(all(none));
    CHECK(std::ssize(p->chain()->result_memory()) == 4 * elements(op::output(l)));
    std::fill(p->chain()->result_memory().begin(), p->chain()->result_memory().end(),
              std::byte{0x40});
    CHECK(all([](double v) { return v > 2; }));
    p->run(1);
    CHECK(all(none));
  }
}

TEST_CASE("scale and bias of a normalization are weights") {
  const op::layer l = op::parse("LayerNormalization/2x4-a1-b");
  const operands o = make_operands(l, numeric::f32);
  const auto owned = test::built("host");
  library& lib = *owned;
  const auto p = lib.prepare(l, numeric::f32, lib.enumerate(l, numeric::f32, {})[0], o, {});
  REQUIRE(p->weight_bytes() == 2 * 4 * 4);
  std::vector<double> own, pooled;
  p->run(1);
  p->read(own);
  std::vector<float> pool(8, 0.f);
  std::fill(pool.begin() + 4, pool.end(), 3.f); // a scale of zero, a bias of three
  p->rotate_weights(reinterpret_cast<std::byte*>(pool.data()), 32, 1);
  p->run(1);
  p->read(pooled);
  CHECK(pooled == std::vector<double>(8, 3));
  p->rotate_weights(nullptr, 0, 0);
  p->run(1);
  p->read(pooled);
  CHECK(pooled == own);
}

TEST_CASE("batch normalization takes its weights from a pool") {
  const op::layer l = op::parse("BatchNormalization/1x4x10");
  const operands o = make_operands(l, numeric::f32);
  const auto owned = test::built("host");
  library& lib = *owned;
  const auto p = lib.prepare(l, numeric::f32, lib.enumerate(l, numeric::f32, {})[0], o, {});
  REQUIRE(p->weight_bytes() == 4 * 2 * 4);
  std::vector<double> first, pooled, again;
  p->run(1);
  p->read(first);
  std::vector<float> pool(3 * 8, 2.f);
  p->rotate_weights(reinterpret_cast<std::byte*>(pool.data()), 32, 3);
  CHECK(p->time(5) > 0);
  p->read(pooled);
  CHECK(pooled[0] == doctest::Approx(2 * static_cast<double>(o.inputs[0].as<float>()[0]) + 2));
  p->rotate_weights(nullptr, 0, 0);
  p->run(1);
  p->read(again);
  CHECK(again == first);
}
