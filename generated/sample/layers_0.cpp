// Written by benanza_generate, which replaces this folder as a whole.
#include <benanza/op/registry.hpp>

using namespace benanza;
using namespace benanza::op;

BENANZA_LAYERS {
  // lenet@batch=1 x1
  unique_layer<binary{.function = binary_function::add, .a = {1, 10}, .b = {1, 10}}>::add(0);
  // lenet@batch=1 x1
  unique_layer<binary{.function = binary_function::add, .a = {1, 16, 14, 14}, .b = {16, 1, 1}}>::add(1);
  // lenet@batch=1 x1
  unique_layer<binary{.function = binary_function::add, .a = {1, 8, 28, 28}, .b = {8, 1, 1}}>::add(2);
  // lenet@batch=1,fused x1
  unique_layer<fused<conv>{.base = conv{.input = {1, 1, 28, 28}, .outputs = 8, .kernel = {5, 5}, .pads = {2, 2, 2, 2}, .bias = true}, .steps = {unary_function::relu}}>::add(3);
  // lenet@batch=1,fused x1
  unique_layer<fused<conv>{.base = conv{.input = {1, 8, 14, 14}, .outputs = 16, .kernel = {5, 5}, .pads = {2, 2, 2, 2}, .bias = true}, .steps = {unary_function::relu}}>::add(4);
  // lenet@batch=1 x1
  unique_layer<conv{.input = {1, 1, 28, 28}, .outputs = 8, .kernel = {5, 5}, .pads = {2, 2, 2, 2}}>::add(5);
  // lenet@batch=1 x1
  unique_layer<conv{.input = {1, 8, 14, 14}, .outputs = 16, .kernel = {5, 5}, .pads = {2, 2, 2, 2}}>::add(6);
  // lenet@batch=1,fused x1
  unique_layer<fused<matmul>{.base = matmul{.a = {1, 256}, .b = {256, 10}, .constant_b = true}, .steps = {binary_function::add}}>::add(7);
  // lenet@batch=1 x1
  unique_layer<matmul{.a = {1, 256}, .b = {256, 10}, .constant_b = true}>::add(8);
  // lenet@batch=1 x1, lenet@batch=1,fused x1
  unique_layer<pool{.function = pooling::max, .input = {1, 16, 14, 14}, .kernel = {3, 3}, .strides = {3, 3}}>::add(9);
  // lenet@batch=1 x1, lenet@batch=1,fused x1
  unique_layer<pool{.function = pooling::max, .input = {1, 8, 28, 28}, .kernel = {2, 2}, .strides = {2, 2}}>::add(10);
  // lenet@batch=1 x1
  unique_layer<unary{.function = unary_function::relu, .input = {1, 16, 14, 14}}>::add(11);
  // lenet@batch=1 x1
  unique_layer<unary{.function = unary_function::relu, .input = {1, 8, 28, 28}}>::add(12);
  // lenet@batch=1 x1, lenet@batch=1,fused x1
  unique_layer<view{.function = view_function::reshape, .input = {1, 16, 4, 4}, .result = {1, 256}}>::add(13);
}
