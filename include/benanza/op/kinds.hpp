// SPDX-License-Identifier: Apache-2.0
// Which kinds of layers are there, and which one is a layer? Whoever makes layers or looks at their
// parameters includes this; who asks for names and costs alone, layer.hpp.
//
//   if (const auto* c = op::as<op::conv>(l)) channels = c->input[1];
//   op::visit([](const auto& kind) { return kind.cost(); }, l)
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
#include "gather_ggml.hpp"
#include "gemm.hpp"
#include "grid_sample.hpp"
#include "group_norm.hpp"
#include "indexing.hpp"
#include "kind_list.hpp"
#include "layer.hpp"
#include "layer_norm.hpp"
#include "linear_attention.hpp"
#include "matmul_ggml.hpp"
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
#include "where.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

namespace benanza::op {

/// The order is that of the generator's type names.
// clang-format off
using kinds = kind_list<
    conv, conv_transpose, conv_weight_gradient, gemm, matmul,
    pool,
    grid_sample, affine_grid, roi_align, max_roi_pool, non_max_suppression,
    col2im, deform_conv, max_unpool, dft, det,
    batch_norm, lrn, layer_norm, rms_norm, group_norm, instance_norm, softmax,
    attention, rotary, matmul_nbits, matmul_ggml, gather_ggml,
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

/// What a layer points to. Not a std::variant: to copy and to destroy any of so many kinds takes
/// the compiler long, and layers are shared, never copied.
struct any_kind {
  std::size_t index; // in the list
};
template <class Kind>
struct of_kind : any_kind {
  explicit of_kind(const Kind& k)
      : any_kind{kinds::index_of<Kind>}
      , value(k) {}
  Kind value;
};

/// True for the kinds of that list.
template <class Kind>
inline constexpr bool is_kind = kinds::has<Kind>;

template <class Kind>
requires requires(const Kind& k) {
  k.cost(), k.canonical_form();
}
layer::layer(const Kind& k)
    : kind_(std::make_shared<const of_kind<Kind>>(k)) {}

/// True for a layer of one of the kinds.
template <class... Kinds>
bool is(const layer& l) {
  return ((l.kind().index == kinds::index_of<Kinds>) || ...);
}

/// The layer's parameters, where it is of that kind.
template <class Kind>
const Kind* as(const layer& l) {
  return is<Kind>(l) ? &static_cast<const of_kind<Kind>&>(l.kind()).value : nullptr;
}
template <class Kind>
const Kind* as(const layer* l) {
  return l == nullptr ? nullptr : as<Kind>(*l);
}

template <class Kind>
const Kind* as(layer&& l) = delete; // it would go before the pointer does

/// The same, for a layer that is known to be of that kind.
template <class Kind>
const Kind& get(const layer& l) {
  if (const Kind* k = as<Kind>(l)) return *k;
  throw std::logic_error("a layer is of another kind than its reader takes it for");
}

/// The function's result for the layer's parameters, of whatever kind.
template <class Function>
decltype(auto) visit(Function&& f, const layer& l) {
  return kinds::visit(l.kind().index, [&]<class Kind>() -> decltype(auto) {
    return f(static_cast<const of_kind<Kind>&>(l.kind()).value);
  });
}

} // namespace benanza::op

#ifndef BENANZA_COMPILED
#include "layer_functions.hpp"
#endif
