// SPDX-License-Identifier: Apache-2.0
// When is a Winograd convolution a class of numbers of its own? Tiles of the source and the weights
// are transformed, multiplied and transformed back. In tiles of 4 x 4, 6 x 6 and 13 x 13 inputs
// (F(2x2, 3x3), F(4x4, 3x3), F(9x9, 5x5)) the transforms add and take away ever larger terms, and
// what they make is rounded to the case's own type. The error of the result, as a share of its
// root mean square, simulated (tests/backend/winograd.cpp):
//            4 x 4      6 x 6           13 x 13
//   f16      0.06 %     0.3 to 0.4 %    of no use
//   bf16     0.5 %      2.5 to 3.2 %    of no use
//   tf32     0.05 %     0.3 %           of no use
//   f32      7e-5 %     5e-4 %          0.1 to 3 %, by the points of its transform
// (the more where the sums in the middle are rounded too). In narrow types it does not grow with
// the channels. Where the transforms of f16 are kept in f32, as some kernels do, a result is as
// exact as any other: only the result shows it.
//
//   winograd_apart(numeric::f16, 4)   winograd_class(numeric::f16) == "f16-winograd"
//   names_winograd_apart("cudnn::winograd_nonfused::winogradForwardData4x4<__half>", numeric::f16)
#pragma once

#include "dtype.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

namespace benanza {

/// True if a Winograd in tiles of that edge may leave the tolerance of its type.
constexpr bool winograd_apart(numeric t, std::int64_t tile) {
  switch (t) {
  case numeric::f16:
  case numeric::bf16: return true;
  case numeric::tf32: return tile > 4;
  case numeric::f32: return tile > 6;
  default: return false;
  }
}

/// The class of these, as results write it.
inline std::string winograd_class(numeric t) {
  return std::string(name(t)) + "-winograd";
}

/// True for the class that is measured along with its type unasked, as frameworks run it unasked.
/// No framework does so with integers, whose Winograd is another function.
inline bool is_winograd_class(std::string_view equivalence, numeric t) {
  return !quantised(t) && equivalence == winograd_class(t);
}

/// The most that the error of one may be, as a share of the result's root mean square: twenty
/// halves of a place, 2.5 times that of tiles of 6 x 6. Of f32 what f16 may have.
constexpr double winograd_error(numeric t) {
  return t == numeric::bf16 ? 20 * 0x1p-8 : 20 * 0x1p-11;
}

/// Its products of the `direct` ones of square kernels: tile^2 for each (tile - kernel + 1)^2
/// outputs.
constexpr std::int64_t winograd_products(std::int64_t direct, std::int64_t tile,
                                         std::int64_t kernel) {
  const std::int64_t outputs = tile - kernel + 1, each = outputs * kernel;
  return outputs < 1 ? direct : direct * (tile * tile) / (each * each);
}

/// True if a kernel's name says that it is one of a class apart: frameworks run it, and the bound
/// of the type leaves it out.
inline bool names_winograd_apart(std::string_view kernel, numeric t) {
  std::string text(kernel);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.find("winograd") != text.npos &&
         winograd_apart(t, text.find("9x9") != text.npos ? 13 : 6);
}

} // namespace benanza
