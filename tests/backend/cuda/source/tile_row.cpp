// SPDX-License-Identifier: Apache-2.0
// Do kernels of tensor cores' tiles add up rows? Their texts run on the host with the tiles of
// backend/tile_sums.hpp.
#include "../mover_layers.hpp"
#include "on_host.hpp"

#include <doctest/doctest.h>

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

TEST_CASE("cuda: sums of f16 along rows of whole tiles are offered by tensor cores") {
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
  for (const numeric t : {numeric::f32, numeric::bf16, numeric::s8s8s8})
    CHECK(tile_kernels("ReduceSum/64x4096-a1", t).empty());
}

TEST_CASE("cuda: running sums by threads along lines" * doctest::skip(!fake::has_compiler())) {
  cuda_test::batch b;
  for (const char* name : cuda_test::scanned)
    for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16})
      CHECK(b.add(op::parse(name), t) == 1);
  b.add(op::parse("CumSum/3x7-a1-s32"), numeric::f32);
  b.run([](const cuda_test::tried& t, bool ran, const verdict& v) {
    CAPTURE(op::name(t.layer));
    CHECK(ran);
    CHECK(v.ok);
  });
}

TEST_CASE("cuda: sums by tiles are exact where the elements are" *
          doctest::skip(!fake::has_compiler())) {
  cuda_test::batch b;
  for (const char* name : cuda_test::tiled_rows) {
    const op::layer l = op::parse(name);
    operands o = make_operands(l, numeric::f16);
    tensor& x = o.inputs.at(0);
    for (std::int64_t i = 0; i < x.count(); ++i)
      store(x.type, x.bytes.data(), i, static_cast<double>(i * 37 % 33 - 16) / 256);
    // A mean is the sum times a power of two: f16 has it where the sum is not tiny.
    CHECK(b.add(l, numeric::f16, std::move(o)) >= 2);
    b.add(l, numeric::f16);
  }
  int tiles = 0;
  b.run([&](const cuda_test::tried& t, bool ran, const verdict& v) {
    CAPTURE(op::name(t.layer));
    CAPTURE(t.kernel.name);
    CHECK(ran);
    CHECK(v.ok);
    const tensor& x = t.values->inputs.at(0);
    const bool exact = load(x.type, x.bytes.data(), 0) == -16.0 / 256;
    if (!exact || !t.kernel.name.starts_with("mma")) return;
    CHECK(v.worst == 0);
    ++tiles;
  });
  CHECK(tiles >= 9);
}
