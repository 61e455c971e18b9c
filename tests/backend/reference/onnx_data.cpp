// SPDX-License-Identifier: Apache-2.0
// Does the reference compute what ONNX says? Its own node tests, as libonnx-testdata installs them:
// those whose attributes a layer can hold.
#include <benanza/backend/reference/reference.hpp>
#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace benanza;
using namespace benanza::backend;

namespace {
const std::filesystem::path data = "/usr/share/libonnx-testdata/data/node";

bool has_data() {
  return std::filesystem::exists(data);
}

/// A TensorProto, as far as the node tests use it: dims, type, and raw or packed values.
tensor read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file, path.string());
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(all.at(at++));
      v |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
  };
  tensor t;
  std::string values;
  while (at < all.size()) {
    const std::uint64_t tag = varint();
    const std::uint64_t length = varint(); // or the value itself
    if (tag == (1 << 3)) t.dims.push(static_cast<std::int64_t>(length));
    if (tag == (2 << 3))
      t.type = length == 1   ? dtype::f32
               : length == 7 ? dtype::s64
               : length == 6 ? dtype::s32
               : length == 9 ? dtype::boolean
               : length == 2 ? dtype::u8
                             : dtype::f64;
    if ((tag & 7) != 2) continue;
    if (tag >> 3 == 9 || tag >> 3 == 4) values = all.substr(at, length);
    at += length;
  }
  REQUIRE(static_cast<std::int64_t>(values.size()) == t.count() * size_bytes(t.type));
  t.bytes.resize(values.size());
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), values.size());
  return t;
}

void check(const std::string& test, const std::string& layer) {
  CAPTURE(test);
  const auto folder = data / ("test_" + test) / "test_data_set_0";
  REQUIRE(std::filesystem::exists(folder));
  const op::layer l = op::parse(layer);
  // The layer says how many operands it takes; node tests also pass sizes, axes and the like.
  operands o = make_operands(l, numeric::f32);
  for (std::size_t i = 0; i < o.inputs.size(); ++i)
    o.inputs[i] = read(folder / ("input_" + std::to_string(i) + ".pb"));
  std::vector<double> expected;
  for (int i = 0; std::filesystem::exists(folder / ("output_" + std::to_string(i) + ".pb")); ++i) {
    const tensor out = read(folder / ("output_" + std::to_string(i) + ".pb"));
    for (std::int64_t k = 0; k < out.count(); ++k)
      expected.push_back(load(out.type, out.bytes.data(), k));
    if (!op::is<op::split>(l) && i + 1 == op::results(l).size) break;
  }
  REQUIRE(static_cast<std::int64_t>(expected.size()) == result_count(l));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(reference::at(l, o, static_cast<std::int64_t>(i)) ==
          doctest::Approx(expected[i]).epsilon(2e-5).scale(1));
}
} // namespace

TEST_CASE("ONNX node tests" * doctest::skip(!has_data())) {
  const std::pair<const char*, const char*> tests[] = {
      {"basic_conv_with_padding", "Conv/1x1x5x5-1x3x3-s1-p1"},
      {"basic_conv_without_padding", "Conv/1x1x5x5-1x3x3-s1"},
      {"conv_with_strides_padding", "Conv/1x1x7x5-1x3x3-s2-p1"},
      {"conv_with_strides_and_asymmetric_padding", "Conv/1x1x7x5-1x3x3-s2-p1x0"},
      {"convtranspose", "ConvTranspose/1x1x3x3-2x3x3-s1"},
      {"convtranspose_1d", "ConvTranspose/1x1x3-2x3-s1"},
      {"convtranspose_3d", "ConvTranspose/1x1x3x4x5-2x3x3x3-s1"},
      {"convtranspose_pads", "ConvTranspose/1x1x3x3-2x3x3-s3x2-p1x2"},
      {"convtranspose_dilations", "ConvTranspose/1x1x3x3-1x2x2-s1-d2"},
      {"convtranspose_pad", "ConvTranspose/1x1x3x3-2x3x3-s3x2-op1"},
      {"gemm_transposeA", "Gemm/3x4x6-ta-c1x4"},
      {"gemm_transposeB", "Gemm/3x4x6-tb-c1x4"},
      {"gemm_default_matrix_bias", "Gemm/3x4x6-c3x4"},
      {"matmul_2d", "MatMul/3x4-4x3"},
      {"matmul_3d", "MatMul/2x3x4-2x4x3"},
      {"matmul_4d", "MatMul/1x2x3x4-1x2x4x3"},
      {"averagepool_1d_default", "AveragePool/1x3x32-2-s1"},
      {"averagepool_2d_ceil", "AveragePool/1x1x4x4-3x3-s2-ceil"},
      {"averagepool_2d_default", "AveragePool/1x3x32x32-2x2-s1"},
      {"averagepool_2d_pads", "AveragePool/1x3x28x28-3x3-s1-p2"},
      {"averagepool_2d_pads_count_include_pad", "AveragePool/1x3x28x28-3x3-s1-p2-ip"},
      {"averagepool_2d_precomputed_pads", "AveragePool/1x1x5x5-5x5-s1-p2"},
      {"averagepool_2d_precomputed_pads_count_include_pad", "AveragePool/1x1x5x5-5x5-s1-p2-ip"},
      {"averagepool_2d_same_upper", "AveragePool/1x3x32x32-2x2-s1-p0x0x1x1"},
      {"averagepool_2d_same_lower", "AveragePool/1x3x32x32-2x2-s1-p1x1x0x0"},
      {"averagepool_3d_default", "AveragePool/1x3x32x32x32-2x2x2-s1"},
      {"maxpool_2d_ceil", "MaxPool/1x1x4x4-3x3-s2-ceil"},
      {"maxpool_2d_dilations", "MaxPool/1x1x4x4-2x2-s1-d2"},
      {"maxpool_2d_pads", "MaxPool/1x3x28x28-3x3-s1-p2"},
      {"maxpool_2d_precomputed_strides", "MaxPool/1x1x5x5-2x2-s2"},
      {"maxpool_with_argmax_2d_precomputed_pads", "MaxPool/1x1x5x5-5x5-s1-p2-indices"},
      {"maxpool_with_argmax_2d_precomputed_strides", "MaxPool/1x1x5x5-2x2-s2-cindices"},
      {"globalaveragepool", "GlobalAveragePool/1x3x5x5"},
      {"globalmaxpool", "GlobalMaxPool/1x3x5x5"},
      {"batchnorm_example", "BatchNormalization/2x3x4x5"},
      {"lrn_default", "LRN/5x5x5x5-n3"},
      {"layer_normalization_2d_axis0", "LayerNormalization/3x4-a0-b"},
      {"layer_normalization_2d_axis1", "LayerNormalization/3x4-a1-b"},
      {"layer_normalization_4d_axis1", "LayerNormalization/2x3x4x5-a1-b"},
      {"layer_normalization_4d_axis2", "LayerNormalization/2x3x4x5-a2-b"},
      {"layer_normalization_default_axis", "LayerNormalization/2x3x4x5-a3-b-stats"},
      {"instancenorm_example", "InstanceNormalization/1x2x1x3"},
      {"softmax_axis_0", "Softmax/3x4x5-a0"},
      {"softmax_axis_1", "Softmax/3x4x5-a1"},
      {"softmax_axis_2", "Softmax/3x4x5-a2"},
      {"softmax_large_number", "Softmax/2x4-a1"},
      {"logsoftmax_axis_1", "LogSoftmax/3x4x5-a1"},
      {"reduce_mean_do_not_keepdims_example", "ReduceMean/3x2x2-a1"},
      {"reduce_log_sum_exp_do_not_keepdims_random", "ReduceLogSumExp/3x2x2-a1"},
      {"reduce_l1_do_not_keepdims_random", "ReduceL1/3x2x2-a2"},
      {"reduce_l2_do_not_keepdims_random", "ReduceL2/3x2x2-a2"},
      {"reduce_prod_do_not_keepdims_random", "ReduceProd/3x2x2-a1"},
      {"reduce_log_sum_asc_axes", "ReduceLogSum/3x4x5-a0x1"},
      {"reduce_sum_square_do_not_keepdims_random", "ReduceSumSquare/3x2x2-a1"},
      {"reduce_max_do_not_keepdims_random", "ReduceMax/3x2x2-a1"},
      {"transpose_default", "Transpose/2x3x4-o2x1x0"},
      {"transpose_all_permutations_3", "Transpose/2x3x4-o1x2x0"},
      {"concat_3d_axis_1", "Concat/2x4x2-a1-n2"},
      {"split_equal_parts_2d", "Split/2x6-a1-n2"},
      {"edge_pad", "Pad/1x3x4x5-b0x0x1x1-e0x0x1x1-edge"},
      {"reflect_pad", "Pad/1x3x4x5-b0x0x1x1-e0x0x1x1-reflect"},
      {"slice", "Slice/20x10x5-3x10x5"},
      {"slice_neg_steps", "Slice/20x10x5-19x3x2-from19x9x4-bym1xm3xm2"},
      {"gather_0", "Gather/5x4x3x2-3"},
      {"gather_1", "Gather/5x4x3x2-3-a1"},
      {"gather_negative_indices", "Gather/10-3"},
      {"gather_2d_indices", "Gather/3x3-1x2-a1"},
      {"depthtospace_crd_mode_example", "DepthToSpace/1x8x2x3-k2-crd"},
      {"depthtospace_example", "DepthToSpace/1x8x2x3-k2"},
      {"spacetodepth", "SpaceToDepth/2x2x6x6-k2"},
      {"spacetodepth_example", "SpaceToDepth/1x1x4x6-k2"},
      {"resize_upsample_scales_nearest", "Resize/1x1x2x2-1x1x4x6"},
      {"resize_downsample_sizes_nearest", "Resize/1x1x2x4-1x1x1x3"},
      {"resize_upsample_sizes_nearest", "Resize/1x1x2x2-1x1x7x8"},
      {"resize_downsample_sizes_linear_pytorch_half_pixel",
       "Resize/1x1x4x4-1x1x3x1-linear-pytorch_half_pixel"},
      {"resize_upsample_scales_linear", "Resize/1x1x2x2-1x1x4x4-linear"},
      {"resize_upsample_scales_linear_align_corners",
       "Resize/1x1x2x2-1x1x4x4-linear-align_corners"},
      {"resize_upsample_scales_cubic", "Resize/1x1x4x4-1x1x8x8-cubic"},
      {"resize_upsample_scales_cubic_align_corners", "Resize/1x1x4x4-1x1x8x8-cubic-align_corners"},
      {"resize_upsample_scales_cubic_asymmetric", "Resize/1x1x4x4-1x1x8x8-cubic-asymmetric"},
      {"resize_upsample_sizes_cubic", "Resize/1x1x4x4-1x1x9x10-cubic"},
      {"resize_downsample_sizes_cubic", "Resize/1x1x4x4-1x1x3x3-cubic"},
      {"upsample_nearest", "Upsample/1x1x2x2-1x1x4x6-asymmetric"},
      {"add_bcast", "Add/3x4x5-5"},
      {"div", "Div/3x4x5"},
      {"pow_bcast_array", "Pow/2x3-3"},
      {"prelu_broadcast", "PRelu/3x4x5-5"},
      {"mean_example", "Mean/3-n3"},
      {"max_example", "Max/3-n3"},
      {"greater_equal_bcast", "GreaterOrEqual/3x4x5-5"},
      {"equal_bcast", "Equal/3x4x5-5-s32"},
      {"and_bcast3v1d", "And/3x4x5-5-bool"},
      {"xor_bcast4v4d", "Xor/1x4x1x6-3x1x5x6-bool"},
      {"leakyrelu_example", "LeakyRelu/3"},
      {"elu_default", "Elu/3x4x5"},
      {"selu_default", "Selu/3x4x5"},
      {"hardsigmoid_default", "HardSigmoid/3x4x5"},
      {"hardswish", "HardSwish/3x4x5"},
      {"softplus", "Softplus/3x4x5"},
      {"softsign", "Softsign/3x4x5"},
      {"erf", "Erf/1x3x32x32"},
      {"round", "Round/15"},
      {"sign", "Sign/11"},
      {"not_2d", "Not/3x4-bool"},
      {"reciprocal", "Reciprocal/3x4x5"},
  };
  for (const auto& [test, layer] : tests)
    if (std::filesystem::exists(data / ("test_" + std::string(test)))) check(test, layer);
}
