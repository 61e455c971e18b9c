// SPDX-License-Identifier: Apache-2.0
// What does PyTorch call its operators, and what are their operands? Names of operators that only
// look at a tensor in another way, or make room for one; and the tensors in an event.
//
//   detail::pytorch_view("aten::transpose")   // true
#pragma once

#include "values.hpp"

#include <iterator>

namespace benanza::trace::detail {

/// Operators that compute nothing.
inline bool pytorch_view(std::string_view name) {
  static constexpr std::string_view all[]{"aten::empty",
                                          "aten::empty_strided",
                                          "aten::empty_like",
                                          "aten::as_strided",
                                          "aten::view",
                                          "aten::_unsafe_view",
                                          "aten::reshape",
                                          "aten::_reshape_alias",
                                          "aten::t",
                                          "aten::transpose",
                                          "aten::permute",
                                          "aten::unsqueeze",
                                          "aten::squeeze",
                                          "aten::slice",
                                          "aten::select",
                                          "aten::narrow",
                                          "aten::alias",
                                          "aten::detach",
                                          "detach",
                                          "aten::resolve_conj",
                                          "aten::resolve_neg",
                                          "aten::resize_",
                                          "aten::result_type",
                                          "aten::lift_fresh",
                                          "aten::unbind",
                                          "aten::split",
                                          "aten::chunk",
                                          "aten::flatten",
                                          "aten::unflatten",
                                          "aten::set_",
                                          "aten::movedim",
                                          "aten::unfold",
                                          "aten::expand",
                                          "aten::expand_as",
                                          "aten::view_as",
                                          "aten::broadcast_to",
                                          "aten::as_strided_",
                                          "aten::diagonal",
                                          "aten::to",
                                          "aten::contiguous"};
  return std::find(std::begin(all), std::end(all), name) != std::end(all);
}

/// The tensors in `Input Dims` and `Input type`; scalars are none.
inline std::vector<profiled_tensor> pytorch_tensors(const json* dims, const json* types) {
  std::vector<profiled_tensor> out;
  if (dims == nullptr || !dims->is_array()) return out;
  for (std::size_t i = 0; i < dims->size() && i < 64; ++i) {
    const std::string type =
        types != nullptr && types->is_array() && i < types->size() ? text_of((*types)[i]) : "";
    const bool scalar = type.empty() || type.starts_with("Scalar") || type == "None";
    if (scalar && (*dims)[i].empty()) continue;
    out.push_back({type_token(type), dims_of((*dims)[i])});
  }
  return out;
}

} // namespace benanza::trace::detail
