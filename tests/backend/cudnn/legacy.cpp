// SPDX-License-Identifier: Apache-2.0
// How are convolutions described to the legacy API, and which cannot be? What they compute is tried
// on the fake GPU (measure/gpu_program.cpp).
#include <benanza/backend/cudnn/legacy.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using namespace benanza;
using namespace benanza::backend::cudnn;

namespace {
using words = std::set<std::string>;

/// What precedes the algorithms' names, with "half" behind where sums are kept in f16.
words forms(const char* layer, numeric t) {
  words out, seen;
  for (const call& c : legacy::calls_for(op::parse(layer), t)) {
    CHECK(seen.insert(c.what.id).second);
    const bool half = c.what.id.ends_with(":half");
    if (c.what.id.find(":winograd") == std::string::npos) // those are below
      CHECK(c.what.equivalence == std::string(name(t)) + (half ? "-reduced-accumulation" : ""));
    out.insert(c.what.id.substr(0, c.what.id.find(':')) + (half ? " half" : ""));
  }
  return out;
}
std::string why_not(const char* layer, numeric t) {
  const legacy::told told = legacy::as_told(op::parse(layer), t);
  CHECK(told.what.has_value() == told.why_not.empty());
  return told.why_not;
}
const call& only(const std::vector<call>& all, std::string_view id) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const call& c) { return c.what.id == id; });
  REQUIRE(found != all.end());
  return *found;
}
} // namespace

TEST_CASE("cudnn: the legacy API takes convolutions in both layouts, alone and with what follows") {
  const words plain{"legacy", "legacy-nhwc"}, fused{"legacy-fused", "legacy-fused-nhwc"},
      gradient{"legacy-data", "legacy-data-nhwc"};
  for (const numeric t : {numeric::f32, numeric::tf32, numeric::bf16}) {
    CHECK(forms("Conv/1x8x9x9-16x3x3-s1-p1", t) == plain);
    CHECK(forms("Conv/1x8x9x9-16x3x3-s1-p1-b", t) == fused);
    CHECK(forms("Conv+Relu/1x8x9x9-16x3x3-s1-p1", t) == fused);
    CHECK(forms("Conv+Add+Relu/1x8x9x9-16x3x3-s1-p1-b", t) == fused);
    CHECK(forms("ConvTranspose/1x8x9x9-16x4x4-s2-p1", t) == gradient);
    CHECK(forms("ConvWeightGradient/1x8x9x9-16x3x3-s1-p1", t) ==
          words{"legacy-filter", "legacy-filter-nhwc"});
  }
  CHECK(forms("Conv/1x8x9x9-16x3x3-s1-p1", numeric::f16) ==
        words{"legacy", "legacy half", "legacy-nhwc", "legacy-nhwc half"});
  const words integers{"legacy-nhwc", "legacy-x4", "legacy-x32"};
  CHECK(forms("Conv/1x64x9x9-32x3x3-s1-p1", numeric::s8s8s8) == integers);
  CHECK(forms("Conv+Relu/1x8x9x9-16x3x3-s1-p1-b", numeric::s8s8s8) ==
        words{"legacy-fused-nhwc", "legacy-fused-x4"});
  CHECK(forms("Conv/1x6x9x9-16x3x3-s1-p1", numeric::s8s8s8) == words{"legacy-nhwc"});
  CHECK(forms("QLinearConv/1x64x9x9-32x3x3-s1-p1-s8s8s8", numeric::f32) == integers);
  CHECK(forms("QLinearConv/1x64x9x9-32x3x3-s1-p1-u8s8s8", numeric::f16) ==
        words{"legacy-nhwc", "legacy-x4"});
  CHECK(forms("QLinearConv/1x64x9x9-32x3x3-s1-p1-b-u8s8real", numeric::f32) ==
        words{"legacy-fused-nhwc"});
  CHECK(forms("QLinearConv/1x64x9x9-32x3x3-s1-p1-s8s8s8", numeric::tf32).empty());
  CHECK(forms("Conv/1x8x20-16x3-s1", numeric::f32) == plain);
  CHECK(forms("Conv/1x8x5x5x5-16x3x3x3-s1", numeric::f32) == plain);
}

TEST_CASE("cudnn: true FP32 and TF32 have math types of their own") {
  for (const call& c : legacy::calls_for(op::parse("Conv/1x8x9x9-16x3x3-s1-p1"), numeric::f32))
    CHECK(c.what.id.ends_with(":fma"));
  for (const call& c : legacy::calls_for(op::parse("Conv/1x8x9x9-16x3x3-s1-p1"), numeric::tf32))
    CHECK_FALSE(c.what.id.ends_with(":fma"));
}

TEST_CASE("cudnn: what cannot be described to the legacy API has a reason") {
  CHECK(why_not("Conv/1x8x9x9-16x3x3-s1-p1", numeric::f16).empty());
  CHECK(why_not("Conv/1x8x9x9-16x3x3-s1-p0x0x1x1", numeric::f16).find("pads") != std::string::npos);
  CHECK(why_not("Conv+Sigmoid/1x8x9x9-16x3x3-s1", numeric::f16).find("ReLU") != std::string::npos);
  CHECK(why_not("Conv+Relu+Add/1x8x9x9-16x3x3-s1", numeric::f16).find("order") !=
        std::string::npos);
  CHECK(why_not("Conv+Add+Add/1x8x9x9-16x3x3-s1", numeric::f16).find("order") != std::string::npos);
  CHECK_FALSE(why_not("Conv+Add/1x8x9x9-16x3x3-s1-w1x16x1x1", numeric::f16).empty());
  CHECK_FALSE(why_not("Conv/1x8x9x9-16x3x3-s1", numeric::e4m3).empty());
  CHECK_FALSE(why_not("ConvTranspose/1x8x9x9-16x4x4-s2-p1-b", numeric::f32).empty());
  for (const char* gradient :
       {"ConvTranspose/1x8x9x9-16x4x4-s2-p1", "ConvWeightGradient/1x8x9x9-16x3x3-s1-p1"})
    CHECK(why_not(gradient, numeric::s8s8s8).find("gradients") != std::string::npos);
  CHECK_FALSE(why_not("Conv/2000x8x1024x1024-16x1x1-s1", numeric::f16).empty()); // 32 bits
  CHECK(why_not("Conv/1x8x9x9-16x3x3-s1-p1", numeric::u8s8u8).find("sign") != std::string::npos);
  const std::pair<const char*, const char*> of_codes[]{
      {"ConvInteger/1x8x9x9-16x3x3-s1-s8s8s32", "32 bits"},
      {"QLinearConv/1x8x9x9-16x3x3-s1-s8s8s8-za", "zero points"},
      {"QLinearConv/1x8x9x9-16x3x3-s1-s8s8s8-pc", "one scale"},
      {"QLinearConv/1x8x9x9-16x3x3-s1-s8u8s8", "weights have a sign"},
      {"QLinearConv/1x8x9x9-16x3x3-s1-u8s8u8", "results have a sign"},
      {"QLinearConv/1x8x9x9-16x3x3-s1-s8s8real", "f32"}};
  for (const auto& [layer, why] : of_codes)
    CHECK(why_not(layer, numeric::f16).find(why) != std::string::npos);
  const legacy::told other = legacy::as_told(op::parse("Relu/1x8x9x9"), numeric::f32);
  CHECK((!other.what && other.why_not.empty()));
}

TEST_CASE("cudnn: forms that integers do not have are listed with a reason") {
  const auto not_told = [](const char* layer, numeric t) {
    std::string all;
    for (const backend::refused_algorithm& r : legacy::not_told(op::parse(layer), t))
      all += r.id + ": " + r.why + '\n';
    return all;
  };
  const std::string plain = ": integers have their channels last, or in vectors\n";
  CHECK(not_told("Conv/1x8x9x9-16x3x3-s1", numeric::f16).empty());
  CHECK(not_told("Conv+Relu/1x12x9x9-64x3x3-s1", numeric::s8s8s8) ==
        "legacy-fused" + plain + "legacy-fused-x32: 12 channels do not fill vectors of 32\n");
  CHECK(not_told("Conv/1x8x5x5x5-16x3x3x3-s1", numeric::s8s8s8) ==
        "legacy" + plain + "legacy-x4: vectors of 4 channels have two spatial dims\n" +
            "legacy-x32: vectors of 32 channels have two spatial dims\n");
  CHECK(not_told("QLinearConv/1x32x9x9-32x3x3-s1-u8s8s8", numeric::f32) ==
        "legacy" + plain + "legacy-x32: vectors of 32 have a sign\n");
  CHECK(not_told("QLinearConv/1x32x9x9-32x3x3-s1-s8s8s8-zr", numeric::f32) ==
        "legacy: it has no zero points\n");
}

TEST_CASE("cudnn: the fused call has all its operands, and integers scale their bias") {
  const auto all =
      legacy::calls_for(op::parse("Conv+Add+Relu/1x8x9x9-16x3x3-s1-p1"), numeric::s8s8s8);
  const call& c = only(all, "legacy-fused-nhwc:gemm:default");
  REQUIRE(c.operands.size() == 4);
  CHECK(c.operands[0].strides == shape{648, 1, 72, 8});
  CHECK((c.operands[1].constant && c.operands[1].strides == shape{72, 1, 24, 8}));
  CHECK((c.operands[2].input == placed::filled && c.operands[2].scaled));
  CHECK(c.operands[3].input == 2);
  CHECK(c.what.layouts == "nhwc,ohwi,nhwc");
  CHECK(c.what.operand_layouts == "channels_last");
  // In vectors of four channels each of which is a dim.
  const call& v = only(all, "legacy-fused-x4:gemm:default");
  CHECK((v.operands[0].dims == shape{1, 2, 4, 9, 9}));
  CHECK((v.operands[0].strides == shape{648, 324, 1, 36, 4}));
  CHECK((v.operands[1].constant && v.operands[1].strides == shape{72, 36, 1, 12, 4}));
  CHECK(v.what.layouts == "nChw4c,oIhw4i,nChw4c");
  CHECK(v.what.operand_layouts.empty());
}

TEST_CASE("cudnn: a legacy Winograd is held to its own arithmetic, and its steps to theirs") {
  const op::layer bare = op::parse("Conv/1x8x9x9-16x3x3-s1-p1"),
                  full = op::parse("Conv+Relu/1x8x9x9-16x3x3-s1-p1-b");
  const auto flops = [](const op::layer& l, const std::string& id) {
    return only(legacy::calls_for(l, numeric::f32), id).what.flops;
  };
  CHECK(flops(bare, "legacy:winograd:fma") == op::direct_flops(bare) * 16 / 36);
  CHECK(flops(bare, "legacy:winograd_nonfused:fma") == op::direct_flops(bare) / 4);
  const op::layer wide = op::parse("Conv/1x8x9x9-16x5x5-s1-p2"); // 13 x 13 for 9 x 9 results
  CHECK(flops(wide, "legacy:winograd_nonfused:fma") == op::direct_flops(wide) * 169 / 2025);
  CHECK(flops(bare, "legacy:gemm:fma") == op::direct_flops(bare));
  CHECK(flops(full, "legacy-fused:winograd:fma") ==
        op::direct_flops(bare) * 16 / 36 + op::direct_flops(full) - op::direct_flops(bare));
}

TEST_CASE("cudnn: a legacy Winograd that may be less exact than its type has its own class") {
  const op::layer three = op::parse("Conv/1x8x9x9-16x3x3-s1-p1"),
                  five = op::parse("Conv/1x8x9x9-16x5x5-s1-p2");
  const auto class_of = [](const op::layer& l, numeric t, const std::string& id) {
    return only(legacy::calls_for(l, t), id).what.equivalence;
  };
  const std::string nonfused = "legacy:winograd_nonfused:";
  CHECK(class_of(three, numeric::f16, "legacy:winograd:default") == "f16-winograd");
  CHECK(class_of(three, numeric::f16, nonfused + "tensor_op") == "f16-winograd");
  CHECK(class_of(three, numeric::f16, nonfused + "default:half") ==
        "f16-winograd-reduced-accumulation");
  CHECK(class_of(three, numeric::tf32, nonfused + "default") == "tf32-winograd");
  CHECK(class_of(three, numeric::tf32, "legacy:winograd:default") == "tf32");
  CHECK(class_of(three, numeric::f32, nonfused + "fma") == "f32");
  CHECK(class_of(five, numeric::f32, nonfused + "fma") == "f32-winograd");
}
