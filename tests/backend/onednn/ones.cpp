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
    const auto rows = ones_of("ReduceSum/64x256-a1", t);
    for (const char* primitive : {"ones:matmul:", "ones:inner_product:"})
      CHECK(std::any_of(rows.begin(), rows.end(),
                        [&](const auto& a) { return a.id.starts_with(primitive); }));
    for (const auto& a : rows) {
      CHECK(a.flops == 2 * 64 * 256);
      CHECK(a.operand_layouts == "plain");
    }
    CHECK_FALSE(ones_of("GlobalAveragePool/2x16x7x7", t).empty());
    // Columns stand where weights do: these have a sign.
    CHECK(ones_of("ReduceSum/2x16x7-a1", t).empty() == (t == numeric::u8s8u8));
  }
  for (const char* name : {"ReduceMax/64x256-a1", "ReduceSum/4x5x6-a0x2", "ReduceL1/64x256-a1",
                           "AveragePool/2x16x7x7-7x7", "GlobalMaxPool/2x16x7x7"}) {
    CAPTURE(name);
    CHECK(ones_of(name, numeric::f32).empty());
  }
}

TEST_CASE("onednn: softmax and normalizations whose sums are products agree with the reference") {
  // One row, short rows, more rows than are taken at once, with a rest.
  check_all({"Softmax/1x1000-a1", "Softmax/2x5x37-a2", "Softmax/701x197-a1", "Softmax/3x1-a1",
             "LogSoftmax/9x50-a1", "LayerNormalization/1x67x768-a2-b",
             "LayerNormalization/9x5x7-a1", "LayerNormalization/1x3-a1",
             "RMSNormalization/33x48-a1", "RMSNormalization/2x4096-a1"});
  for (const char* name : {"Softmax/701x197-a1", "LogSoftmax/9x50-a1", "LayerNormalization/9x32-a1",
                           "RMSNormalization/33x48-a1"})
    for (const numeric t : {numeric::f32, numeric::bf16}) {
      CAPTURE(name);
      const auto all = ones_of(name, t);
      CHECK_FALSE(all.empty());
      for (const auto& a : all)
        CHECK(a.flops > op::direct_flops(op::parse(name)));
    }
  for (const char* name : {"Softmax/4x8x16-a1", "LayerNormalization/9x32-a1-b-stats",
                           "GroupNormalization/1x16x7x7-g4"})
    CHECK(ones_of(name, numeric::f32).empty());
  CHECK(ones_of("Softmax/9x32-a1", numeric::u8s8u8).empty());
}

namespace {
/// Runs a layer by all its products with ones, on elements that `of(row, column)` gives.
template <class F>
void check_ones(const char* name, F of) {
  backend::onednn::library lib;
  const op::layer l = op::parse(name);
  for (const numeric t : {numeric::f32, numeric::bf16}) {
    backend::operands o = backend::make_operands(l, t);
    backend::tensor& x = o.inputs[0];
    for (std::int64_t i = 0; i < x.count(); ++i)
      backend::store(x.type, x.bytes.data(), i, of(i / x.dims[1], i % x.dims[1]));
    const auto where = backend::reference::positions_to_check(l, 1 << 20);
    std::vector<double> expected(where.size()), got;
    backend::reference::evaluate(l, t, o, where, expected);
    for (const auto& a : ones_of(name, t)) {
      CAPTURE(name);
      CAPTURE(benanza::name(t));
      CAPTURE(a.id);
      const auto p = lib.prepare(l, t, a, o, {.threads = 1});
      p->run(2);
      p->read(got);
      const backend::verdict v = backend::compare(l, t, expected, got);
      CAPTURE(v.where);
      CAPTURE(got[static_cast<std::size_t>(v.where)]);
      CAPTURE(expected[static_cast<std::size_t>(v.where)]);
      CHECK(v.ok);
    }
  }
}
} // namespace

TEST_CASE("onednn: sums by products keep to large numbers, masks and rows without variance") {
  const auto wave = [](std::int64_t row, std::int64_t column) {
    return static_cast<double>((row * 31 + column * 17) % 29 - 14) / 8;
  };
  for (const char* name : {"Softmax/5x37-a1", "LogSoftmax/5x37-a1"}) {
    check_ones(name, [&](auto r, auto c) { return (r % 2 == 0 ? 1e30 : 0) + 1000 * wave(r, c); });
    check_ones(name, [&](auto, auto) { return -3e38; });
    check_ones(name, [&](auto r, auto c) {
      return c > r ? -std::numeric_limits<double>::infinity() : wave(r, c);
    });
  }
  for (const char* name : {"LayerNormalization/5x48-a1-b", "RMSNormalization/5x48-a1"}) {
    check_ones(name, [](auto r, auto) { return static_cast<double>(r) / 2; }); // also of zeros
    check_ones(name, [&](auto r, auto c) { return 1000 + 8 * wave(r, c); });
    check_ones(name, [&](auto r, auto c) { return 1e12 * wave(r, c); });
  }
}
