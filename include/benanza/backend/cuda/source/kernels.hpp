// SPDX-License-Identifier: Apache-2.0
// Which kernels are there for a layer? Movers of every kind, in several widths and through tiles,
// elementwise functions, conversions between types, reductions, softmax and normalizations by rows,
// running sums: what libraries for GPUs leave to frameworks, wholly or in part. Nothing here is
// compiled, and no GPU is needed.
//
//   kernels_for(op::parse("Transpose/1x58x28x28-o0x2x3x1"), numeric::f16)   // v1, v4, v8, tile32
#pragma once

#include "../../../op/kinds.hpp"
#include "attend.hpp"
#include "codes_product.hpp"
#include "codes_row.hpp"
#include "cub.hpp"
#include "eltwise.hpp"
#include "ggml.hpp"
#include "resize.hpp"
#include "row.hpp"
#include "scan.hpp"
#include "tile.hpp"
#include "tile_row.hpp"
#include "typed.hpp"

namespace benanza::backend::cuda::source {

/// Storage of the elements of a layer's operands.
template <class Layer>
dtype element_of(const Layer& l, numeric t) {
  if constexpr (requires { l.element; })
    return storage_of(l.element, t);
  else
    return source_of(t);
}

namespace detail {

inline std::vector<kernel> widths_of(const std::optional<program>& p) {
  return p ? all_widths(*p) : std::vector<kernel>{};
}

/// One block that goes somewhere else.
template <class Layer>
std::vector<kernel> kernels_of_block(const Layer& l, std::int64_t width) {
  const auto what = cuda::blocks_of(op::layer(l));
  if (!what) return {};
  const block& b = what->moved.at(0);
  std::vector<kernel> out = all_widths(program_of(b, elements(l.input), width));
  if (auto through_tiles = tiled(b, elements(l.input), width))
    out.push_back(std::move(*through_tiles));
  return out;
}

struct kernels_of {
  numeric type;
  double scale;

  template <class Layer>
  std::int64_t width(const Layer& l) const {
    return size_bytes(element_of(l, type));
  }
  /// False for whole numbers of 8 bits: `arithmetic_of` takes these types for codes.
  template <class Layer>
  bool computes(const Layer& l) const {
    const dtype d = element_of(l, type);
    return l.element == dtype::real || (d != dtype::s8 && d != dtype::u8);
  }

  std::vector<kernel> operator()(const op::transpose& l) const {
    return kernels_of_block(l, width(l));
  }
  std::vector<kernel> operator()(const op::slice& l) const { return kernels_of_block(l, width(l)); }
  std::vector<kernel> operator()(const op::depth_to_space& l) const {
    return kernels_of_block(l, width(l));
  }
  std::vector<kernel> operator()(const op::reorder& l) const {
    return kernels_of_block(l, width(l));
  }
  std::vector<kernel> operator()(const op::concat& l) const {
    if (l.parts > most_parts) return {};
    return all_widths(program_of(l, width(l)));
  }
  std::vector<kernel> operator()(const op::split& l) const {
    return all_widths(program_of(l, width(l)));
  }
  std::vector<kernel> operator()(const op::pad& l) const {
    return all_widths(program_of(l, width(l)));
  }
  std::vector<kernel> operator()(const op::gather& l) const {
    return all_widths(program_of(l, width(l)));
  }
  std::vector<kernel> operator()(const op::resize& l) const {
    return widths_of(program_of(l, source_of(type), scale));
  }
  std::vector<kernel> operator()(const op::unary& l) const {
    if (!computes(l)) return {};
    return widths_of(elementwise_program(l, element_of(l, type), scale));
  }
  std::vector<kernel> operator()(const op::binary& l) const {
    if (!computes(l)) return {};
    return widths_of(elementwise_program(l, element_of(l, type), scale));
  }
  std::vector<kernel> operator()(const op::fused<op::unary>& l) const {
    return widths_of(elementwise_program(l, source_of(type), scale));
  }
  std::vector<kernel> operator()(const op::fused<op::binary>& l) const {
    return widths_of(elementwise_program(l, source_of(type), scale));
  }
  std::vector<kernel> operator()(const op::attention& l) const { return attentions_of(l, type); }
  std::vector<kernel> operator()(const op::cumulate& l) const {
    if (!computes(l)) return {};
    return with_cub(l, scans_of(l, element_of(l, type)));
  }
  std::vector<kernel> operator()(const op::pool& l) const {
    if (l.element != dtype::real) return widths_of(maxima_of_codes(l));
    return with_cub(l, tile_rows_of(l, source_of(type)));
  }
  template <class Layer>
  std::vector<kernel> with_cub(const Layer& l, std::vector<kernel> out) const {
    for (kernel& k : cub_sums_of(l, element_of(l, type), scale))
      out.push_back(std::move(k));
    return out;
  }
  template <class Layer>
  std::vector<kernel> operator()(const Layer& l) const {
    if constexpr (requires { typed_program_of(l, type); }) {
      return widths_of(typed_program_of(l, type));
    } else if constexpr (requires { rows_of(l, dtype{}, 1.0); }) {
      if constexpr (requires { l.element; })
        if (!computes(l)) return {};
      const auto r = rows_of(l, element_of(l, type), scale);
      std::vector<kernel> out = r ? all_shares(*r) : std::vector<kernel>{};
      if constexpr (requires { tile_rows_of(l, dtype{}); })
        for (kernel& k : tile_rows_of(l, element_of(l, type)))
          out.push_back(std::move(k));
      if constexpr (requires { cub_sums_of(l, dtype{}, 1.0); })
        return with_cub(l, std::move(out));
      else
        return out;
    } else {
      return {};
    }
  }
};
} // namespace detail

/// Blocks of threads that can be started at once.
inline constexpr std::int64_t most_blocks = 0x7fffffff;

/// The kernels of a layer, in the order in which they are tried; none for layers that are
/// computed in another way than by elements or rows. `scale` is that of quantised results; ids do
/// not depend on it.
inline std::vector<kernel> kernels_for(const op::layer& l, numeric t, double scale = 1) {
  if (t == numeric::tf32 || op::is_view(l) || is_empty(l)) return {};
  if (packed_in_bytes(op::visit([t](const auto& p) { return element_of(p, t); }, l))) return {};
  std::vector<kernel> out = op::visit(detail::kernels_of{t, scale}, l);
  std::erase_if(out, [](const kernel& k) { return k.blocks > most_blocks; });
  return out;
}

} // namespace benanza::backend::cuda::source
