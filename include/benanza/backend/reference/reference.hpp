// SPDX-License-Identifier: Apache-2.0
// What is the right result? Scalar, exact in double, one output at a time, so that a large layer is
// checked at some positions; never timed. Quantised results are rounded and saturated as the
// layer's storage wants them; floats are left exact, their rounding belongs to the tolerance.
//
//   auto where = reference::positions_to_check(layer, 1000);
//   std::vector<double> right(where.size());
//   reference::evaluate(layer, numeric::f32, operands, where, right);
#pragma once

#include "../../op/kinds.hpp"
#include "../make_operands.hpp"
#include "position.hpp"

namespace benanza::backend::reference {

/// The exact value of one output, before output_scale.
double at(const op::layer& l, const operands& o, std::int64_t flat);

/// The right outputs at `positions`, as far as the result's storage decides them.
void evaluate(const op::layer& l, numeric t, const operands& o,
              std::span<const std::int64_t> positions, std::span<double> out);

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

/// The same for operands that may be any numbers. Where those of a softmax are far apart nearly all
/// results are zero, also of a wrong one: the place of the largest operand is among those checked.
inline std::vector<std::int64_t> positions_to_check(const op::layer& l, std::int64_t limit,
                                                    const operands& values) {
  std::vector<std::int64_t> all = positions_to_check(l, limit);
  if (!op::is<op::softmax>(l) || all.empty()) return all;
  const tensor& x = values.inputs.at(0);
  std::vector<double> logits;
  load_all(x.type, x.bytes.data(), x.count(), logits);
  const auto most = std::max_element(logits.begin(), logits.end()) - logits.begin();
  const auto at = std::lower_bound(all.begin(), all.end(), most);
  if (at == all.end() || *at != most) all.insert(at, most);
  return all;
}

} // namespace benanza::backend::reference

#ifndef BENANZA_COMPILED
#include "evaluate.hpp"
#endif
