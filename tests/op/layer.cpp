// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/kinds.hpp>

#include "checks.hpp"
#include "scrambler.hpp"

#include <map>
#include <vector>

using namespace benanza;
using namespace benanza::op;

namespace {
/// Every ONNX operator that some layer kind represents, and what is none.
std::vector<std::string_view> all_families() {
  std::vector<std::string_view> all{"Conv",
                                    "ConvTranspose",
                                    "ConvWeightGradient",
                                    "Gemm",
                                    "MatMul",
                                    "LRN",
                                    "Softmax",
                                    "Concat",
                                    "BatchNormalization",
                                    "Split",
                                    "LogSoftmax",
                                    "Pad",
                                    "Slice",
                                    "Transpose",
                                    "Gather",
                                    "Cast",
                                    "Where",
                                    "Expand",
                                    "Tile",
                                    "Resize",
                                    "Upsample",
                                    "DepthToSpace",
                                    "SpaceToDepth",
                                    "LayerNormalization",
                                    "RMSNormalization",
                                    "GroupNormalization",
                                    "InstanceNormalization",
                                    "Attention",
                                    "TensorScatter",
                                    "CumSum",
                                    "CumProd",
                                    "ArgMax",
                                    "ArgMin",
                                    "TopK",
                                    "NonZero",
                                    "Compress",
                                    "Unique",
                                    "Trilu",
                                    "ReverseSequence",
                                    "OneHot"};
  const auto add = [&](const auto& table) {
    for (std::string_view family : table)
      all.push_back(family);
  };
  add(pooling_families);
  add(unary_families);
  add(binary_families);
  add(reduction_families);
  add(view_families);
  add(indexing_families);
  return all;
}

int kinds_of(std::string_view family) {
  int found = 0;
  for (std::size_t i = 0; i < kinds::size; ++i)
    found += kinds::visit(i, [&]<class Kind>() { return Kind::of(family).has_value(); }) ? 1 : 0;
  return found;
}
} // namespace

TEST_CASE("a layer shares its parameters with its copies, and is told apart by its kind") {
  const layer l = parse("Conv+Relu/1x8x16x16-8x3x3-s1-p1");
  layer copy = l;
  CHECK(&copy.kind() == &l.kind());
  CHECK(as<fused<conv>>(l) == &get<fused<conv>>(copy));
  CHECK(as<conv>(l) == nullptr);
  CHECK(as<conv>(static_cast<const layer*>(nullptr)) == nullptr);
  CHECK(is<conv, fused<conv>>(l));
  CHECK_FALSE(is<conv, gemm>(l));
  CHECK_THROWS_AS(get<conv>(l), std::logic_error);
  copy = get<fused<conv>>(l).base;
  CHECK(name(copy) == "Conv/1x8x16x16-8x3x3-s1-p1");
  CHECK(name(l) == "Conv+Relu/1x8x16x16-8x3x3-s1-p1");
  CHECK(parse(name(l)) == l);
  CHECK(layer() == layer(conv{}));
}

TEST_CASE("each result and each operand of a layer has its dims") {
  const layer halves = parse("Split/4x6-a1-n2");
  CHECK(result_dims(halves, 1) == shape{4, 3});
  CHECK_FALSE(result_dims(halves, 2));
  CHECK(result_element(halves, 1) == dtype::real);
  const layer best = parse("TopK/4x6-a1-k2");
  CHECK(result_dims(best, 1) == shape{4, 2});
  CHECK_FALSE(result_dims(best, 2));
  CHECK(result_element(best, 1) == dtype::s64);
  CHECK(operand_dims(parse("Add/4x6-6"), 1) == shape{6});
  const layer change = reorder_of({1, 64, 8, 8}, dtype::real, layout::plain, layout::blocked16);
  CHECK(is_reorder(change));
  CHECK_FALSE(is_reorder(best));
  CHECK(name(change) == "reorder/1x64x8x8-plain-blocked16");
  CHECK(codes_bytes(parse("QuantizeLinear/4x6-u8")));
  CHECK_FALSE(codes_bytes(parse("QuantizeLinear/4x6-s16")));
  CHECK(shows_sum(parse("Add+RMSNormalization/1x128x4096-a2-sum")));
  CHECK_FALSE(shows_sum(parse("Add+RMSNormalization/1x128x4096-a2")));
}

TEST_CASE("each ONNX operator belongs to one kind of layer") {
  std::map<std::string_view, int> count;
  for (std::string_view family : all_families()) {
    CAPTURE(std::string(family));
    CHECK(++count[family] == 1);
    CHECK(kinds_of(family) == 1);
    CHECK(family.find_first_of("/-+ ") == std::string_view::npos);
  }
}

TEST_CASE("a layer's name, output and cost") {
  const layer l = parse("Conv", "1x64x56x56-64x3x3-s1-p1");
  CHECK(name(l) == "Conv/1x64x56x56-64x3x3-s1-p1");
  CHECK(family(l) == "Conv");
  CHECK(key(l) == "1x64x56x56-64x3x3-s1-p1");
  CHECK(output(l) == shape{1, 64, 56, 56});
  CHECK(cost(l).macs == 115605504);
  CHECK(!is_view(l));
  CHECK(is_view(parse("Reshape/2x3-6")));
}

TEST_CASE("what follows the key in a case name is ignored") {
  const layer l = parse("Conv/1x64x56x56-64x3x3-s1-p1/f32/onednn/brgconv:avx512_core/coldw/t1");
  CHECK(name(l) == "Conv/1x64x56x56-64x3x3-s1-p1");
  CHECK(parse("Relu/4/") == parse("Relu/4"));
}

TEST_CASE("what is no layer is refused in one line") {
  CHECK_REFUSED(parse(""), "Family/key");
  CHECK_REFUSED(parse("Conv"), "Family/key");
  CHECK_REFUSED(parse("Conv/"), "ends before its dims");
  CHECK_REFUSED(parse("/1x2"), "no layer kind is called \"\"");
  CHECK_REFUSED(parse("conv/1x64x56x56-64x3x3"), "no layer kind is called \"conv\"");
  CHECK_REFUSED(parse("Conv\n/1"), "no layer kind");
  CHECK_REFUSED(parse("LSTM/1x2x3"), "LSTM");
  CHECK_REFUSED(parse("Relu/4/5/"), "(accepted)");
}

TEST_CASE("a key that reads well but is no layer is refused by its whole name") {
  struct row {
    const char *name, *why;
  };
  constexpr row table[] = {
      {"Conv/1x64x56x56-64x3x3-s1-g7", "groups"},
      {"Conv/1x64x2x2-64x3x3-s1", "larger than its padded input"},
      {"Conv/1x64-64", "one to three spatial dims"},
      {"Conv/m1x64x56x56-64x3x3-s1", "negative"},
      {"Conv/1x64x56x56-64x3x3-s0", "stride"},
      {"Conv/1x64x56x56-64x3x3-s1-pm1", "pad"},
      {"Conv/1099511627776x1099511627776x8x8-64x3x3-s1", "2^56"},
      {"ConvTranspose/1x0x4x4-2x2x2-s1", "channels"},
      {"ConvTranspose/1x2x4x4-2x2x2-s0", "stride"},
      {"Gemm/0x1x1", "m, n and k"},
      {"Gemm/4x4", "m, n and k"},
      {"Gemm/4", "m, n and k"},
      {"Gemm/scalar", "m, n and k"},
      {"Gemm/1099511627776x1099511627776x1", "2^56"},
      {"MatMul/4x5-4x5", "inner dims"},
      {"MaxPool/1x64x8x8-3x3-s2-p3", "padding alone"},
      {"GlobalMaxPool/1x64", "one to three spatial dims"},
      {"BatchNormalization/4", "two dims"},
      {"LRN/1x96x55x55", "a size"},
      {"LRN/1x96x55x55-n0", "a size"},
      {"LayerNormalization/2x8-a2-b", "axis"},
      {"LayerNormalization/2x8-am1", "axis"},
      {"RMSNormalization/2x8-a2", "axis"},
      {"GroupNormalization/1x8x4-g3", "divide"},
      {"InstanceNormalization/1x8", "three dims"},
      {"Attention/1x8x16x64-kv3", "no multiple"},
      {"Attention/1x8x16x64-mask3x16", "broadcast"},
      {"Softmax/1x1000-a2", "axis"},
      {"Softmax/1x1000-am1", "axis"},
      {"Relu/m4", "negative"},
      {"Add/2x3-2x4", "broadcast"},
      {"Add/2x3-n3", "two operands"},
      {"ReduceSum/2x3-a1x0", "ascend"},
      {"Concat/4-a0-n5", "parts"},
      {"Concat/4-a0", "parts"},
      {"Transpose/2x3-o0", "number of dims"},
      {"Pad/2x3-b1x1", "number of dims"},
      {"Pad/2-bm3-e0", "cuts off more"},
      {"Slice/4-5", "outside"},
      {"Gather/4-2-a1", "axis"},
      {"Resize/4-4x4", "number of dims"},
      {"DepthToSpace/1x8x2x2-k3", "divide"},
      {"DepthToSpace/1x0x2x2-k1099511627776", "2^40"},
      {"Reshape/2x3-7", "number of elements"},
      {"Identity/2x3-3x2", "keep its dims"},
  };
  for (const row& r : table) {
    CAPTURE(std::string(r.name));
    CHECK_REFUSED(parse(r.name), r.why);
    CHECK_REFUSED(parse(r.name), r.name);
  }
}

TEST_CASE("fields of one operator are none of another's") {
  for (const char* name :
       {"Relu/4-4", "Conv/1x2x3x3-2x1x1-s1-ceil", "MaxPool/1x2x3x3-3x3-s1-b", "MaxPool/1x2x3-3-g2",
        "GlobalMaxPool/1x2x3x3-3x3", "Gemm/1x2x3-w-tb", "MatMul/1x2-2x3-b", "Softmax/4-a0-n3",
        "BatchNormalization/1x4-s64", "Slice/4-2-f1", "Slice/4-2-s5", "Softmax/4-a4294967296",
        "LRN/1x2x3-n3x3", "RMSNormalization/2x8-a1-b", "InstanceNormalization/1x2x3-g2",
        "Attention/1x2x3x4-m4"}) {
    CAPTURE(std::string(name));
    CHECK_REFUSED(parse(name), "the key \"");
  }
}

TEST_CASE("random layers: sizes and costs are sound") {
  test::layer_source random(11);
  for (std::size_t kind = 0; kind < test::layer_kinds; ++kind)
    for (int i = 0; i < 200; ++i) {
      const layer l = random.next(kind);
      CAPTURE(name(l));
      const work w = cost(l);
      REQUIRE(w.macs >= 0);
      REQUIRE(w.other >= 0);
      REQUIRE(w.flops() >= w.macs);
      for (std::int64_t d : output(l))
        REQUIRE(d >= 0);
      if (is_view(l)) {
        REQUIRE(w == work{});
        continue;
      }
      if (elements(output(l)) > 0) REQUIRE(w.bytes(numeric::f32) > 0);
      REQUIRE(w.bytes(numeric::f32) >= w.bytes(numeric::bf16));
      REQUIRE(w.bytes(numeric::bf16) >= w.bytes(numeric::u8s8u8));
      // Every result is written once, in the case's type or in its own.
      if (const auto* change = op::as<op::reorder>(l)) // blocks are written whole
        REQUIRE((change->element == dtype::real ? w.results : w.fixed_bytes) >=
                (change->element == dtype::real ? elements(output(l))
                                                : bytes_of(change->element, elements(output(l)))));
      else {
        std::int64_t real = 0;
        for (const result& r : results(l))
          real += r.element == dtype::real ? elements(r.dims) : 0;
        REQUIRE((w.results == elements(output(l)) || w.results == real ||
                 (w.results == 0 && w.fixed_bytes >= 0)));
      }
    }
}

namespace {
template <class Kind>
void check_scrambled(Kind p, int& refused, int& accepted) {
  try {
    p.validate();
  } catch (const error&) {
    ++refused;
    // Its canonical form may be refused too, but asking for it does no harm.
    (void)test::refusal_of([&] { (void)p.canonical_form(); });
    return;
  }
  ++accepted;
  const Kind c = p.canonical_form();
  const work w = c.cost();
  c.validate();
  REQUIRE(c.canonical_form() == c);
  REQUIRE(c.cost() == p.cost());
  REQUIRE(elements(c.output()) == elements(p.output()));
  for (std::int64_t count : {w.macs, w.other, w.sources, w.weights, w.vectors, w.results,
                             w.fixed_bytes, w.flops(), w.bytes(numeric::f32)})
    REQUIRE(count >= 0);
  check_dims(c.output());
  // A key can only be too long where a dim of zero makes room for huge ones.
  std::string n;
  try {
    n = name(layer(c));
  } catch (const error&) {
    REQUIRE(elements(c.output()) == 0);
    return;
  }
  CAPTURE(n);
  REQUIRE(parse(n) == layer(c));
}
} // namespace

TEST_CASE("members at and beyond every limit are refused, or give sound sizes and costs") {
  test::layer_source random(13);
  test::scrambler scramble(random);
  for (std::size_t kind = 0; kind < test::layer_kinds; ++kind) {
    int refused = 0, accepted = 0;
    for (int i = 0; i < 1500; ++i)
      op::visit(
          [&](auto p) {
            p.fields(scramble);
            check_scrambled(p, refused, accepted);
          },
          random.next(kind));
    CAPTURE(kind);
    CHECK(refused > 20);
    CHECK(accepted > 20);
  }
}
