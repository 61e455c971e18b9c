// SPDX-License-Identifier: Apache-2.0
// The reference of each kind of layer, and what chooses among them. Where BENANZA_COMPILED is
// defined, one file of the program includes this for all.
#pragma once

#include "../../op/kinds.hpp"
#include "reference.hpp"

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
#include "resize.hpp"
#include "rotary.hpp"
#include "select.hpp"
#include "signal.hpp"
#include "softmax.hpp"
#include "tf_idf.hpp"
#include "where.hpp"

namespace benanza::backend::reference {

BENANZA_INLINE double at(const op::layer& l, const operands& o, std::int64_t flat) {
  return op::visit(
      [&](const auto& p) {
        if constexpr (requires { lines_of(p, o); })
          return lines_of(p, o).at(flat);
        else
          return value(p, o, flat);
      },
      l);
}

BENANZA_INLINE void evaluate(const op::layer& l, numeric t, const operands& o,
                             std::span<const std::int64_t> positions, std::span<double> out) {
  if (positions.size() != out.size()) throw error("a check lacks room for its values", op::name(l));
  op::visit(
      [&](const auto& p) {
        if constexpr (requires { lines_of(p, o); }) {
          auto lines = lines_of(p, o);
          for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = lines.at(positions[i]);
        } else {
          for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = value(p, o, positions[i]);
        }
      },
      l);
  if (!requantises(l, t)) return;
  const bool positive = result_of(t) == dtype::u8;
  const double scale = scales_itself(l) ? 1 : o.output_scale;
  const std::vector<placed_result> results = results_of(l, t);
  for (std::size_t i = 0; i < out.size(); ++i) {
    double& v = out[i];
    if (result_at(results, positions[i]).type != result_of(t)) continue;
    v = positive ? static_cast<double>(saturated<std::uint8_t>(scale * v))
                 : static_cast<double>(saturated<std::int8_t>(scale * v));
  }
}

} // namespace benanza::backend::reference
