// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/conv.hpp>

#include "checks.hpp"

#include <limits>

using namespace benanza;
using namespace benanza::op;

namespace {
constexpr conv resnet_3x3{
    .input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
} // namespace

TEST_CASE("conv: ResNet-50's 3x3") {
  constexpr work w = resnet_3x3.cost();
  CHECK_TWICE(resnet_3x3.output() == shape{1, 64, 56, 56});
  CHECK_TWICE(resnet_3x3.weights() == shape{64, 64, 3, 3});
  CHECK_TWICE(w.macs == 115605504); // 64 * 56 * 56 outputs, 64 * 9 taps each
  CHECK_TWICE(w.other == 0);
  CHECK_TWICE(w.flops() == 231211008);
  CHECK_TWICE(w.sources == 200704);
  CHECK_TWICE(w.weights == 36864);
  CHECK_TWICE(w.vectors == 0);
  CHECK_TWICE(w.results == 200704);
  CHECK_TWICE(w.bytes(numeric::f32) == 1753088);
  CHECK_TWICE(w.bytes(numeric::tf32) == 1753088);
  CHECK_TWICE(w.bytes(numeric::bf16) == 876544);
  CHECK_TWICE(w.bytes(numeric::u8s8u8) == 438272);
  CHECK_TWICE(w.constant_bytes(numeric::f32) == 147456);
  CHECK_TWICE(write_key(resnet_3x3) == "1x64x56x56-64x3x3-s1-p1");
}

TEST_CASE("conv: direct algorithms leave out the taps that are in the padding") {
  constexpr conv padded{
      .input = {1, 256, 14, 14}, .outputs = 256, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  CHECK_TWICE(padded.direct_flops() == 2LL * 256 * 256 * (3 * 14 - 2) * (3 * 14 - 2));
  constexpr conv plain{.input = {2, 8, 9, 9}, .outputs = 4, .kernel = {3, 3}, .bias = true};
  CHECK_TWICE(plain.direct_flops() == plain.cost().flops());

  // Counted tap by tap.
  for (const char* key :
       {"1x1x10-1x3-s2-p1x0", "1x1x7-1x5-s1-p4-d2", "1x1x5-1x3-s3-p2x1", "1x1x4-1x7-s1-p3"}) {
    const conv c = read_key(conv{}, key);
    std::int64_t inside = 0;
    for (std::int64_t o = 0; o < c.output()[2]; ++o)
      for (std::int64_t k = 0; k < c.kernel[0]; ++k) {
        const std::int64_t at =
            o * entry(c.strides, 0, 1) - entry(c.pads, 0, 0) + k * entry(c.dilations, 0, 1);
        inside += at >= 0 && at < c.input[2];
      }
    CAPTURE(key);
    CHECK(c.direct_flops() == 2 * inside);
  }
  // As fast for any size.
  const conv huge = read_key(conv{}, "1x1x1099511627776-1x1099511627776-s1-p1000x0");
  CHECK(huge.direct_flops() == 2 * (1001 * huge.kernel[0] - 1001 * 1000 / 2));
}

TEST_CASE("conv: a bias costs an add an output and is read in f32") {
  constexpr conv c{.input = {1, 64, 56, 56},
                   .outputs = 64,
                   .kernel = {3, 3},
                   .pads = {1, 1, 1, 1},
                   .bias = true};
  CHECK_TWICE(c.cost().macs == 115605504);
  CHECK_TWICE(c.cost().other == 200704);
  CHECK_TWICE(c.cost().flops() == 231411712);
  CHECK_TWICE(c.cost().vectors == 64);
  CHECK_TWICE(c.cost().bytes(numeric::f32) == 1753088 + 256);
  CHECK_TWICE(c.cost().bytes(numeric::bf16) == 876544 + 256);
  CHECK_TWICE(c.cost().bytes(numeric::u8s8u8) == 438272 + 256);
  CHECK_TWICE(write_key(c) == "1x64x56x56-64x3x3-s1-p1-b");
}

TEST_CASE("conv: ResNet-50's first layer, batch 8") {
  constexpr conv c{.input = {8, 3, 224, 224},
                   .outputs = 64,
                   .kernel = {7, 7},
                   .strides = {2, 2},
                   .pads = {3, 3, 3, 3}};
  CHECK_TWICE(c.output() == shape{8, 64, 112, 112});
  CHECK_TWICE(c.cost().macs == 8 * 118013952LL);
  CHECK_TWICE(write_key(c) == "8x3x224x224-64x7x7-s2-p3");
}

TEST_CASE("conv: one spatial dim with uneven pads") {
  constexpr conv c{
      .input = {2, 8, 100}, .outputs = 16, .kernel = {5}, .strides = {2}, .pads = {2, 1}};
  CHECK_TWICE(c.output() == shape{2, 16, 50}); // (103 - 5) / 2 + 1
  CHECK_TWICE(c.weights() == shape{16, 8, 5});
  CHECK_TWICE(c.cost().macs == 64000);
  CHECK_TWICE(c.cost().bytes(numeric::f32) == (1600 + 640 + 1600) * 4);
  CHECK_TWICE(write_key(c) == "2x8x100-16x5-s2-p2x1");
}

TEST_CASE("conv: three spatial dims") {
  constexpr conv c{.input = {1, 3, 16, 112, 112},
                   .outputs = 64,
                   .kernel = {3, 7, 7},
                   .strides = {1, 2, 2},
                   .pads = {1, 3, 3, 1, 3, 3}};
  CHECK_TWICE(c.output() == shape{1, 64, 16, 56, 56});
  CHECK_TWICE(c.weights() == shape{64, 3, 3, 7, 7});
  CHECK_TWICE(c.cost().macs == 1416167424);
  CHECK_TWICE(write_key(c) == "1x3x16x112x112-64x3x7x7-s1x2x2-p1x3x3");
}

TEST_CASE("conv: groups and depthwise") {
  constexpr conv grouped{.input = {1, 128, 28, 28},
                         .outputs = 128,
                         .kernel = {3, 3},
                         .pads = {1, 1, 1, 1},
                         .groups = 32};
  CHECK_TWICE(grouped.weights() == shape{128, 4, 3, 3});
  CHECK_TWICE(grouped.cost().macs == 3612672); // 100352 outputs, 4 * 9 taps
  CHECK_TWICE(grouped.cost().weights == 4608);
  CHECK_TWICE(write_key(grouped) == "1x128x28x28-128x3x3-s1-p1-g32");

  constexpr conv depthwise{.input = {1, 32, 112, 112},
                           .outputs = 32,
                           .kernel = {3, 3},
                           .strides = {2, 2},
                           .pads = {1, 1, 1, 1},
                           .groups = 32};
  CHECK_TWICE(depthwise.output() == shape{1, 32, 56, 56});
  CHECK_TWICE(depthwise.cost().macs == 903168);
  CHECK_TWICE(depthwise.cost().bytes(numeric::u8s8u8) == 401408 + 288 + 100352);
  CHECK_TWICE(write_key(depthwise) == "1x32x112x112-32x3x3-s2-p1-g32");

  // A channel multiplier of two.
  constexpr conv doubled{.input = {1, 8, 4, 4}, .outputs = 16, .kernel = {1, 1}, .groups = 8};
  CHECK_TWICE(doubled.weights() == shape{16, 1, 1, 1});
  CHECK_TWICE(doubled.cost().macs == 256);
}

TEST_CASE("conv: dilation") {
  constexpr conv c{.input = {1, 16, 32, 32},
                   .outputs = 16,
                   .kernel = {3, 3},
                   .pads = {2, 2, 2, 2},
                   .dilations = {2, 2}};
  CHECK_TWICE(c.output() == shape{1, 16, 32, 32});
  CHECK_TWICE(c.cost().macs == 16 * 1024 * 16 * 9); // dilation adds no arithmetic
  CHECK_TWICE(write_key(c) == "1x16x32x32-16x3x3-s1-p2-d2");

  constexpr conv uneven{
      .input = {1, 1, 9, 12}, .outputs = 1, .kernel = {3, 3}, .dilations = {1, 4}};
  CHECK_TWICE(uneven.output() == shape{1, 1, 7, 4});
  CHECK_TWICE(write_key(uneven) == "1x1x9x12-1x3x3-s1-d1x4");
}

TEST_CASE("conv: 1x7 with pads on w only") {
  constexpr conv c{
      .input = {1, 128, 17, 17}, .outputs = 128, .kernel = {1, 7}, .pads = {0, 3, 0, 3}};
  CHECK_TWICE(c.output() == shape{1, 128, 17, 17});
  CHECK_TWICE(c.cost().macs == 33144832);
  CHECK_TWICE(write_key(c) == "1x128x17x17-128x1x7-s1-p0x3");
  // Pads read as h-begin, h-end, w-begin, w-end would give 20 x 14.
  constexpr conv wrong{
      .input = {1, 128, 17, 17}, .outputs = 128, .kernel = {1, 7}, .pads = {0, 0, 3, 3}};
  CHECK_TWICE(wrong.output() == shape{1, 128, 20, 14});
  CHECK_TWICE(write_key(wrong) == "1x128x17x17-128x1x7-s1-p0x0x3x3");
}

TEST_CASE("conv: four different pads") {
  constexpr conv c{.input = {1, 1, 10, 10}, .outputs = 1, .kernel = {3, 3}, .pads = {0, 1, 2, 3}};
  CHECK_TWICE(c.output() == shape{1, 1, 10, 12});
  CHECK_TWICE(write_key(c) == "1x1x10x10-1x3x3-s1-p0x1x2x3");
}

TEST_CASE("conv: the canonical form") {
  constexpr conv wordy{.input = {1, 64, 56, 56},
                       .outputs = 64,
                       .kernel = {3, 3},
                       .strides = {1, 1},
                       .pads = {1, 1, 1, 1},
                       .dilations = {1, 1}};
  CHECK_TWICE(wordy.canonical_form() == resnet_3x3);
  CHECK_TWICE(wordy.canonical_form().canonical_form() == wordy.canonical_form());
  // A dilated 1x1 is a 1x1.
  constexpr conv pointwise{
      .input = {1, 8, 4, 4}, .outputs = 8, .kernel = {1, 1}, .dilations = {2, 2}};
  CHECK_TWICE(write_key(pointwise.canonical_form()) == "1x8x4x4-8x1x1-s1");
  constexpr conv row{.input = {1, 8, 9, 9}, .outputs = 8, .kernel = {1, 3}, .dilations = {2, 2}};
  CHECK_TWICE(write_key(row.canonical_form()) == "1x8x9x9-8x1x3-s1-d1x2");
}

TEST_CASE("conv: what is refused") {
  const conv good = resnet_3x3;
  good.validate();
  const auto refuses = [&](auto change, const char* part) {
    conv c = good;
    change(c);
    CHECK_REFUSED(c.validate(), part);
  };
  refuses([](conv& c) { c = {}; }, "one to three spatial dims");
  refuses([](conv& c) { c.input = {1, 64, 56}; }, "one to three spatial dims");
  refuses([](conv& c) { c.input = {1, 64}, c.kernel = {}; }, "one to three spatial dims");
  refuses([](conv& c) { c.input[0] = -1; }, "negative");
  refuses([](conv& c) { c.input[2] = -5; }, "negative");
  refuses([](conv& c) { c.input[3] = largest; }, "2^40");
  refuses([](conv& c) { c.input[1] = 0; }, "channels");
  refuses([](conv& c) { c.outputs = 0; }, "channels");
  refuses([](conv& c) { c.outputs = -64; }, "channels");
  refuses([](conv& c) { c.outputs = largest; }, "channels");
  refuses([](conv& c) { c.groups = 0; }, "groups");
  refuses([](conv& c) { c.groups = -1; }, "groups");
  refuses([](conv& c) { c.groups = 3; }, "groups");
  refuses([](conv& c) { c.groups = 128; }, "groups");
  refuses([](conv& c) { c.outputs = 96, c.groups = 64; }, "groups");
  refuses([](conv& c) { c.kernel[0] = 0; }, "kernel");
  refuses([](conv& c) { c.kernel = {59, 3}; }, "larger than its padded input");
  refuses([](conv& c) { c.strides = {0, 1}; }, "stride");
  refuses([](conv& c) { c.strides = {2}; }, "match the spatial dims");
  refuses([](conv& c) { c.strides = {2, 2, 2}; }, "match the spatial dims");
  refuses([](conv& c) { c.strides = {largest, 1}; }, "stride");
  refuses([](conv& c) { c.dilations = {0, 1}; }, "dilation");
  refuses([](conv& c) { c.dilations = {1}; }, "match the spatial dims");
  refuses([](conv& c) { c.dilations = {dim_limit, dim_limit}; }, "larger than its padded input");
  refuses([](conv& c) { c.pads = {1, 1}; }, "match the spatial dims");
  refuses([](conv& c) { c.pads = {1, 1, 1}; }, "match the spatial dims");
  refuses([](conv& c) { c.pads = {1, 1, 1, -1}; }, "pad");
  refuses([](conv& c) { c.pads = {largest, 1, 1, 1}; }, "pad");
  refuses([](conv& c) { c.input = {dim_limit, 64, dim_limit, 56}; }, "2^56");
  refuses([](conv& c) { c.outputs = dim_limit, c.input[1] = dim_limit; }, "2^56");
}

TEST_CASE("conv_transpose: stride 2 with an output pad") {
  constexpr conv_transpose c{.input = {1, 16, 7, 7},
                             .outputs = 8,
                             .kernel = {3, 3},
                             .strides = {2, 2},
                             .pads = {1, 1, 1, 1},
                             .output_pads = {1, 1}};
  CHECK_TWICE(c.output() == shape{1, 8, 14, 14}); // 6 * 2 + 3 + 1 - 2
  CHECK_TWICE(c.weights() == shape{16, 8, 3, 3});
  CHECK_TWICE(c.cost().macs == 56448); // 16 * 49 inputs, 8 * 9 taps each
  CHECK_TWICE(c.cost().bytes(numeric::f32) == (784 + 1152 + 1568) * 4);
  CHECK_TWICE(write_key(c) == "1x16x7x7-8x3x3-s2-p1-op1");
}

TEST_CASE("conv_transpose: a size that no number can hold is refused wherever it is asked for") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(),
                 most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t bad : {least, most, std::int64_t{-1}}) {
    CAPTURE(bad);
    const conv_transpose good{.input = {1, 4, 7, 7}, .outputs = 8, .kernel = {3, 3}};
    conv_transpose c = good;
    c.pads = {bad, 0, 0, 0};
    CHECK_REFUSED(c.output(), "over 2^40");
    c = good;
    c.output_pads = {0, bad};
    CHECK_REFUSED(c.output(), "over 2^40");
    c = good;
    c.input = {1, 4, bad, 7};
    CHECK_REFUSED(c.output(), "over 2^40");
    c = good;
    c.kernel = {3, bad};
    c.strides = {1, 1};
    if (bad < 0) CHECK_REFUSED(c.output(), "kernel must be 1 or more");
  }
}

TEST_CASE("conv_transpose: other forms") {
  constexpr conv_transpose even{.input = {1, 16, 7, 7},
                                .outputs = 8,
                                .kernel = {4, 4},
                                .strides = {2, 2},
                                .pads = {1, 1, 1, 1},
                                .bias = true};
  CHECK_TWICE(even.output() == shape{1, 8, 14, 14}); // 12 + 4 - 2
  CHECK_TWICE(even.cost().other == 1568);
  CHECK_TWICE(even.cost().vectors == 8);
  CHECK_TWICE(write_key(even) == "1x16x7x7-8x4x4-s2-p1-b");

  constexpr conv_transpose dilated{
      .input = {1, 4, 7, 7}, .outputs = 2, .kernel = {3, 3}, .dilations = {2, 3}};
  CHECK_TWICE(dilated.output() == shape{1, 2, 11, 13}); // 6 + 5, 6 + 7
  CHECK_TWICE(write_key(dilated) == "1x4x7x7-2x3x3-s1-d2x3");

  constexpr conv_transpose grouped{
      .input = {2, 8, 5, 5}, .outputs = 12, .kernel = {2, 2}, .strides = {2, 2}, .groups = 4};
  CHECK_TWICE(grouped.output() == shape{2, 12, 10, 10});
  CHECK_TWICE(grouped.weights() == shape{8, 3, 2, 2});
  CHECK_TWICE(grouped.cost().macs == 4800); // 400 inputs, 3 * 4 taps
  CHECK_TWICE(write_key(grouped) == "2x8x5x5-12x2x2-s2-g4");

  constexpr conv_transpose line{.input = {1, 4, 10},
                                .outputs = 4,
                                .kernel = {5},
                                .strides = {3},
                                .pads = {2, 1},
                                .output_pads = {2}};
  CHECK_TWICE(line.output() == shape{1, 4, 31}); // 27 + 5 + 2 - 3
  CHECK_TWICE(write_key(line) == "1x4x10-4x5-s3-p2x1-op2");

  constexpr conv_transpose cube{.input = {1, 2, 3, 4, 5},
                                .outputs = 2,
                                .kernel = {2, 2, 2},
                                .strides = {2, 2, 1},
                                .output_pads = {1, 0, 0}};
  CHECK_TWICE(cube.output() == shape{1, 2, 7, 8, 6});
  CHECK_TWICE(write_key(cube) == "1x2x3x4x5-2x2x2x2-s2x2x1-op1x0x0");
}

TEST_CASE("conv_transpose: the canonical form") {
  constexpr conv_transpose wordy{.input = {1, 2, 3, 3},
                                 .outputs = 2,
                                 .kernel = {1, 1},
                                 .strides = {1, 1},
                                 .pads = {0, 0, 0, 0},
                                 .dilations = {3, 3},
                                 .output_pads = {0, 0}};
  CHECK_TWICE(wordy.canonical_form() ==
              conv_transpose{.input = {1, 2, 3, 3}, .outputs = 2, .kernel = {1, 1}});
}

TEST_CASE(
    "conv_weight_gradient: it reads what its convolution reads and writes, and does as much") {
  constexpr conv_weight_gradient g{.input = {2, 8, 9, 9},
                                   .outputs = 12,
                                   .kernel = {3, 3},
                                   .strides = {2, 2},
                                   .pads = {1, 1, 1, 1},
                                   .groups = 4};
  CHECK_TWICE(g.gradient() == shape{2, 12, 5, 5});
  CHECK_TWICE(g.output() == shape{12, 2, 3, 3});
  CHECK_TWICE(g.cost().macs == g.forward().cost().macs);
  CHECK_TWICE(g.cost().bytes(numeric::f32) == (1296 + 600 + 216) * 4);
  CHECK_TWICE(g.direct_flops() == g.forward().direct_flops());
  CHECK_TWICE(write_key(g) == "2x8x9x9-12x3x3-s2-p1-g4");
  CHECK_REFUSED(
      (conv_weight_gradient{.input = {0, 8, 9, 9}, .outputs = 8, .kernel = {1, 1}}.validate()),
      "no gradient");
  CHECK_REFUSED(
      (conv_weight_gradient{.input = {1, 8, 9, 9}, .outputs = 8, .kernel = {0, 1}}.validate()),
      "kernel");
}

TEST_CASE("conv_transpose: what is refused") {
  const conv_transpose good{
      .input = {1, 16, 7, 7}, .outputs = 8, .kernel = {3, 3}, .strides = {2, 2}};
  good.validate();
  const auto refuses = [&](auto change, const char* part) {
    conv_transpose c = good;
    change(c);
    CHECK_REFUSED(c.validate(), part);
  };
  refuses([](conv_transpose& c) { c = {}; }, "one to three spatial dims");
  refuses([](conv_transpose& c) { c.input[1] = 0; }, "channels"); // would divide by zero
  refuses([](conv_transpose& c) { c.input[2] = 0; }, "negative");
  refuses([](conv_transpose& c) { c.input[0] = 0; }, "empty");
  refuses([](conv_transpose& c) { c.outputs = 0; }, "channels");
  refuses([](conv_transpose& c) { c.groups = 3; }, "groups");
  refuses([](conv_transpose& c) { c.kernel = {0, 3}; }, "kernel");
  refuses([](conv_transpose& c) { c.strides = {0, 0}; }, "stride");
  refuses([](conv_transpose& c) { c.strides = {-2, 2}; }, "stride");
  refuses([](conv_transpose& c) { c.dilations = {0, 0}; }, "dilation");
  refuses([](conv_transpose& c) { c.pads = {8, 0, 8, 0}; }, "empty");
  refuses([](conv_transpose& c) { c.pads = {0, 0, 0, -1}; }, "pad");
  refuses([](conv_transpose& c) { c.output_pads = {-1, 0}; }, "pad");
  refuses([](conv_transpose& c) { c.output_pads = {1}; }, "match the spatial dims");
  refuses([](conv_transpose& c) { c.output_pads = {largest, 0}; }, "pad");
  refuses([](conv_transpose& c) { c.input[0] = c.outputs = c.input[1] = 1 << 25; }, "2^56");
  refuses([](conv_transpose& c) { c.strides = {dim_limit, dim_limit}; }, "2^40");
}
