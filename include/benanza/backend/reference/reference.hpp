// SPDX-License-Identifier: Apache-2.0
// What is the right result? Scalar, exact in double, one output at a time, so that a large layer is
// checked at some positions; never timed. Quantised results are rounded and saturated as the
// layer's storage wants them; floats are left exact, their rounding belongs to the tolerance.
//
//   auto where = reference::positions_to_check(layer, 1000);
//   std::vector<double> right(where.size());
//   reference::evaluate(layer, numeric::f32, operands, where, right);
#pragma once

#include "../make_operands.hpp"
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
#include "resize.hpp"
#include "rotary.hpp"
#include "select.hpp"
#include "signal.hpp"
#include "softmax.hpp"
#include "where.hpp"

namespace benanza::backend::reference {

/// The exact value of one output, before output_scale.
inline double at(const op::layer& l, const operands& o, std::int64_t flat) {
  return std::visit(
      [&](const auto& p) {
        if constexpr (requires { lines_of(p, o); })
          return lines_of(p, o).at(flat);
        else
          return value(p, o, flat);
      },
      l);
}

/// The right outputs at `positions`, as far as the result's storage decides them.
inline void evaluate(const op::layer& l, numeric t, const operands& o,
                     std::span<const std::int64_t> positions, std::span<double> out) {
  if (positions.size() != out.size()) throw error("a check lacks room for its values", op::name(l));
  std::visit(
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

namespace detail {
inline std::vector<std::int64_t> positions_in(const shape& out, std::uint64_t seed,
                                              std::int64_t limit) {
  const std::int64_t count = elements(out);
  std::vector<std::int64_t> positions;
  if (count <= limit) {
    for (std::int64_t i = 0; i < count; ++i)
      positions.push_back(i);
    return positions;
  }
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(limit, 1));
  std::uint64_t drawn = 0;
  const auto below = [&](std::int64_t n) {
    const std::uint64_t high = backend::detail::random_bits(seed, drawn++);
    const std::uint64_t bits = high << 31 ^ backend::detail::random_bits(seed, drawn++);
    return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n));
  };
  const auto add = [&](const shape& place) { positions.push_back(index_of(out, place)); };
  for (int corner = 0; corner < 1 << out.size; ++corner) {
    shape place = out;
    for (int d = 0; d < out.size; ++d)
      place[d] = corner >> d & 1 ? out[d] - 1 : 0;
    add(place);
  }
  const auto distinct = [&] {
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  };
  distinct();
  if (positions.size() > wanted) positions.resize(wanted);
  for (int round = 0; round < 4 && positions.size() < wanted; ++round) {
    for (std::size_t i = positions.size(); i < wanted; ++i) {
      shape place = out;
      for (int d = 0; d < out.size; ++d) {
        const std::int64_t edge[4] = {0, std::min<std::int64_t>(1, out[d] - 1),
                                      std::max<std::int64_t>(out[d] - 2, 0), out[d] - 1};
        place[d] = i % 2 != 0 && below(2) != 0 ? edge[below(4)] : below(out[d]);
      }
      add(place);
    }
    distinct();
  }
  return positions;
}
} // namespace detail

/// Outputs to check, ascending: of each result all if there are at most `limit`; otherwise the
/// corners, places near the edges of any dims (where pads, first and last channels are) and random
/// ones, equal each time.
inline std::vector<std::int64_t> positions_to_check(const op::layer& l, std::int64_t limit) {
  const std::uint64_t seed = backend::detail::seed_of(op::name(l));
  std::vector<std::int64_t> all;
  std::int64_t first = 0;
  for (const op::result& r : op::results(l)) {
    for (const std::int64_t p : detail::positions_in(r.dims, seed, limit))
      all.push_back(first + p);
    first += elements(r.dims);
  }
  return all;
}

} // namespace benanza::backend::reference
