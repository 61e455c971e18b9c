// SPDX-License-Identifier: Apache-2.0
// Which class of numbers is it where a kernel rounds what it multiplies? Weights in blocks of codes
// meet activations that ggml's kernels round first: to 8 bits with a scale for each block of them,
// or to half floats. The error of the result, as a share of its root mean square, is about 0.7 %
// with 8 bits, of which a block's greatest number is 2 to 3 times its root mean square.
//
//   rounded_class(numeric::f32) == "f32-rounded"
#pragma once

#include "dtype.hpp"

#include <string>
#include <string_view>

namespace benanza {

/// The class of these, as results write it.
inline std::string rounded_class(numeric t) {
  return std::string(name(t)) + "-rounded";
}

/// True for the class that is measured along with its type unasked, as frameworks run it unasked.
inline bool is_rounded_class(std::string_view equivalence, numeric t) {
  return equivalence == rounded_class(t);
}

/// The most that the error may be, as a share of the result's root mean square.
inline constexpr double rounded_error = 0.02;

} // namespace benanza
