// SPDX-License-Identifier: Apache-2.0
// What do the descriptors in a cuDNN log say? Tensors with dims and strides, element types, the
// functions of activations; and in which class and layout a call computes.
//
//   if (const auto t = tensor_of(f, *f.find("xDesc"))) t->dims;   t->layout();
#pragma once

#include "../core/layout.hpp"
#include "../op/eltwise.hpp"
#include "../op/layer.hpp"
#include "fields.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::trace {

/// A tensor or a filter: dims as N x C x spatial, whatever its layout.
struct tensor {
  std::string_view element; ///< `FLOAT`, `HALF`, `BFLOAT16` ...
  shape dims{};
  shape strides{}; ///< of a filter that only names its layout: empty
  bool is_virtual = false;

  /// Its layout, as call::layout says it.
  std::string_view layout() const {
    if (strides.empty() || dims.size < 3) return {};
    for (benanza::layout l : {benanza::layout::plain, benanza::layout::channels_last})
      if (lies(l)) return name(l);
    return "strided";
  }
  /// True for a stack of matrices whose last two dims are interchanged in memory.
  bool transposed() const {
    return dims.size >= 2 && strides.size == dims.size && dims.back() != 1 &&
           dims[dims.size - 2] != 1 && strides[strides.size - 2] == 1;
  }

private:
  /// True if the elements are contiguous in that order. Dims of one do not matter.
  bool lies(benanza::layout l) const {
    if (strides.size != dims.size) return false;
    std::uint64_t next = 1; // wraps where no memory is as large
    for (int i = dims.size - 1; i >= 0; --i) {
      const bool last = l == benanza::layout::channels_last;
      const int at = !last || i == 0 ? i : i == dims.size - 1 ? 1 : i + 1;
      if (dims[at] != 1 && static_cast<std::uint64_t>(strides[at]) != next) return false;
      next *= static_cast<std::uint64_t>(dims[at]);
    }
    return true;
  }
};

/// The tensor or filter that a descriptor in the call_log is; nothing: its dims are not there.
inline std::optional<tensor> tensor_of(const fields& f, const field& descriptor) {
  const auto dims = numbers(f.value(descriptor, "dimA"));
  if (!dims || dims->empty()) return std::nullopt;
  for (std::int64_t d : *dims)
    if (d < 0 || d > dim_limit) return std::nullopt;
  tensor out;
  out.dims = *dims;
  out.strides = numbers(f.value(descriptor, "strideA")).value_or(shape{});
  std::string_view type = f.value(descriptor, "dataType");
  if (type.empty()) type = f.value(descriptor, "type");
  out.element = word(type);
  if (out.element.starts_with("CUDNN_DATA_")) out.element.remove_prefix(11);
  out.is_virtual = f.value(descriptor, "isVirtual") == "true";
  return out;
}

/// The tensor of that name among the arguments, or among the members of `of`.
inline std::optional<tensor> tensor_of(const fields& f, const field* of, std::string_view name) {
  const field* found = of == nullptr ? f.find(name) : f.below(*of, name);
  return found == nullptr ? std::nullopt : tensor_of(f, *found);
}

/// The class of a call on operands of that element type; `tensor_cores` says that it may use less
/// than the whole of an f32. Nothing: there is no such class.
inline std::optional<numeric> cudnn_type(std::string_view element, bool tensor_cores) {
  if (element == "FLOAT") return tensor_cores ? numeric::tf32 : numeric::f32;
  if (element == "HALF") return numeric::f16;
  if (element == "BFLOAT16") return numeric::bf16;
  if (element == "FP8_E4M3") return numeric::e4m3;
  if (element.starts_with("INT8")) return numeric::s8s8s8;
  return std::nullopt;
}

namespace detail {
inline constexpr std::pair<std::string_view, op::unary_function> activations[] = {
    {"SIGMOID", op::unary_function::sigmoid},
    {"RELU", op::unary_function::relu},
    {"TANH", op::unary_function::tanh},
    {"CLIPPED_RELU", op::unary_function::clip},
    {"ELU", op::unary_function::elu},
    {"GELU", op::unary_function::gelu},
    {"GELU_APPROX_TANH", op::unary_function::fast_gelu},
    {"SOFTPLUS", op::unary_function::softplus},
    {"ABS", op::unary_function::abs},
    {"CEIL", op::unary_function::ceil},
    {"COS", op::unary_function::cos},
    {"EXP", op::unary_function::exp},
    {"FLOOR", op::unary_function::floor},
    {"LOG", op::unary_function::log},
    {"NEG", op::unary_function::neg},
    {"SIN", op::unary_function::sin},
    {"SQRT", op::unary_function::sqrt},
    {"ERF", op::unary_function::erf},
    {"RECIPROCAL", op::unary_function::reciprocal},
};

inline constexpr std::pair<std::string_view, op::binary_function> joins[] = {
    {"ADD", op::binary_function::add}, {"MUL", op::binary_function::mul},
    {"SUB", op::binary_function::sub}, {"DIV", op::binary_function::div},
    {"MIN", op::binary_function::min}, {"MAX", op::binary_function::max},
    {"POW", op::binary_function::pow},
};

template <class Table>
auto look_up(const Table& table, std::string_view name) {
  std::optional<decltype(table[0].second)> out;
  for (const auto& [n, f] : table)
    if (n == name) out = f;
  return out;
}
} // namespace detail

/// The function of one number that cuDNN calls so (`RELU`, `EXP`); nothing: it is no layer here.
inline std::optional<op::unary_function> function_named(std::string_view name) {
  return detail::look_up(detail::activations, name);
}

/// The function of two numbers that cuDNN calls so.
inline std::optional<op::binary_function> join_named(std::string_view name) {
  return detail::look_up(detail::joins, name);
}

/// The same numbers twice: begins and ends of symmetric pads.
inline paddings both_sides(const shape& pads) {
  paddings out;
  for (int side = 0; side < 2; ++side)
    for (std::int64_t p : pads)
      out.push(p);
  return out;
}

/// The numbers of a member as one value for each spatial dim; nothing: there are none, or too many.
inline std::optional<extents> extents_of(const fields& f, const field& of, std::string_view name) {
  const auto read = numbers(f.value(of, name));
  if (!read || read->empty() || read->size > 3) return std::nullopt;
  extents out;
  for (std::int64_t v : *read)
    out.push(v);
  return out;
}

} // namespace benanza::trace
