// SPDX-License-Identifier: Apache-2.0
// Are numbers stored as their types say? Known codes, ties, saturation, and every code there and
// back.
#include <benanza/backend/number.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace benanza;
using namespace benanza::backend;

TEST_CASE("bf16 rounds to nearest even and keeps what is not a number") {
  CHECK(to_bf16(1.f) == 0x3f80);
  CHECK(to_bf16(1.00390625f) == 0x3f80); // halfway to the next: to even
  CHECK(to_bf16(1.01171875f) == 0x3f82); // halfway again: up, to even
  CHECK(to_bf16(1.00390637f) == 0x3f81); // just above half
  CHECK(to_bf16(3.4e38f) == 0x7f80);     // beyond the largest: infinity
  CHECK(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(0x7f800001u)))));
  CHECK(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(0xffffffffu)))));
  for (unsigned code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    if (!std::isnan(from_bf16(bits))) CHECK(to_bf16(from_bf16(bits)) == bits);
  }
}

TEST_CASE("narrow floats have the codes of their formats") {
  CHECK(f16_format.encode(1) == 0x3c00);
  CHECK(f16_format.encode(-2) == 0xc000);
  CHECK(f16_format.encode(65504) == 0x7bff);
  CHECK(f16_format.encode(65519) == 0x7bff);
  CHECK(f16_format.encode(65520) == 0x7c00);
  CHECK(f16_format.encode(0x1p-24) == 1);
  CHECK(f16_format.encode(0x1p-25) == 0);
  CHECK(f16_format.encode(0x1.8p-24) == 2);
  CHECK(f16_format.encode(0x1p-14) == 0x0400);
  CHECK(f16_format.encode(2049) == f16_format.encode(2048));
  CHECK(f16_format.encode(2051) == f16_format.encode(2052));
  CHECK(e4m3_format.encode(448) == 0x7e);
  CHECK(e4m3_format.encode(1e9) == 0x7e);
  CHECK(e4m3_format.encode(0x1p-9) == 1);
  CHECK(e4m3_format.decode(0x7f) != e4m3_format.decode(0x7f));
  CHECK(e4m3_format.decode(0x38) == 1);
  CHECK(e5m2_format.decode(0x7b) == 57344);
  CHECK(e5m2_format.encode(65536) == 0x7c);
  CHECK(e4m3z_format.encode(1e9) == 0x7f);
  CHECK(e4m3z_format.decode(0x7f) == 240);
  CHECK(e4m3z_format.decode(1) == 0x1p-10);
  CHECK(e4m3z_format.encode(-0.0) == 0);
  CHECK(e4m3z_format.encode(-0x1p-12) == 0);
  CHECK(e4m3z_format.encode(std::nan("")) == 0x80);
  CHECK(std::isnan(e5m2z_format.decode(0x80)));
  CHECK(e5m2z_format.decode(0xff) == -57344);
  CHECK(e2m1_format.decode(7) == 6);
  CHECK(e2m1_format.encode(-1e9) == 0xf);
  CHECK(e2m1_format.encode(2.5) == e2m1_format.encode(2)); // ties to even
  CHECK(e2m1_format.encode(0.25) == 0);
  CHECK(e2m1_format.encode(0.75) == 2);
  CHECK(to_e8m0(1) == 127);
  CHECK(to_e8m0(1.1) == 128);
  CHECK(to_e8m0(0) == 0);
  CHECK(to_e8m0(1e39) == 254);
  CHECK(to_e8m0(std::nan("")) == 255);
  for (int code = 0; code < 255; ++code)
    CHECK(to_e8m0(from_e8m0(static_cast<std::uint8_t>(code))) == code);
  for (const narrow_float f :
       {f16_format, e5m2_format, e4m3_format, e4m3z_format, e5m2z_format, e2m1_format}) {
    const unsigned codes = 1u << (f.exponent + f.mantissa + 1);
    for (unsigned code = 0; code < codes; ++code)
      if (!std::isnan(f.decode(code))) CHECK(f.encode(f.decode(code)) == code);
  }
}

TEST_CASE("whole numbers round to even and saturate") {
  CHECK(saturated<std::uint8_t>(2.5) == 2);
  CHECK(saturated<std::uint8_t>(3.5) == 4);
  CHECK(saturated<std::uint8_t>(255.6) == 255);
  CHECK(saturated<std::uint8_t>(-1) == 0);
  CHECK(saturated<std::int8_t>(-1e9) == -128);
  CHECK(saturated<std::int64_t>(1e30) == std::numeric_limits<std::int64_t>::max());
  CHECK(saturated<std::int32_t>(std::nan("")) == 0);
}

TEST_CASE("elements of every type can be written and read") {
  std::byte bytes[64]{};
  for (const auto& named : benanza::detail::dtype_names) {
    const dtype type = named.first;
    store(type, bytes, 3, 1);
    CHECK_MESSAGE(load(type, bytes, 3) == 1, std::string(named.second));
    std::vector<double> all;
    load_all(type, bytes, 4, all);
    CHECK(all.size() == 4);
    CHECK(all[3] == 1);
  }
  for (std::int64_t i = 0; i < 5; ++i)
    store(dtype::s4, bytes, i, static_cast<double>(i - 3));
  CHECK(bytes[0] == std::byte{0xed});
  CHECK(load(dtype::s4, bytes, 1) == -2);
  CHECK(load(dtype::s4, bytes, 4) == 1);
  store(dtype::s4, bytes, 1, 100);
  CHECK(load(dtype::s4, bytes, 1) == 7);
  CHECK(load(dtype::s4, bytes, 0) == -3);
  store(dtype::u2, bytes, 6, 2.5);
  CHECK(load(dtype::u2, bytes, 6) == 2);
  store(dtype::s8, bytes, 0, -7.5);
  CHECK(load(dtype::s8, bytes, 0) == -8);
  store(dtype::boolean, bytes, 0, 7);
  CHECK(load(dtype::boolean, bytes, 0) == 1);
}
