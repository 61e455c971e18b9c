// SPDX-License-Identifier: Apache-2.0
// Layers on which movers and kernels are tried: every kind, and every form of it that takes another
// way.
//
//   for (const char* l : cuda_test::moved) op::parse(l);
#pragma once

namespace cuda_test {

/// Layers that move elements as they are.
inline constexpr const char* moved[] = {
    "Transpose/2x3x40x50-o0x2x3x1",
    "Transpose/2x40x50x3-o0x3x1x2",
    "Transpose/33x70-o1x0",
    "Transpose/2x12x9x16-o0x2x1x3",
    "Transpose/5x6x7-o0x1x2",
    "Transpose/3x4x5x6x2-o4x2x0x3x1",
    "Transpose/1x1x1-o2x1x0",
    "Slice/4x10x12-2x3x8-from1x2x4",
    "Slice/4x10x12-4x5x6-by1x2x2",
    "Slice/4x10x12-4x10x12-from3x9x11-bym1xm1xm1",
    "Slice/7x16-3x16-from6x0-bym2x1",
    "Slice/2x3x4x5x6-2x2x3x2x5-from0x1x1x2x1",
    "DepthToSpace/1x12x5x7-k2",
    "DepthToSpace/2x8x4x4-k2-crd",
    "SpaceToDepth/1x3x8x6-k2",
    "SpaceToDepth/1x3x8x6-k2-crd",
    "Concat/1x10x4x4-a1-n4",
    "Concat/1x256x4x4-a1-n4",
    "Concat/3x4x7-a2-n3",
    "Concat/9x5-a0-n2",
    "Concat/40x3-a0-n20",
    "Concat/2x5x3-a1-n1",
    "Split/1x10x4x4-a1-n4",
    "Split/2x256x4x4-a1-n2",
    "Split/3x4x7-a2-n3",
    "Split/9x5-a0-n2",
    "Pad/1x3x5x5-b0x0x1x1-e0x0x1x1",
    "Pad/1x3x5x8-b0x0x2x0-e0x1x0x0",
    "Pad/2x3x5x5-b0x0xm1x2-e0x0x2xm2",
    "Pad/3x4-b1x2-e2x1-edge",
    "Pad/1x3x5x5-b0x0x2x3-e0x0x4x1-reflect",
    "Pad/1x2x5x1-b0x0x7x0-e0x0x9x3-reflect",
    "Pad/3x5-b2x6-e1x7-wrap",
    "Pad/3x5-b0x0-e0x0",
    "Pad/3x5-bm3x0-e4x0",
    "Gather/10x16-1x4",
    "Gather/10x16-1x4-i32",
    "Gather/3x7x5-4-a1",
    "Gather/3x7x5-2x3-a2",
    "Gather/30x4x6-5-a0",
    "Gather/6x9-scalar-a1",
    "Resize/1x3x7x5-1x3x14x10",
    "Resize/1x3x7x5-1x3x11x8-align_corners",
    "Resize/1x3x8x6-1x3x4x3-asymmetric",
    "Resize/2x3x7-2x3x1-pytorch_half_pixel",
    "Resize/1x7x5x8-1x9x10x8",
    "Upsample/1x2x6x6-1x2x12x12-asymmetric",
};

/// Layers that compute with elements.
inline constexpr const char* computed[] = {
    "Resize/1x3x7x5-1x3x14x10-linear",
    "Resize/1x3x7x5-1x3x11x8-linear-align_corners",
    "Resize/1x3x8x6-1x3x4x3-linear-asymmetric",
    "Resize/2x3x7-2x3x1-linear-pytorch_half_pixel",
    "Resize/1x2x4x5x3-1x2x8x9x5-linear",
    "Resize/1x2x6x5-1x2x12x9-cubic",
    "Resize/1x2x6x5-1x2x3x4-cubic-align_corners",
    "Resize/1x2x6x5-1x2x6x9-cubic-asymmetric",
    "Relu/3x7x5",
    "LeakyRelu/3x7x5",
    "Elu/3x7x5",
    "Selu/3x7x5",
    "Celu/3x7x5",
    "ThresholdedRelu/3x7x5",
    "Sigmoid/3x7x5",
    "HardSigmoid/3x7x5",
    "HardSwish/3x7x5",
    "Tanh/3x7x5",
    "Softplus/3x7x5",
    "Softsign/3x7x5",
    "Mish/3x7x5",
    "Gelu/3x7x5",
    "FastGelu/3x7x5",
    "Clip/3x7x5",
    "Exp/3x7x5",
    "Log/3x7x5",
    "Sqrt/3x7x5",
    "Abs/3x7x5",
    "Neg/3x7x5",
    "Reciprocal/3x7x5",
    "Floor/3x7x5",
    "Ceil/3x7x5",
    "Round/3x7x5",
    "Erf/3x7x5",
    "Sin/3x7x5",
    "Cos/3x7x5",
    "Sign/3x7x5",
    "Tan/3x7x5",
    "Asin/3x7x5",
    "Acos/3x7x5",
    "Atan/3x7x5",
    "Sinh/3x7x5",
    "Cosh/3x7x5",
    "Asinh/3x7x5",
    "Acosh/3x7x5",
    "Atanh/3x7x5",
    "IsNaN/3x7x5",
    "IsInf/3x7x5",
    "Shrink/3x7x5",
    "Mod/3x8x5",
    "FMod/3x8x5-8x1",
    "Add/3x8x5-8x1",
    "Sub/3x8x5-5",
    "Mul/1x8x1-3x1x5",
    "Div/3x8x5",
    "Pow/3x8x5",
    "Min/3x8x5-n3",
    "Max/3x8x5-n4",
    "Sum/3x8x5-n12",
    "Mean/3x8x5-n3",
    "PRelu/3x8x5-8x1",
    "Equal/3x8x5",
    "Greater/3x8x5-5",
    "GreaterOrEqual/3x8x5",
    "Less/3x8x5",
    "LessOrEqual/3x8x5",
    "Add/2x3x2x2x3x4-3x1x2x1x4",
    "Swish+Mul/3x8x4x5",
    "Add+Relu/3x8x5",
    "Mul+Add+HardSwish/3x8x5-w8x1",
};

/// Sums, and running sums, of rows that are made of tiles of tensor cores.
inline constexpr const char* tiled_rows[] = {
    "ReduceSum/40x48-a1",  "ReduceMean/2x16x4x8-a2x3", "ReduceMean/3x512-a1", "ReduceSum/19x256-a1",
    "ReduceSum/2x4096-a1", "CumSum/3x512-a1",          "CumSum/2x16x16-a2",
};

/// Sums, and running sums, that CUB's functions compute: by a warp, by a block and by many, of
/// whole tiles and others.
inline constexpr const char* cub_rows[] = {
    "ReduceSum/19x40-a1",        "ReduceMean/3x16x16-a1x2",   "ReduceSum/2x2501-a1",
    "ReduceSum/18432-a0",        "CumSum/3x7x50-a2",          "CumSum/2x4096-a1",
    "CumSum/2x301-a1-exclusive", "CumSum/17001-a0-exclusive", "GlobalAveragePool/2x3x4x8",
};

/// Running sums and products that a thread a line computes.
inline constexpr const char* scanned[] = {
    "CumSum/3x40-a1", "CumSum/3x40-a0-exclusive",        "CumSum/2x9x7-a1-reverse",
    "CumProd/4x5-a1", "CumSum/4x5-a1-exclusive-reverse", "CumSum/5-a0",
};

/// Layers in which whole rows are seen before anything is written.
inline constexpr const char* rowed[] = {
    "ReduceMean/1x8x6x6-a2x3",
    "ReduceSum/8x64-a1",
    "ReduceSum/7x64-a0",
    "ReduceMax/3x5x64-a1",
    "ReduceMin/5x64-a0x1",
    "ReduceProd/9x12-a1",
    "ReduceL1/8x64-a1",
    "ReduceL2/8x64-a1",
    "ReduceSumSquare/8x64-a1",
    "ReduceLogSum/8x64-a1",
    "ReduceLogSumExp/8x64-a1",
    "ReduceLogSumExp/5x4x6-a0x2",
    "ReduceMean/3x700-a1",
    "ReduceMax/2x3x2x3x2x3-a0x2x4",
    "ReduceSum/4x5",
    "Softmax/4x50-a1",
    "Softmax/2x8x5-a1",
    "LogSoftmax/3x300-a1",
    "Softmax/300x3-a0",
    "LayerNormalization/6x40-a1",
    "LayerNormalization/2x3x300-a2-b",
    "LayerNormalization/3x4x5-a1-b",
    "RMSNormalization/5x64-a1",
    "GroupNormalization/2x6x5x4-g3",
    "GroupNormalization/2x8x9-g1",
    "InstanceNormalization/2x3x7x5",
};

/// Rows of sums, which may be a second result.
inline constexpr const char* summed[] = {
    "Add+LayerNormalization/6x40-a1",    "Add+LayerNormalization/2x3x300-a2-b-sum",
    "Add+LayerNormalization/3x4x5-a1-b", "Add+RMSNormalization/5x64-a1-sum",
    "Add+RMSNormalization/7x6-a1-sum",
};

/// Whole numbers and truth values.
inline constexpr const char* whole[] = {
    "Add/3x8x5-s64",           "Mul/3x8x5-5-s32",       "Div/3x8x5-s64",
    "Sub/3x8x5-s64",           "Pow/3x8x5-s64",         "Equal/3x8x5-s64",
    "Less/3x8x5-s32",          "And/3x8x5-bool",        "Or/3x8x5-bool",
    "Xor/3x8x5-bool",          "Not/3x8x5-bool",        "Neg/3x8x5-s64",
    "Abs/3x8x5-s64",           "Min/3x8x5-s64",         "Max/3x8x5-s32",
    "Concat/7-a0-n3-s64",      "Gather/9-scalar-s64",   "Slice/9-4-from2-s64",
    "Transpose/9x10-o1x0-s64", "Mean/3x8x5-n3-s64",     "ReduceSum/5x9-a1-s64",
    "ReduceMax/5x9-a0-s32",    "ReduceMean/5x9-a1-s64", "ReduceMin/5x90-a1-s64",
    "ReduceProd/2x3-a1-s64",   "Mod/3x8x5-s64",         "FMod/3x8x5-s32",
    "BitwiseAnd/3x8x5-s64",    "BitwiseOr/3x8x5-s32",   "BitwiseXor/3x8x5-s64",
    "BitShiftLeft/3x8x5-s32",  "BitShiftRight/9-s64",   "BitwiseNot/3x8x5-s64",
};

} // namespace cuda_test
