// Written by benanza_generate, which replaces this folder as a whole.
#include <benanza/op/registry.hpp>

using namespace benanza;
using namespace benanza::op;

BENANZA_LAYERS {
  unique_layer<conv{.input = {1, 3, 224, 224}, .outputs = 64, .kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}}>::add(0);
  unique_layer<conv{.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .dilations = {2, 2}, .groups = 32, .bias = true}>::add(1);
  unique_layer<conv{.input = {1, 64, 17, 17}, .outputs = 64, .kernel = {1, 7}, .pads = {0, 3, 0, 3}}>::add(2);
  unique_layer<conv{.input = {1, 16, 100}, .outputs = 32, .kernel = {3}, .strides = {2}, .pads = {1, 0}}>::add(3);
  unique_layer<conv{.input = {1, 4, 8, 8, 8}, .outputs = 8, .kernel = {3, 3, 3}}>::add(4);
  unique_layer<conv_transpose{.input = {1, 64, 8, 8}, .outputs = 32, .kernel = {4, 4}, .strides = {2, 2}, .pads = {1, 1, 1, 1}, .output_pads = {1, 1}, .bias = true}>::add(5);
  unique_layer<gemm{.m = 1, .n = 1000, .k = 2048, .transpose_b = true, .c = {1, 1000}, .constant_b = true}>::add(6);
  unique_layer<gemm{.m = 8, .n = 16, .k = 32, .transpose_a = true}>::add(7);
  unique_layer<matmul{.a = {8, 128, 64}, .b = {8, 64, 128}}>::add(8);
  unique_layer<matmul{.a = {1, 128, 768}, .b = {768, 768}, .constant_b = true}>::add(9);
  unique_layer<pool{.function = pooling::max, .input = {1, 64, 112, 112}, .kernel = {3, 3}, .strides = {2, 2}, .pads = {0, 0, 1, 1}}>::add(10);
  unique_layer<pool{.function = pooling::average, .input = {1, 64, 35, 35}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .include_pad = true}>::add(11);
  unique_layer<pool{.function = pooling::global_max, .input = {1, 64, 7, 7}}>::add(12);
  unique_layer<pool{.function = pooling::global_average, .input = {1, 2048, 7, 7}}>::add(13);
  unique_layer<batch_norm{.input = {1, 64, 56, 56}}>::add(14);
  unique_layer<lrn{.input = {1, 96, 55, 55}, .size = 5}>::add(15);
  unique_layer<layer_norm{.input = {1, 197, 768}, .axis = 2, .bias = true}>::add(16);
  unique_layer<layer_norm{.input = {8, 3, 4}}>::add(17);
  unique_layer<rms_norm{.input = {1, 128, 4096}, .axis = 2}>::add(18);
  unique_layer<group_norm{.input = {1, 320, 64, 64}, .groups = 32}>::add(19);
  unique_layer<instance_norm{.input = {1, 32, 224, 224}}>::add(20);
  unique_layer<attention{.batch = 1, .heads = 12, .queries = 197, .head_size = 64, .kv_heads = 12, .keys = 197, .value_size = 64}>::add(21);
  unique_layer<attention{.batch = 2, .heads = 32, .queries = 16, .head_size = 128, .kv_heads = 8, .keys = 512, .value_size = 64, .causal = true, .sequence_major = true, .mask = {2, 1, 1, 512}}>::add(22);
  unique_layer<softmax{.input = {1, 1000}, .axis = 1}>::add(23);
  unique_layer<softmax{.input = {8, 1000}, .axis = 1, .log = true}>::add(24);
  unique_layer<unary{.function = unary_function::relu, .input = {1, 64, 56, 56}}>::add(25);
  unique_layer<unary{.function = unary_function::leaky_relu, .input = {1, 16, 416, 416}}>::add(26);
  unique_layer<unary{.function = unary_function::logical_not, .input = {1, 8}, .element = dtype::boolean}>::add(27);
  unique_layer<unary{.function = unary_function::hard_sigmoid}>::add(28);
  unique_layer<unary{.function = unary_function::erf, .input = {1, 128, 768}}>::add(29);
  unique_layer<binary{.function = binary_function::add, .a = {1, 64, 56, 56}, .b = {1, 64, 56, 56}}>::add(30);
  unique_layer<binary{.function = binary_function::sub, .a = {1, 64, 56, 56}, .b = {1, 64, 1, 1}}>::add(31);
  unique_layer<binary{.function = binary_function::sum, .a = {1, 64, 56, 56}, .b = {1, 64, 56, 56}, .operands = 3}>::add(32);
  unique_layer<binary{.function = binary_function::prelu, .a = {1, 64, 112, 112}, .b = {64, 1, 1}}>::add(33);
  unique_layer<binary{.function = binary_function::greater, .a = {1, 8}, .b = {1, 8}, .element = dtype::s64}>::add(34);
  unique_layer<binary{.function = binary_function::logical_and, .a = {1, 8}, .b = {1, 8}, .element = dtype::boolean}>::add(35);
  unique_layer<reduce{.function = reduction::mean, .input = {1, 64, 56, 56}, .axes = {2, 3}}>::add(36);
  unique_layer<reduce{.function = reduction::log_sum_exp, .input = {1, 10}, .axes = {1}}>::add(37);
  unique_layer<concat{.whole = {1, 256, 28, 28}, .axis = 1, .parts = 4}>::add(38);
  unique_layer<split{.whole = {1, 256, 28, 28}, .axis = 1, .parts = 2}>::add(39);
  unique_layer<transpose{.input = {1, 2, 58, 28, 28}, .order = {0, 2, 1, 3, 4}}>::add(40);
  unique_layer<pad{.input = {1, 3, 224, 224}, .begins = {0, 0, 3, 3}, .ends = {0, 0, 3, -2}, .mode = pad_mode::reflect}>::add(41);
  unique_layer<slice{.input = {1, 64, 56, 56}, .sizes = {1, 32, 56, 28}, .starts = {0, 32, 0, 55}, .steps = {1, 1, 1, -2}}>::add(42);
  unique_layer<gather{.data = {30522, 128}, .indices = {1, 16}}>::add(43);
  unique_layer<gather{.data = {100, 64}, .indices = {5}, .axis = 1, .element = dtype::s64, .index = dtype::s32}>::add(44);
  unique_layer<resize{.input = {1, 64, 40, 40}, .sizes = {1, 64, 80, 80}, .mode = interpolation::linear, .coordinates = sampling::align_corners}>::add(45);
  unique_layer<resize{.input = {1, 64, 40, 40}, .sizes = {1, 64, 80, 80}, .coordinates = sampling::asymmetric, .upsample = true}>::add(46);
  unique_layer<depth_to_space{.input = {1, 64, 8, 8}, .block = 2, .column_row_depth = true}>::add(47);
  unique_layer<depth_to_space{.input = {1, 16, 8, 8}, .block = 2, .inverse = true}>::add(48);
  unique_layer<fused<conv>{.base = conv{.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true}, .steps = {binary_function::add, unary_function::relu}}>::add(49);
  unique_layer<fused<conv_transpose>{.base = conv_transpose{.input = {1, 16, 7, 7}, .outputs = 8, .kernel = {4, 4}, .strides = {2, 2}, .pads = {1, 1, 1, 1}}, .steps = {unary_function::sigmoid}}>::add(50);
  unique_layer<fused<gemm>{.base = gemm{.m = 1, .n = 1000, .k = 2048, .transpose_b = true, .c = {1, 1000}, .constant_b = true}, .steps = {unary_function::relu}}>::add(51);
  unique_layer<fused<matmul>{.base = matmul{.a = {1, 8, 16}, .b = {16, 4}, .constant_b = true}, .steps = {{binary_function::add, {4}}, unary_function::gelu}}>::add(52);
  unique_layer<fused<batch_norm>{.base = batch_norm{.input = {1, 64, 28, 28}}, .steps = {unary_function::relu}}>::add(53);
  unique_layer<fused<unary>{.base = unary{.function = unary_function::sigmoid, .input = {1, 32, 8, 8}}, .steps = {binary_function::mul}}>::add(54);
  unique_layer<fused<binary>{.base = binary{.function = binary_function::mul, .a = {1, 32, 8, 8}, .b = {1, 32, 8, 8}}, .steps = {{binary_function::add, {1}}, unary_function::clip}}>::add(55);
  unique_layer<reorder{.input = {1, 64, 56, 56}, .from = layout::plain, .to = layout::blocked16}>::add(56);
  unique_layer<layer_norm{.input = {197, 768}, .axis = 1, .bias = true, .statistics = true}>::add(57);
  unique_layer<pool{.function = pooling::max, .input = {1, 64, 112, 112}, .kernel = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}, .indices = pool_index::row_major}>::add(58);
  unique_layer<rotary{.sizes = {1, 32, 128, 64}, .rotated = 32, .interleaved = true, .table = 2048, .sequence_major = true}>::add(59);
  unique_layer<attention{.batch = 1, .heads = 8, .queries = 4, .head_size = 64, .kv_heads = 8, .keys = 64, .value_size = 64, .causal = true, .past = 60, .window = 16, .softcap = true, .sequence_major = true, .cached = true, .mask = {1, 1, 1, 64}, .truth_mask = true}>::add(60);
}
