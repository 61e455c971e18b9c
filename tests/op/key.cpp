// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/key.hpp>
#include <benanza/op/kinds.hpp>

#include "checks.hpp"
#include "random_layers.hpp"

#include <map>

using namespace benanza;
using namespace benanza::op;

namespace {
/// A layer made for these tests: one member for each way to write one.
struct sample {
  enum class word : std::uint8_t { none, some };
  static constexpr std::string_view words[] = {"none", "some"};

  shape dims{};
  std::int64_t count = 1;
  extents taps{};
  shape other{};
  extents each{};
  paddings around{};
  shape any{};
  std::int64_t number = 4;
  int narrow = 0;
  bool flag = false;
  word choice = word::none;
  dtype element = dtype::real;

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("dims", dims);
    a.count_and_dims("count", count, "taps", taps);
    a.dims_or("other", other, dims);
    a.tagged("each", "s", each, taps.size, 1);
    a.tagged("around", "p", around, 2 * taps.size, 0);
    a.tagged_list("any", "y", any);
    a.number("number", "n", number, 4);
    a.number("narrow", "w", narrow, 0);
    a.flag("flag", "flag", flag);
    a.choice("choice", "word", choice, words);
    a.element("element", element);
  }
  constexpr bool operator==(const sample&) const = default;
};

constexpr sample plain{.dims = {2, 3}, .taps = {3, 3}, .other = {2, 3}};
constexpr sample full{.dims = {2, 3},
                      .count = 5,
                      .taps = {3, 1},
                      .other = {},
                      .each = {2, 1},
                      .around = {0, 1, 2, 3},
                      .any = {-7, 7},
                      .number = -4,
                      .narrow = 9,
                      .flag = true,
                      .choice = sample::word::some,
                      .element = dtype::s64};
} // namespace

TEST_CASE("a key leaves defaults out") {
  CHECK_TWICE(write_key(plain) == "2x3-1x3x3");
}

TEST_CASE("a key writes every other member, in order") {
  CHECK_TWICE(write_key(full) == "2x3-5x3x1-scalar-s2x1-p0x1x2x3-ym7x7-nm4-w9-flag-some-s64");
}

TEST_CASE("keys read back, at compile time too") {
  CHECK_TWICE(read_key(sample{}, write_key(plain).view()) == plain);
  CHECK_TWICE(read_key(sample{}, write_key(full).view()) == full);
}

TEST_CASE("one number means all, half the pads for equal begins and ends") {
  sample s = plain;
  s.each = {2, 2}, s.around = {3, 3, 3, 3};
  CHECK(write_key(s) == "2x3-1x3x3-s2-p3");
  CHECK(read_key(sample{}, "2x3-1x3x3-s2-p3") == s);
  s.around = {1, 2, 1, 2};
  CHECK(write_key(s) == "2x3-1x3x3-s2-p1x2");
  CHECK(read_key(sample{}, "2x3-1x3x3-s2-p1x2") == s);
  CHECK(read_key(sample{}, "2x3-1x3x3-s2x2-p1x2x1x2") == s);
  s.around = {1, 1, 2, 2};
  CHECK(write_key(s) == "2x3-1x3x3-s2-p1x1x2x2");
  s.taps = {3}, s.each = {}, s.around = {0, 1};
  CHECK(write_key(s) == "2x3-1x3-p0x1"); // for one dim two numbers are begin and end
  CHECK(read_key(sample{}, "2x3-1x3-p0x1") == s);
  s.taps = {3, 3, 3}, s.around = {1, 2, 3, 1, 2, 3};
  CHECK(write_key(s) == "2x3-1x3x3x3-p1x2x3");
  CHECK(read_key(sample{}, "2x3-1x3x3x3-p1x2x3") == s);
}

TEST_CASE("explicit defaults are read and vanish") {
  CHECK(read_key(sample{}, "2x3-1x3x3-2x3-s1x1-p0-n4-w0-none-real") == plain);
  CHECK(read_key(sample{}, "002x03-1x3x3-p0x0x0x0") == plain);
  CHECK(read_key(sample{}, "2x3-1x3x3-wm0") == plain);
}

TEST_CASE("numbers") {
  key_text t;
  t.append(std::int64_t{0});
  t.append(' ');
  t.append(std::int64_t{-1});
  t.append(' ');
  t.append(std::numeric_limits<std::int64_t>::max());
  t.append(' ');
  t.append(std::numeric_limits<std::int64_t>::min());
  CHECK(t == "0 m1 9223372036854775807 m9223372036854775808");
}

TEST_CASE("a key text has an end") {
  key_text t;
  for (int i = 0; i < key_text::capacity; ++i)
    t.append('1');
  CHECK_REFUSED(t.append('1'), "384");
  CHECK(t.size == key_text::capacity);
}

TEST_CASE("bad keys are refused in one line that names the field") {
  struct row {
    const char *key, *why, *where;
  };
  constexpr row table[] = {
      {"", "ends before its dims", "at its end"},
      {"2x3", "ends before its dims", "at its end"},
      {"-2x3-1x3x3", "empty field", ""},
      {"2x3--1x3x3", "empty field", ""},
      {"2x3-", "empty field", "\"2x3\""},
      {"2x3-1x3x3-", "empty field", "\"1x3x3\""},
      {"2x3-1x3x3-s2-", "empty field", "\"s2\""},
      {"-", "empty field", ""},
      {"2xx3-1x3x3", "not a number", "\"2xx3\""},
      {"2x-1x3x3", "not a number", "\"2x\""},
      {"x2-1x3x3", "not a number", "\"x2\""},
      {"2y3-1x3x3", "not a number", "\"2y3\""},
      {"mm2-1x3x3", "not a number", "\"mm2\""},
      {"m-1x3x3", "not a number", "\"m\""},
      {"2x3m-1x3x3", "not a number", "\"2x3m\""},
      {"+2x3-1x3x3", "not a number", "\"+2x3\""},
      {"2 x3-1x3x3", "not a number", "\"2 x3\""},
      {"0x2.5-1x3x3", "not a number", "\"0x2.5\""},
      {"scalarx2-1x3x3", "not a number", "\"scalarx2\""},
      {"2x3-scalar", "lacks a count", ""},
      {"1x1x1x1x1x1x1x1x1-1x3x3", "more numbers", "\"1x1x1x1x1x1x1x1x1\""},
      {"2x3-1x3x3x3x3", "more numbers", "\"1x3x3x3x3\""},
      {"2x3-1x3x3-s1x2x3", "wrong length", "\"s1x2x3\""},
      {"2x3-1x3x3-s1x2x3x4", "more numbers", "\"s1x2x3x4\""},
      {"2x3-1x3x3-p1x2x3", "wrong length", "\"p1x2x3\""},
      {"2x3-1x3x3-p1x2x3x4x5", "wrong length", "\"p1x2x3x4x5\""},
      {"2x3-1x3-p1x2x3", "wrong length", "\"p1x2x3\""},
      {"2x3-1-s2", "wrong length", "\"s2\""}, // no taps: nothing for a stride to hold for
      {"2x3-1x3x3-n1x2", "more numbers", "\"n1x2\""},
      {"2x3-1x3x3-n", "does not belong here", "\"n\""},
      {"2x3-1x3x3-q7", "does not belong here", "\"q7\""},
      {"2x3-1x3x3-p1-s3", "does not belong here", "\"s3\""}, // another order
      {"2x3-1x3x3-s3-s3", "does not belong here", "\"s3\""},
      {"2x3-1x3x3-flag-flag", "does not belong here", "\"flag\""},
      {"2x3-1x3x3-Flag", "does not belong here", "\"Flag\""},
      {"2x3-1x3x3-s64-s64-s64", "does not belong here", "\"s64\""},
      {"2x3-1x3x3-f33", "does not belong here", "\"f33\""},
      {"2x3-1x3x3-s2x", "not a number", "\"s2x\""},
      {"2x3-1x3x3-sm", "not a number", "\"sm\""},
      {"1099511627777-1x3x3", "2^40", "\"1099511627777\""},
      {"2x3-1x3x3-nm1099511627777", "2^40", "\"nm1099511627777\""},
      {"99999999999999999999999999999999-1", "2^40", "99999"},
      {"2x3-1x3x3-w2147483648", "too large", "\"w2147483648\""},
      {"2x3-1x3x3-w4294967296", "too large", "\"w4294967296\""}, // once read as 0
      {"2x3-1x3x3-wm2147483649", "too large", "\"wm2147483649\""},
  };
  for (const row& r : table) {
    CAPTURE(std::string(r.key));
    CHECK_REFUSED(read_key(sample{}, r.key), r.why);
    CHECK_REFUSED(read_key(sample{}, r.key), r.where);
    CHECK_REFUSED(read_key(sample{}, r.key), r.key);
    CHECK_REFUSED(read_key(sample{}, r.key), "write it as");
  }
}

TEST_CASE("numbers up to the limits are read") {
  CHECK(read_key(sample{}, "1099511627776-1x3x3").dims == shape{dim_limit});
  CHECK(read_key(sample{}, "2-1x3x3-nm1099511627776").number == -dim_limit);
  CHECK(read_key(sample{}, "2-1x3x3-w2147483647").narrow == 2147483647);
}

TEST_CASE("a key that holds control characters is still refused in one line") {
  CHECK_REFUSED(read_key(sample{}, "2x3\n-1x3x3"), "not a number");
  CHECK_REFUSED(read_key(sample{}, "2x3-1x3x3-\x1b[31m"), "does not belong here");
}

TEST_CASE("a key longer than any layer's is refused without repeating it all") {
  const std::string zeros(1000000, '0');
  CHECK_REFUSED(read_key(sample{}, zeros), "longer than 384");
  CHECK(test::refusal_of([&] { (void)read_key(sample{}, zeros); }).size() < 300);
  const std::string at_the_limit(key_text::capacity - 7, '0');
  CHECK(read_key(sample{}, at_the_limit + "2x3-1x3").dims == shape{2, 3});
}

namespace {
struct known {
  layer parameters;
  std::string_view name;
};

/// Layers whose canonical names were written by hand.
const std::vector<known>& known_layers() {
  using enum dtype;
  static const std::vector<known> layers{
      {conv{.input = {1, 3, 227, 227}, .outputs = 96, .kernel = {11, 11}, .strides = {4, 4}},
       "Conv/1x3x227x227-96x11x11-s4"},
      {conv{.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {1, 1}},
       "Conv/1x64x56x56-64x1x1-s1"},
      {conv{.input = {1, 256, 56, 56}, .outputs = 512, .kernel = {1, 1}, .strides = {2, 2}},
       "Conv/1x256x56x56-512x1x1-s2"},
      {conv{.input = {8, 512, 14, 14},
            .outputs = 512,
            .kernel = {3, 3},
            .strides = {1, 2},
            .pads = {1, 1, 1, 1},
            .dilations = {2, 1},
            .groups = 4,
            .bias = true},
       "Conv/8x512x14x14-512x3x3-s1x2-p1-d2x1-g4-b"},
      {conv{
           .input = {1, 1, 16000}, .outputs = 64, .kernel = {80}, .strides = {4}, .pads = {38, 38}},
       "Conv/1x1x16000-64x80-s4-p38"},
      {conv{.input = {1, 8, 9, 9}, .outputs = 8, .kernel = {2, 2}, .pads = {0, 0, 1, 1}},
       "Conv/1x8x9x9-8x2x2-s1-p0x0x1x1"},
      {conv_transpose{.input = {1, 21, 16, 16},
                      .outputs = 21,
                      .kernel = {4, 4},
                      .strides = {2, 2},
                      .output_pads = {1, 0},
                      .groups = 21},
       "ConvTranspose/1x21x16x16-21x4x4-s2-op1x0-g21"},
      {conv_weight_gradient{.input = {1, 8, 9, 9},
                            .outputs = 8,
                            .kernel = {2, 2},
                            .pads = {0, 0, 1, 1},
                            .groups = 4},
       "ConvWeightGradient/1x8x9x9-8x2x2-s1-p0x0x1x1-g4"},
      {gemm{.m = 8, .n = 4096, .k = 9216}, "Gemm/8x4096x9216"},
      {gemm{.m = 8, .n = 10, .k = 20, .transpose_a = true, .c = {8, 10}}, "Gemm/8x10x20-ta-c8x10"},
      {matmul{.a = {12, 384, 64}, .b = {12, 64, 384}}, "MatMul/12x384x64-12x64x384"},
      {pool{.input = {1, 96, 54, 54}, .kernel = {3, 3}, .strides = {2, 2}, .ceil = true},
       "MaxPool/1x96x54x54-3x3-s2-ceil"},
      {pool{.input = {1, 96, 54, 54}, .kernel = {3, 3}}, "MaxPool/1x96x54x54-3x3-s1"},
      {pool{.function = pooling::average,
            .input = {1, 8, 9, 9},
            .kernel = {3, 2},
            .strides = {3, 2},
            .pads = {1, 0, 1, 1},
            .include_pad = true},
       "AveragePool/1x8x9x9-3x2-s3x2-p1x0x1x1-ip"},
      {pool{.function = pooling::global_average, .input = {1, 1000, 13, 13}},
       "GlobalAveragePool/1x1000x13x13"},
      {pool{.function = pooling::global_max, .input = {1, 4, 5}}, "GlobalMaxPool/1x4x5"},
      {batch_norm{.input = {1, 64, 112, 112}}, "BatchNormalization/1x64x112x112"},
      {lrn{.input = {1, 64, 56, 56}, .size = 5}, "LRN/1x64x56x56-n5"},
      {layer_norm{.input = {1, 197, 768}, .axis = 2, .bias = true},
       "LayerNormalization/1x197x768-a2-b"},
      {rms_norm{.input = {1, 128, 4096}, .axis = 2}, "RMSNormalization/1x128x4096-a2"},
      {group_norm{.input = {1, 320, 64, 64}, .groups = 32}, "GroupNormalization/1x320x64x64-g32"},
      {instance_norm{.input = {1, 32, 224, 224}}, "InstanceNormalization/1x32x224x224"},
      {attention{.batch = 1,
                 .heads = 12,
                 .queries = 197,
                 .head_size = 64,
                 .kv_heads = 12,
                 .keys = 197,
                 .value_size = 64},
       "Attention/1x12x197x64"},
      {attention{.batch = 2,
                 .heads = 32,
                 .queries = 1,
                 .head_size = 128,
                 .kv_heads = 8,
                 .keys = 512,
                 .value_size = 64,
                 .causal = true,
                 .sequence_major = true,
                 .mask = {2, 1, 1, 512}},
       "Attention/2x32x1x128-kv8-k512-v64-causal-bshd-mask2x1x1x512"},
      {attention{.batch = 1,
                 .heads = 8,
                 .queries = 4,
                 .head_size = 64,
                 .kv_heads = 8,
                 .keys = 64,
                 .value_size = 64,
                 .causal = true,
                 .past = 60,
                 .window = 16,
                 .softcap = true,
                 .sequence_major = true,
                 .cached = true,
                 .mask = {1, 1, 1, 64},
                 .truth_mask = true},
       "Attention/1x8x4x64-k64-causal-p60-w16-cap-bshd-cached-mask1x1x1x64-bool"},
      {rotary{.sizes = {1, 32, 128, 64}, .rotated = 32, .table = 2048, .sequence_major = true},
       "RotaryEmbedding/1x32x128x64-r32-t2048-bshd"},
      {linear_attention{.batch = 2,
                        .heads = 4,
                        .steps = 3,
                        .key_size = 8,
                        .kv_heads = 2,
                        .value_size = 16,
                        .rule = update_rule::gated_delta,
                        .head_decay = true,
                        .one_rate = true,
                        .past = true,
                        .state = f32},
       "LinearAttention/2x4x3x8-kv2-v16-gated_delta-per_head-one_rate-past-f32"},
      {tf_idf{.input = {2, 12},
              .outputs = 7,
              .least = 2,
              .most = 3,
              .skips = 5,
              .pool = {4, 3},
              .weigh = weighting::idf,
              .element = s32},
       "TfIdfVectorizer/2x12-o7-min2-max3-skip5-pool4x3-idf-s32"},
      {cast{.input = {1, 8}, .from = s64}, "Cast/1x8-s64-real"},
      {cast{.input = {1, 8}, .to = dtype::e5m2z}, "Cast/1x8-real-e5m2z"},
      {where{.condition = {4, 1}, .x = {4, 9}, .y = {1}, .element = s32}, "Where/4x1-4x9-1-s32"},
      {expand{.input = {1, 8}, .sizes = {3, 8}}, "Expand/1x8-3x8"},
      {expand{.input = {1, 8}, .sizes = {3, 8}, .element = u8, .tile = true}, "Tile/1x8-3x8-u8"},
      {softmax{.input = {1, 1000}, .axis = 1}, "Softmax/1x1000-a1"},
      {softmax{.input = {7}, .axis = 0, .log = true}, "LogSoftmax/7-a0"},
      {unary{.function = unary_function::leaky_relu, .input = {1, 32}}, "LeakyRelu/1x32"},
      {unary{.function = unary_function::logical_not, .input = {4}, .element = boolean},
       "Not/4-bool"},
      {unary{.function = unary_function::abs, .input = {4}, .element = bf16}, "Abs/4-bf16"},
      {binary{.a = {1, 64, 56, 56}, .b = {1, 64, 56, 56}}, "Add/1x64x56x56"},
      {binary{.function = binary_function::prelu, .a = {1, 64, 56, 56}, .b = {64, 1, 1}},
       "PRelu/1x64x56x56-64x1x1"},
      {binary{.function = binary_function::sum, .a = {5, 6}, .b = {6}, .operands = 3},
       "Sum/5x6-6-n3"},
      {binary{.function = binary_function::equal, .a = {3}, .b = {1}, .element = s32},
       "Equal/3-1-s32"},
      {reduce{.input = {1, 7, 7, 64}, .axes = {1, 2}}, "ReduceMean/1x7x7x64-a1x2"},
      {reduce{.function = reduction::sum_square, .input = {3, 4}, .axes = {1}, .element = e4m3},
       "ReduceSumSquare/3x4-a1-e4m3"},
      {concat{.whole = {1, 480, 28, 28}, .axis = 1, .parts = 4}, "Concat/1x480x28x28-a1-n4"},
      {concat{.whole = {4}, .axis = 0, .parts = 2, .element = s64}, "Concat/4-a0-n2-s64"},
      {split{.whole = {1, 116, 28, 28}, .axis = 1, .parts = 2}, "Split/1x116x28x28-a1-n2"},
      {transpose{.input = {1, 2, 58, 28, 28}, .order = {0, 2, 1, 3, 4}},
       "Transpose/1x2x58x28x28-o0x2x1x3x4"},
      {pad{.input = {1, 3}, .begins = {0, -1}, .ends = {0, 2}, .mode = pad_mode::wrap},
       "Pad/1x3-b0xm1-e0x2-wrap"},
      {slice{.input = {5, 9}, .sizes = {5, 3}, .starts = {0, 8}, .steps = {1, -3}},
       "Slice/5x9-5x3-from0x8-by1xm3"},
      {slice{.input = {9, 9}, .sizes = {3, 3}, .starts = {2, 2}, .steps = {2, 2}, .element = u8},
       "Slice/9x9-3x3-from2-by2-u8"},
      {gather{.data = {512, 768}, .indices = {1, 384}}, "Gather/512x768-1x384"},
      {gather{.data = {4, 5}, .indices = {}, .axis = 1, .element = s32, .index = s32},
       "Gather/4x5-scalar-a1-i32-s32"},
      {resize{.input = {1, 3, 8, 8}, .sizes = {1, 3, 9, 9}}, "Resize/1x3x8x8-1x3x9x9"},
      {resize{.input = {1, 3},
              .sizes = {1, 6},
              .mode = interpolation::cubic,
              .coordinates = sampling::pytorch_half_pixel},
       "Resize/1x3-1x6-cubic-pytorch_half_pixel"},
      {resize{.input = {4}, .sizes = {8}, .coordinates = sampling::asymmetric, .upsample = true},
       "Upsample/4-8-asymmetric"},
      {depth_to_space{.input = {1, 36, 4, 4}, .block = 3, .column_row_depth = true},
       "DepthToSpace/1x36x4x4-k3-crd"},
      {depth_to_space{.input = {1, 4, 6, 6}, .block = 3, .inverse = true},
       "SpaceToDepth/1x4x6x6-k3"},
      {view{.function = view_function::reshape, .input = {2, 3}, .result = {6}}, "Reshape/2x3-6"},
      {view{.function = view_function::identity, .input = {}, .result = {}, .element = f64},
       "Identity/scalar-f64"},
      {view{.function = view_function::unsqueeze, .input = {}, .result = {1, 1}},
       "Unsqueeze/scalar-1x1"},
  };
  return layers;
}
} // namespace

TEST_CASE("known layers have known names") {
  for (const known& k : known_layers()) {
    CAPTURE(std::string(k.name));
    CHECK(name(k.parameters) == k.name);
    CHECK(parse(k.name) == k.parameters);
    op::visit(
        [](const auto& p) {
          p.validate();
          CHECK(p.canonical_form() == p);
        },
        k.parameters);
  }
}

TEST_CASE("other spellings give the canonical layer") {
  struct row {
    std::string_view spelling, name;
  };
  constexpr row table[] = {
      {"Conv/1x64x56x56-64x3x3-s1x1-p1x1x1x1-d1x1-g1", "Conv/1x64x56x56-64x3x3-s1-p1"},
      {"Conv/1x64x56x56-64x3x3-p1x1", "Conv/1x64x56x56-64x3x3-s1-p1"},
      {"Conv/1x64x56x56-64x3x3-p1", "Conv/1x64x56x56-64x3x3-s1-p1"},
      {"Conv/1x64x56x56-64x1x1-s1-p0-d5", "Conv/1x64x56x56-64x1x1-s1"},
      {"Conv/01x64x056x56-64x3x3-p0x1x0x1", "Conv/1x64x56x56-64x3x3-s1-p0x1"},
      {"ConvTranspose/1x4x8x8-2x2x2-s2x2-op0x0", "ConvTranspose/1x4x8x8-2x2x2-s2"},
      {"MaxPool/1x4x7x7-3x3-s2-ceil-ip", "MaxPool/1x4x7x7-3x3-s2"},
      {"AveragePool/1x4x7x7-3x3-s2-ip", "AveragePool/1x4x7x7-3x3-s2"},
      {"Add/2x3-2x3-n2-real", "Add/2x3"},
      {"Add/scalar-scalar", "Add/1"},
      {"Add/2x3-scalar", "Add/2x3-1"},
      {"Sum/2x3-1x3-n1", "Sum/2x3-n1"},
      {"Slice/4-2-from0-by1", "Slice/4-2"},
      {"Slice/4-1-from3-by9", "Slice/4-1-from3"},
      {"Gather/4x5-3-a0", "Gather/4x5-3"},
      {"Resize/4-8-nearest-half_pixel", "Resize/4-8"},
      {"Pad/4-b1-e1-constant", "Pad/4-b1-e1"},
      {"Identity/4x4-4x4", "Identity/4x4"},
      {"GroupNormalization/1x8x4-g1", "GroupNormalization/1x8x4"},
      {"Attention/1x8x16x64-kv8-k16-v64", "Attention/1x8x16x64"},
      {"Attention/1x8x16x64-mask16", "Attention/1x8x16x64-mask1x1x1x16"},
      {"Attention/1x1x16x64-bshd", "Attention/1x1x16x64"},
  };
  for (const row& r : table) {
    CAPTURE(std::string(r.spelling));
    CHECK(name(parse(r.spelling)) == r.name);
    CHECK(parse(r.spelling) == parse(r.name));
  }
}

TEST_CASE("random layers: parse(name(l)) == l, and different layers have different names") {
  test::layer_source random(20200522);
  std::map<std::string, layer> seen;
  for (std::size_t kind = 0; kind < test::layer_kinds; ++kind)
    for (int i = 0; i < 400; ++i) {
      const layer l = random.next(kind);
      const std::string n = name(l);
      CAPTURE(n);
      REQUIRE(parse(n) == l);
      REQUIRE(parse(family(l), key(l)) == l);
      REQUIRE(parse(n).kind().index == kind);
      REQUIRE(n.find('/') == n.rfind('/'));
      REQUIRE(n.find_first_of(" \t\n\r\"'\\,;:") == std::string::npos);
      const auto [place, fresh] = seen.emplace(n, l);
      if (!fresh) REQUIRE(place->second == l);
    }
  CHECK(seen.size() > 20 * 200);
}

TEST_CASE("random damage to a key is refused in one line or reads as another sound layer") {
  constexpr std::string_view letters = "0123456789xmm--spdgbceilnokatwufryh/ \n\x01\xff";
  test::layer_source random(7);
  int refused = 0, read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = name(random.next(static_cast<std::size_t>(random.pick(0, 24))));
    for (std::int64_t n = random.pick(1, 3); n > 0; --n) {
      const auto at =
          static_cast<std::size_t>(random.pick(0, static_cast<std::int64_t>(text.size()) - 1));
      const char c = letters[static_cast<std::size_t>(
          random.pick(0, static_cast<std::int64_t>(letters.size()) - 1))];
      switch (random.pick(0, 3)) {
      case 0: text[at] = c; break;
      case 1: text.insert(at, 1, c); break;
      case 2: text.erase(at, 1); break;
      default: text.resize(at + 1); break;
      }
      if (text.empty()) text.push_back('-');
    }
    CAPTURE(text);
    try {
      const layer l = parse(text);
      ++read;
      REQUIRE(parse(name(l)) == l);
      REQUIRE(cost(l).flops() >= 0);
      REQUIRE(cost(l).bytes(numeric::f32) >= 0);
    } catch (const error& e) {
      ++refused;
      const std::string what = e.what();
      REQUIRE(what.find('\n') == std::string::npos);
      REQUIRE(!what.empty());
    }
  }
  CHECK(refused > 2000);
  CHECK(read > 500);
}
