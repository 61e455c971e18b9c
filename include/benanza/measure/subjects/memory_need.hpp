// SPDX-License-Identifier: Apache-2.0
// How much of the host's memory does a layer need to be measured? Its operands; for each algorithm
// copies of them in its layouts, its result and its scratch memory; the result as doubles to be
// checked. Known beforehand but for what libraries keep to themselves, so that a layer that is
// larger than the memory is refused before anything is taken. In double: no size overflows.
//
//   double bytes = bytes_of_operands(layer, numeric::f32) + prepared_bytes(layer, type, algorithm);
#pragma once

#include "../../backend/concept.hpp"
#include "../../backend/make_operands.hpp"
#include "../../core/layout.hpp"

#include <string_view>

namespace benanza::measure {

namespace detail {
inline double bytes_of(const shape& dims, dtype type) {
  return static_cast<double>(benanza::bytes_of(type, elements(dims)));
}

/// By how much a tensor grows in a layout: channels are padded to whole blocks.
inline double growth(const shape& dims, std::string_view its) {
  const auto l = parse_layout(its);
  const std::int64_t block = l == layout::blocked16 ? 16 : l == layout::blocked8 ? 8 : 1;
  if (dims.size < 3 || dims[1] == 0) return 1;
  const std::int64_t padded = (dims[1] + block - 1) / block * block;
  return static_cast<double>(padded) / static_cast<double>(dims[1]);
}
} // namespace detail

/// Bytes of a layer's operands as they are made.
inline double bytes_of_operands(const op::layer& l, numeric t) {
  double sum = 0;
  for (const backend::tensor& x : backend::describe_operands(l, t).inputs)
    sum += detail::bytes_of(x.dims, x.type);
  return sum;
}

/// Bytes of the results as they are read to be checked: in ONNX order, and as doubles.
inline double checked_bytes(const op::layer& l, numeric t) {
  return static_cast<double>(backend::bytes_of_results(l, t)) +
         8 * static_cast<double>(backend::result_count(l));
}

/// Bytes of an algorithm that is ready to run on the host, at least: without one, of any.
inline double prepared_bytes(const op::layer& l, numeric t, const backend::algorithm& a = {}) {
  std::string_view layouts = a.operand_layouts;
  double sum = static_cast<double>(a.workspace_bytes);
  for (const backend::tensor& x : backend::describe_operands(l, t).inputs) {
    const bool flows = x.part == backend::role::source;
    sum += detail::bytes_of(x.dims, x.type) *
           (flows ? detail::growth(x.dims, layouts.substr(0, layouts.find(','))) : 1);
    if (const std::size_t end = layouts.find(','); flows && end != std::string_view::npos)
      layouts.remove_prefix(end + 1);
  }
  return sum + static_cast<double>(backend::bytes_of_results(l, t)) *
                   detail::growth(op::output(l), a.result_layout);
}

} // namespace benanza::measure
