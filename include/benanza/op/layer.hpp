// SPDX-License-Identifier: Apache-2.0
// A layer of any kind: an ONNX operator with every shape and attribute resolved. Two layers are
// equal exactly if their families and keys are; `parse` turns the two texts back into the layer.
//
//   op::layer l = op::parse("Conv", "1x64x56x56-64x3x3-s1-p1");
//   op::name(l) == "Conv/1x64x56x56-64x3x3-s1-p1";   op::cost(l).macs == 115605504
#pragma once

#include "arrange.hpp"
#include "attention.hpp"
#include "cast.hpp"
#include "columns.hpp"
#include "conv.hpp"
#include "cumulate.hpp"
#include "eltwise.hpp"
#include "expand.hpp"
#include "fused.hpp"
#include "gemm.hpp"
#include "grid_sample.hpp"
#include "group_norm.hpp"
#include "indexing.hpp"
#include "layer_norm.hpp"
#include "linear_attention.hpp"
#include "matmul_nbits.hpp"
#include "move.hpp"
#include "norm.hpp"
#include "on_codes.hpp"
#include "pool.hpp"
#include "quantize.hpp"
#include "recurrent.hpp"
#include "reduce.hpp"
#include "regions.hpp"
#include "reorder.hpp"
#include "residual.hpp"
#include "results.hpp"
#include "rotary.hpp"
#include "select.hpp"
#include "signal.hpp"
#include "softmax.hpp"
#include "tf_idf.hpp"
#include "view.hpp"
#include "visit.hpp"
#include "where.hpp"

#include <string>
#include <variant>

// Functions of a layer of any kind take the compiler long: a program may compile them once, in
// place of in each of its files. Then BENANZA_COMPILED is defined in all of them, and the one has
// BENANZA_INLINE as nothing.
#ifndef BENANZA_INLINE
#define BENANZA_INLINE inline
#endif

namespace benanza::op {

/// One layer of any kind; the order is that of the generator's type names.
// clang-format off
using layer = std::variant<
    conv, conv_transpose, conv_weight_gradient, gemm, matmul,
    pool,
    grid_sample, affine_grid, roi_align, max_roi_pool, non_max_suppression,
    col2im, deform_conv, max_unpool, dft, det,
    batch_norm, lrn, layer_norm, rms_norm, group_norm, instance_norm, softmax,
    attention, rotary, matmul_nbits,
    linear_attention, tf_idf,
    unary, binary,
    cast, where, expand,
    reduce,
    concat, split, transpose, pad, slice, gather, resize, depth_to_space,
    indexing, tensor_scatter, cumulate,
    arg, top_k, non_zero, compress, unique,
    trilu, reverse_sequence, one_hot,
    view,
    fused<conv>, fused<conv_transpose>, fused<gemm>, fused<matmul>, fused<batch_norm>,
    fused<unary>, fused<binary>,
    residual<layer_norm>, residual<rms_norm>,
    reorder,
    quantize, dynamic_quantize, lookup_table,
    on_codes<conv>, on_codes<gemm>, on_codes<matmul>, on_codes<binary>,
    recurrent>;
// clang-format on

/// Compiled with the other functions, in place of the one of std::variant in each file.
bool operator==(const layer& a, const layer& b);

/// The ONNX operator that the layer is.
std::string_view family(const layer& l);

/// The canonical text of the layer's parameters; holds no '/'.
std::string key(const layer& l);

/// Family and key together: the layer's whole name.
std::string name(const layer& l);

/// Dims of the (first) output; of a Split those of all its parts together.
shape output(const layer& l);

/// All results in ONNX's order; the parts of a Split count as one.
result_list results(const layer& l);

/// Arithmetic and traffic of one execution.
work cost(const layer& l);

/// Bytes that have to move at least: those of `cost()` without the points of a source that a window
/// steps over. Where channels are contiguous these are never read; where rows are, whole cache
/// lines come, which is more.
std::int64_t least_bytes(const layer& l, numeric t);

/// The class of the arithmetic that the layer needs in a case of class `t`.
numeric computes_in(const layer& l, numeric t);

/// Floating-point operations that an algorithm needs which takes no short cut but leaving out what
/// is multiplied by padding. Winograd needs fewer.
std::int64_t direct_flops(const layer& l);

/// Refuses parameters that do not fit together.
void validate(const layer& l);

/// The form that its name is parsed into: what makes no difference is left out.
layer canonical_form(const layer& l);

/// The layer of that family and key; refuses what is not one.
layer parse(std::string_view family, std::string_view key);

/// The layer of a name such as `Conv/1x64x56x56-64x3x3-s1-p1`; what follows a second '/' is
/// ignored, so that a case name may be given too.
layer parse(std::string_view name);

/// True for layers that move nothing and cost nothing.
inline bool is_view(const layer& l) {
  return std::holds_alternative<view>(l);
}

} // namespace benanza::op

#ifndef BENANZA_COMPILED
#include "layer_functions.hpp"
#endif
