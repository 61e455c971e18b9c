// SPDX-License-Identifier: Apache-2.0
// How much work is a layer? Arithmetic as a textbook counts it and memory traffic as an ideal cache
// sees it: every input read once, every output written once. Winograd and FFT need less arithmetic
// than `flops()` says; their own count comes from the backend.
//
//   conv{...}.cost().flops()            // 2 x multiply-accumulates + the rest
//   conv{...}.cost().bytes(numeric::bf16)
#pragma once

#include "../core/dtype.hpp"
#include "../core/shape.hpp"

namespace benanza::op {

/// Arithmetic and traffic of one execution of a layer.
struct work {
  std::int64_t macs = 0;    ///< multiply-accumulates (two flops each)
  std::int64_t other = 0;   ///< further floating-point operations, comparisons included
  std::int64_t sources = 0; ///< elements read in the case's source type
  std::int64_t weights = 0; ///< elements read in the case's weights type; constant in a model
  std::int64_t vectors = 0; ///< elements read in f32: bias, scale, shift, mean, variance; constant
  std::int64_t results = 0; ///< elements written in the case's result type
  std::int64_t fixed_bytes = 0; ///< bytes of operands whose type does not follow the case's
  std::int64_t constant_fixed_bytes = 0; ///< the same of what is constant in a model

  constexpr std::int64_t flops() const { return 2 * macs + other; }
  /// Bytes of what a trained model holds constant.
  constexpr std::int64_t constant_bytes(numeric t) const {
    return weights * size_bytes(weights_of(t)) + vectors * 4 + constant_fixed_bytes;
  }
  /// Bytes moved: inputs read once and outputs written once.
  constexpr std::int64_t bytes(numeric t) const {
    return sources * size_bytes(source_of(t)) + constant_bytes(t) +
           results * size_bytes(result_of(t)) + fixed_bytes;
  }
  constexpr bool operator==(const work&) const = default;
};

/// Work of a layer that reads and writes `in` and `out` elements of type `element`.
constexpr work moved(dtype element, std::int64_t in, std::int64_t out) {
  work w;
  if (element == dtype::real) {
    w.sources = in;
    w.results = out;
  } else {
    w.fixed_bytes = bytes_of(element, in) + bytes_of(element, out);
  }
  return w;
}

} // namespace benanza::op
