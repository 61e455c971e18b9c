// SPDX-License-Identifier: Apache-2.0
// Do kernels of tensor cores' tiles add up rows? Their texts run on the host with the tiles of
// backend/tile_sums.hpp.
#include "../mover_layers.hpp"
#include "on_host.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace benanza;
using namespace benanza::backend;

namespace {
std::vector<std::string> tile_kernels(const char* layer, numeric t = numeric::f16) {
  std::vector<std::string> out;
  for (const auto& k : cuda::source::kernels_for(op::parse(layer), t))
    if (k.name.starts_with("mma")) out.push_back(k.name);
  return out;
}
using list_of = std::vector<std::string>;
} // namespace

TEST_CASE("cuda: sums of f16 and bf16 along rows of whole tiles are offered by tensor cores") {
  CHECK(tile_kernels("ReduceSum/40x48-a1") == list_of{"mma16"});
  CHECK(tile_kernels("ReduceMean/3x512-a1") == list_of{"mma256"});
  CHECK(tile_kernels("ReduceSum/2x16x256-a2") == list_of{"mma16", "mma256"});
  CHECK(tile_kernels("ReduceSum/64x4096-a1") == list_of{"mma16", "mma256", "mma256x8"});
  for (const char* name : {"ReduceSum/40x50-a1", "ReduceSum/15x16-a1", "ReduceSum/256x40-a0",
                           "ReduceSum/4x16x16-a0x2", "ReduceMax/40x256-a1"}) {
    CAPTURE(name);
    CHECK(tile_kernels(name).empty());
  }
  CHECK(tile_kernels("CumSum/16x512-a1") == list_of{"mma256"});
  CHECK(tile_kernels("CumSum/2x32x16-a2") == list_of{"mma16"});
  for (const char* name : {"CumSum/16x512-a1-reverse", "CumSum/16x512-a0", "CumSum/15x16-a1",
                           "CumProd/16x512-a1", "CumSum/16x500-a1"}) {
    CAPTURE(name);
    CHECK(tile_kernels(name).empty());
  }
  CHECK(tile_kernels("GlobalAveragePool/2x8x16x16") == list_of{"mma16", "mma256"});
  CHECK(tile_kernels("ReduceSum/64x4096-a1", numeric::bf16) ==
        list_of{"mma16", "mma256", "mma256x8"});
  for (const numeric t : {numeric::f32, numeric::s8s8s8})
    CHECK(tile_kernels("ReduceSum/64x4096-a1", t).empty());
  const auto needs = [](numeric t) {
    for (const auto& k : cuda::source::kernels_for(op::parse("CumSum/16x512-a1"), t))
      if (k.name == "mma256") return k.least_architecture;
    return 0;
  };
  CHECK(needs(numeric::f16) == 70);
  CHECK(needs(numeric::bf16) == 80);
}

TEST_CASE("cuda: running sums by threads along lines" * doctest::skip(!fake::has_compiler())) {
  cuda_test::batch b;
  for (const char* name : cuda_test::scanned)
    for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16})
      CHECK(b.add(op::parse(name), t) >= 1);
  b.add(op::parse("CumSum/3x7-a1-s32"), numeric::f32);
  b.run([](const cuda_test::tried& t, bool ran, const verdict& v) {
    CAPTURE(op::name(t.layer));
    CHECK(ran);
    CHECK(v.ok);
  });
}

namespace {
/// Elements of which every sum of a row is exact.
operands exact_operands(const op::layer& l, numeric t) {
  operands o = make_operands(l, t);
  tensor& x = o.inputs.at(0);
  for (std::int64_t i = 0; i < x.count(); ++i)
    store(x.type, x.bytes.data(), i, static_cast<double>(i * 37 % 33 - 16) / 256);
  return o;
}
/// Runs all kernels of layers on exact elements and others; how many of those whose names begin
/// with `what` had no error at all.
template <class Layers>
int exact_ones(const Layers& layers, std::initializer_list<numeric> types,
               const std::string& what) {
  cuda_test::batch b;
  for (const char* name : layers)
    for (const numeric t : types) {
      const op::layer l = op::parse(name);
      CHECK(b.add(l, t, exact_operands(l, t)) >= 1);
      b.add(l, t);
    }
  int exact = 0;
  b.run([&](const cuda_test::tried& t, bool ran, const verdict& v) {
    CAPTURE(op::name(t.layer));
    CAPTURE(benanza::name(t.type));
    CAPTURE(t.kernel.name);
    CAPTURE(t.kernel.text);
    CHECK(ran);
    CHECK(v.ok);
    const tensor& x = t.values->inputs.at(0);
    const bool exactly = load(x.type, x.bytes.data(), 0) == -16.0 / 256;
    if (!exactly || !t.kernel.name.starts_with(what)) return;
    CHECK(v.worst == 0);
    ++exact;
  });
  return exact;
}
} // namespace

// A mean is the sum times a power of two: the types have it where the sum is not tiny.
TEST_CASE("cuda: sums by tiles are exact where the elements are" *
          doctest::skip(!fake::has_compiler())) {
  CHECK(exact_ones(cuda_test::tiled_rows, {numeric::f16}, "mma") >= 9);
  const std::initializer_list<const char*> some{"ReduceSum/40x48-a1", "CumSum/3x512-a1",
                                                "GlobalAveragePool/2x8x16x16"};
  CHECK(exact_ones(some, {numeric::bf16}, "mma") >= 4);
}

TEST_CASE("cuda: CUB's sums are offered along the last dims") {
  const auto names = [](const char* layer, numeric t = numeric::f32) {
    list_of out;
    for (const auto& k : cuda::source::kernels_for(op::parse(layer), t))
      if (k.needs_cub) out.push_back(k.name);
    return out;
  };
  CHECK(names("ReduceSum/8x64-a1") == list_of{"cub_warp"});
  CHECK(names("ReduceMean/2x16x16x16-a2x3") == list_of{"cub_warp", "cub_block"});
  CHECK(names("ReduceSum/200x40000-a1") == list_of{"cub_block"});
  CHECK(names("ReduceSum/40000-a0") == list_of{"cub_block", "cub_device"});
  CHECK(names("GlobalAveragePool/1x64x7x7") == list_of{"cub_warp"});
  CHECK(names("CumSum/3x40000-a1-exclusive", numeric::bf16) == list_of{"cub_block", "cub_device"});
  CHECK(names("ReduceSum/5x9-a1-s64") == list_of{"cub_warp"});
  for (const char* none :
       {"ReduceSum/64x8-a0", "ReduceMax/8x64-a1", "ReduceSum/4x16x16-a0x2", "CumSum/16x512-a0",
        "CumSum/16x512-a1-reverse", "CumProd/16x512-a1", "GlobalMaxPool/1x64x7x7"})
    CHECK_MESSAGE(names(none).empty(), none);
}

TEST_CASE("cuda: CUB's sums are exact where the elements are" *
          doctest::skip(!fake::has_compiler())) {
  CHECK(exact_ones(cuda_test::cub_rows, {numeric::f32, numeric::f16, numeric::bf16}, "cub") >= 30);
  cuda_test::batch whole;
  CHECK(whole.add(op::parse("ReduceMean/3x300-a1-s64"), numeric::f32) >= 3);
  CHECK(whole.add(op::parse("GlobalAveragePool/2x8x16x16"), numeric::s8s8s8) >= 2);
  whole.run([](const cuda_test::tried& t, bool ran, const verdict& v) {
    CAPTURE(t.kernel.name);
    CHECK(ran);
    CHECK(v.ok);
  });
}
