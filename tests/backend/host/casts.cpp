// SPDX-License-Identifier: Apache-2.0
// Casts between all types.
#include "checked.hpp"

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::test;

TEST_CASE("casts between all types, on one thread and two") {
  const char* const types[] = {"real", "s8",  "u8",  "s16",  "u16", "s32",
                               "u32",  "s64", "u64", "bool", "f64"};
  for (const std::string from : types)
    for (const std::string to : types) {
      if (from == to) continue;
      check("Cast/1003-" + from + '-' + to);
      if (from == "real" && to != "f64") check("Cast/1003-real-" + to, numeric::bf16);
      if (to == "real" && from != "f64") check("Cast/1003-" + from + "-real", numeric::bf16);
      const bool exact = from != "f64"; // which is not rounded twice
      if (exact && (from == "real" || to == "real"))
        check("Cast/1003-" + from + '-' + to, numeric::f16);
    }
  for (const char* name :
       {"Cast/40x1003-real-s32", "Cast/40x1003-bool-s64", "Cast/1003-f32-f16", "Cast/1003-f16-f32",
        "Cast/1003-bf16-f16", "Cast/70000-f32-bf16", "Cast/9-f16-f64", "Cast/scalar-f64-f32"})
    check(name);
  for (const char* name : {"Cast/1003-s32-real", "Cast/1003-bool-real"}) {
    check(name, numeric::u8s8u8);
    check(name, numeric::s8s8s8);
  }
}

TEST_CASE("casts from and to elements of a byte and less") {
  const std::string narrow[] = {"e4m3", "e5m2", "e4m3z", "e5m2z", "e8m0",
                                "e2m1", "s2",   "u2",    "s4",    "u4"};
  for (const std::string& one : narrow) {
    for (const std::string& other : narrow)
      if (one != other) check("Cast/1003-" + one + '-' + other);
    for (const std::string wide :
         {"real", "f64", "f16", "bf16", "s8", "u16", "s32", "u64", "bool"}) {
      check("Cast/1003-" + one + '-' + wide);
      check("Cast/1003-" + wide + '-' + one);
    }
  }
  for (const char* name :
       {"Cast/70001-f32-s4", "Cast/70003-u2-f32", "Cast/1-s4-real", "Cast/1-f32-e2m1",
        "Cast/0-f32-s2", "Cast/scalar-u2-u4", "Cast/1003-f64-f16", "Cast/1003-f64-bf16"})
    check(name);
}

TEST_CASE("every float becomes the narrow float that the reference gives") {
  for (const char* type : {"e4m3", "e5m2", "e4m3z", "e5m2z", "e8m0", "e2m1", "s4", "u2"}) {
    const op::layer l = op::parse("Cast/65536-f32-" + std::string(type));
    operands o = make_operands(l, numeric::f32);
    for (std::uint32_t low :
         {0u, 1u, 0x8000u, 0xffffu}) { // all first halves of bits, ends and ties
      for (std::uint32_t high = 0; high < 65536; ++high)
        o.inputs[0].as<float>()[high] = std::bit_cast<float>(high << 16 | low);
      const auto got = computed(l, numeric::f32, o, 1);
      int wrong = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double right = reference::at(l, o, static_cast<std::int64_t>(i));
        wrong += !(got[i] == right || (std::isnan(got[i]) && std::isnan(right)));
      }
      CHECK_MESSAGE(wrong == 0, op::name(l) << ", " << low);
    }
  }
}

TEST_CASE("doubles and whole numbers are rounded once") {
  const op::layer l = op::parse("Cast/4-f64-f16"), w = op::parse("Cast/4-s32-bf16");
  operands o = make_operands(l, numeric::f32), p = make_operands(w, numeric::f32);
  const double doubles[] = {2049 + 0x1p-30, -2049 - 0x1p-30, 1e300, 0x1p-25 + 0x1p-60};
  std::copy_n(doubles, 4, o.inputs[0].as<double>().begin());
  CHECK(computed(l, numeric::f32, o, 1) == std::vector<double>{2050, -2050, HUGE_VAL, 0x1p-24});
  const std::int32_t whole[] = {(257 << 22) + 1, -(257 << 22) - 1, 257 << 22, 3};
  std::copy_n(whole, 4, p.inputs[0].as<std::int32_t>().begin());
  CHECK(computed(w, numeric::f32, p, 1) ==
        std::vector<double>{258. * 0x1p22, -258. * 0x1p22, 256. * 0x1p22, 3});
}

TEST_CASE("reals that whole numbers cannot hold become their ends") {
  const op::layer l = op::parse("Cast/18-real-s32");
  operands o = make_operands(l, numeric::f32);
  const float given[] = {3e9f, -3e9f, 2147483520.f, -2147483648.f, 1e30f, -0.99f};
  for (std::size_t i = 0; i < 18; ++i)
    o.inputs[0].as<float>()[i] = given[i % 6];
  const std::vector<double> right{2147483647,   -2147483648., 2147483520,
                                  -2147483648., 2147483647,   0};
  const auto got = computed(l, numeric::f32, o, 1);
  for (std::size_t i = 0; i < 18; ++i)
    CHECK(got[i] == right[i % 6]);
}
