// SPDX-License-Identifier: Apache-2.0
// How do two operands broadcast, in as few dims as possible? Neighbouring dims that broadcast alike
// become one and dims of one vanish, so that a bias per channel is a bias per channel whatever the
// rank, and the library's fast kernels for the few usual forms are found.
//
//   pieces_of({1, 64, 56, 56}, {64, 1, 1})  ->  {both, 64}, {first, 3136}
#pragma once

#include "layout.hpp"

namespace benanza::backend::onednn {

/// Which operands have a dim; the other one repeats along it.
enum class extent { both, first, second };

/// A run of neighbouring dims that broadcast alike.
struct piece {
  extent who = extent::both;
  std::int64_t size = 1;

  std::int64_t in_first() const { return who == extent::second ? 1 : size; }
  std::int64_t in_second() const { return who == extent::first ? 1 : size; }
};

/// The fewest dims in which `a` and `b` broadcast as their shapes say.
inline std::vector<piece> pieces_of(const shape& a, const shape& b) {
  const int rank = std::max(a.size, b.size);
  const shape x = expanded(a, rank), y = expanded(b, rank);
  std::vector<piece> out;
  for (int i = 0; i < rank; ++i) {
    if (x[i] == 1 && y[i] == 1) continue;
    const extent who = x[i] == y[i] ? extent::both : y[i] == 1 ? extent::first : extent::second;
    const std::int64_t size = std::max(x[i], y[i]);
    if (!out.empty() && out.back().who == who)
      out.back().size *= size;
    else
      out.push_back({who, size});
  }
  return out;
}

/// True if an operand repeats along some dim.
inline bool repeats(const std::vector<piece>& pieces, extent missing) {
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](const piece& p) { return p.who == missing; });
}

/// Dims of the two operands and of the result, with `leading` dims of one before them.
struct broadcast_dims {
  dims first{}, second{}, result{};

  broadcast_dims(const std::vector<piece>& pieces, std::size_t leading = 0)
      : first(leading, 1)
      , second(leading, 1)
      , result(leading, 1) {
    for (const piece& p : pieces) {
      first.push_back(p.in_first());
      second.push_back(p.in_second());
      result.push_back(p.size);
    }
    if (result.empty()) first = second = result = {1};
  }
};

} // namespace benanza::backend::onednn
