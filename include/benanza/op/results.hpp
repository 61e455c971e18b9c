// SPDX-License-Identifier: Apache-2.0
// What does a layer give? One tensor, mostly; some give more (a TopK values and indices), or one of
// another type than what they read (Equal, ArgMax). Such a kind lists its results in ONNX's order;
// in memory they are one after the other. An output that a node leaves out before one that it asks
// for is made all the same.
//
//   constexpr result_list results() const { return {{output(), element}, {output(), dtype::s64}}; }
#pragma once

#include "../core/dtype.hpp"
#include "../core/shape.hpp"

#include <initializer_list>

namespace benanza::op {

/// One result of a layer.
struct result {
  shape dims{};
  dtype element = dtype::real; ///< `real`: what the case stores its results as
};

/// The results of a layer, at most four.
struct result_list {
  static constexpr int capacity = 4;
  result at[capacity]{};
  int size = 0;

  constexpr result_list(std::initializer_list<result> given) {
    for (const result& r : given)
      push(r);
  }
  constexpr void push(const result& r) {
    if (size == capacity) throw error("a layer has more than four results");
    at[size++] = r;
  }
  constexpr const result& operator[](int i) const { return at[i]; }
  constexpr const result* begin() const { return at; }
  constexpr const result* end() const { return at + size; }
};

} // namespace benanza::op
