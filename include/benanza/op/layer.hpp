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
#include "results.hpp"
#include "rotary.hpp"
#include "select.hpp"
#include "signal.hpp"
#include "softmax.hpp"
#include "view.hpp"
#include "where.hpp"

#include <string>
#include <variant>

namespace benanza::op {

/// One layer of any kind; the order is that of the generator's type names.
// clang-format off
using layer = std::variant<
    conv, conv_transpose, gemm, matmul,
    pool,
    grid_sample, affine_grid, roi_align, max_roi_pool, non_max_suppression,
    col2im, deform_conv, max_unpool, dft, det,
    batch_norm, lrn, layer_norm, rms_norm, group_norm, instance_norm, softmax,
    attention, rotary, matmul_nbits,
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
    reorder,
    quantize, dynamic_quantize,
    on_codes<conv>, on_codes<gemm>, on_codes<matmul>, on_codes<binary>,
    recurrent>;
// clang-format on

/// The ONNX operator that the layer is.
inline std::string_view family(const layer& l) {
  return std::visit([](const auto& p) -> std::string_view { return p.family(); }, l);
}

/// The canonical text of the layer's parameters; holds no '/'.
inline std::string key(const layer& l) {
  return std::visit([](const auto& p) { return std::string(write_key(p).view()); }, l);
}

/// Family and key together: the layer's whole name.
inline std::string name(const layer& l) {
  return std::string(family(l)) + '/' + key(l);
}

/// Dims of the (first) output; of a Split those of all its parts together.
inline shape output(const layer& l) {
  return std::visit([](const auto& p) { return p.output(); }, l);
}

/// All results in ONNX's order; the parts of a Split count as one.
inline result_list results(const layer& l) {
  return std::visit(
      [](const auto& p) -> result_list {
        if constexpr (requires { p.results(); })
          return p.results();
        else if constexpr (requires { p.element; })
          return {{p.output(), p.element}};
        else
          return {{p.output()}};
      },
      l);
}

/// Arithmetic and traffic of one execution.
inline work cost(const layer& l) {
  return std::visit([](const auto& p) { return p.cost(); }, l);
}

/// The class of the arithmetic that the layer needs in a case of class `t`.
inline numeric computes_in(const layer& l, numeric t) {
  return std::visit(
      [t](const auto& p) {
        if constexpr (requires { p.computes_in(); })
          return p.computes_in();
        else
          return t;
      },
      l);
}

/// Floating-point operations that an algorithm needs which takes no short cut but leaving out what
/// is multiplied by padding. Winograd needs fewer.
inline std::int64_t direct_flops(const layer& l) {
  return std::visit(
      [](const auto& p) {
        if constexpr (requires { p.direct_flops(); })
          return p.direct_flops();
        else
          return p.cost().flops();
      },
      l);
}

/// True for layers that move nothing and cost nothing.
inline bool is_view(const layer& l) {
  return std::holds_alternative<view>(l);
}

namespace detail {
template <std::size_t I = 0>
layer parse_as(std::string_view family, std::string_view key) {
  if constexpr (I == std::variant_size_v<layer>) {
    throw error(std::string("no layer kind is called \"").append(family).append("\""), key,
                "write layers as benanza_generate stats prints them");
  } else {
    using kind = std::variant_alternative_t<I, layer>;
    if (const auto blank = kind::of(family)) {
      const kind p = read_key(*blank, key);
      try {
        p.validate();
      } catch (const error& e) {
        throw error(e.what(), std::string(family).append("/").append(key),
                    "correct the layer's numbers");
      }
      return p.canonical_form();
    }
    return parse_as<I + 1>(family, key);
  }
}
} // namespace detail

/// The layer of that family and key; refuses what is not one.
inline layer parse(std::string_view family, std::string_view key) {
  return detail::parse_as(family, key);
}

/// The layer of a name such as `Conv/1x64x56x56-64x3x3-s1-p1`; what follows a second '/' is
/// ignored, so that a case name may be given too.
inline layer parse(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos)
    throw error("a layer is written Family/key", name,
                "write layers as benanza_generate stats prints them");
  const std::string_view rest = name.substr(slash + 1);
  return parse(name.substr(0, slash), rest.substr(0, rest.find('/')));
}

} // namespace benanza::op
