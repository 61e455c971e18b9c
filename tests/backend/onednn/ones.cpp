// SPDX-License-Identifier: Apache-2.0
// Which layers are offered as products with ones too, and what do these take?
#include "agreement.hpp"

#include <benanza/backend/onednn/library.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace benanza;
using onednn_test::check_all;

namespace {
std::vector<backend::algorithm> ones_of(const char* layer, numeric t) {
  static backend::onednn::library lib;
  std::vector<backend::algorithm> out;
  for (auto& a : lib.enumerate(op::parse(layer), t, {.threads = 1}))
    if (a.id.starts_with("ones:")) out.push_back(std::move(a));
  return out;
}
} // namespace

TEST_CASE("onednn: sums as products with ones agree with the reference") {
  check_all({"ReduceSum/33x256-a1", "ReduceSum/7x3x5-a1x2", "ReduceSum/48x19-a0",
             "ReduceSum/3x48x19-a1", "ReduceSum/300-a0", "ReduceMean/33x48-a1",
             "ReduceMean/3x48x5-a1", "GlobalAveragePool/2x16x7x7", "GlobalAveragePool/2x3x50"});
}

TEST_CASE("onednn: sums of one run of dims are products, in every type") {
  for (const numeric t : {numeric::f32, numeric::bf16, numeric::u8s8u8, numeric::s8s8s8}) {
    CAPTURE(name(t));
    static backend::onednn::library lib;
    const auto products = lib.enumerate(op::parse("MatMul/4x24-24x40-w"), t, {.threads = 1});
    if (std::all_of(products.begin(), products.end(),
                    [](const auto& a) { return a.id.starts_with("f32:"); }))
      continue; // this processor has none of the type, as bf16 below AVX-512
    const auto rows = ones_of("ReduceSum/64x256-a1", t);
    for (const char* primitive : {"ones:matmul:", "ones:inner_product:"})
      CHECK(std::any_of(rows.begin(), rows.end(),
                        [&](const auto& a) { return a.id.starts_with(primitive); }));
    for (const auto& a : rows) {
      CHECK(a.flops == 2 * 64 * 256);
      CHECK(a.operand_layouts == "plain");
    }
    CHECK_FALSE(ones_of("GlobalAveragePool/2x16x7x7", t).empty());
    // Columns take the place of weights: these have a sign.
    CHECK(ones_of("ReduceSum/2x16x7-a1", t).empty() == (t == numeric::u8s8u8));
  }
  for (const char* name : {"ReduceMax/64x256-a1", "ReduceSum/4x5x6-a0x2", "ReduceL1/64x256-a1",
                           "AveragePool/2x16x7x7-7x7", "GlobalMaxPool/2x16x7x7"}) {
    CAPTURE(name);
    CHECK(ones_of(name, numeric::f32).empty());
  }
}
