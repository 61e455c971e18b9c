// SPDX-License-Identifier: Apache-2.0
// Does every implementation of a fused layer compute its base and its steps, in every type?
#include <benanza/backend/make_operands.hpp>
#include <benanza/backend/onednn/library.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;

TEST_CASE("fused layers and reorders are right by every exact implementation") {
  onednn::library lib;
  for (const char* name :
       {"Conv+Add+Relu/1x16x9x9-32x1x1-s1-b", "Conv+Relu/2x16x9x9-32x3x3-s1-p1-b",
        "Conv+Clip/1x16x9x9-32x3x3-s2-p1", "Conv+HardSigmoid/1x16x9x9-32x1x1-s1-b",
        "Gemm+Selu/3x20x33-tb-c1x20-w", "MatMul+HardSigmoid/5x12-12x16-w",
        "Gemm+Relu/3x20x33-tb-c1x20-w", "MatMul+Add+Gelu/1x12x16-16x24-w-w24",
        "MatMul+Add/1x12x16-16x24-w", "MatMul+Swish+Mul/5x12-12x16-w",
        "Conv+Mul+Add+Relu/1x16x9x9-32x1x1-s1-w1x32x1x1-ww32x1x1",
        "BatchNormalization+Relu/1x32x7x7", "Add+Relu/1x16x7x7", "Add+Sqrt/1x16x7x7",
        "reorder/1x24x5x5-plain-blocked16", "reorder/1x24x5x5-channels_last-plain"}) {
    const op::layer l = op::parse(name);
    CHECK_MESSAGE(!lib.enumerate(l, numeric::f32, {}).empty(), name);
    for (const numeric type : {numeric::f32, numeric::bf16, numeric::u8s8u8})
      for (const algorithm& a : lib.enumerate(l, type, {})) {
        if (a.equivalence != benanza::name(type)) continue;
        const std::string which =
            std::string(name) + ", " + std::string(benanza::name(type)) + ", " + a.id;
        CAPTURE(which);
        const operands o = make_operands(l, type);
        const auto made = lib.prepare(l, type, a, o, {});
        // By f32 it is another memory that is added to.
        CHECK((made->chain()->overwritten() >= 0) ==
              (a.id.ends_with("+sum") && !a.id.starts_with("f32:")));
        made->run(1);
        std::vector<double> got;
        made->read(got);
        std::vector<std::int64_t> all(got.size());
        for (std::size_t i = 0; i < all.size(); ++i)
          all[i] = static_cast<std::int64_t>(i);
        std::vector<double> expected(all.size());
        reference::evaluate(l, type, o, all, expected);
        CHECK(compare(l, type, expected, got).ok);
      }
  }
  // Its reference loop for these gives wrong results.
  CHECK(lib.enumerate(op::parse("Swish+Mul/1x16x7x7"), numeric::f32, {}).empty());
}
