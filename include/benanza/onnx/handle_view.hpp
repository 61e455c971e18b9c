// SPDX-License-Identifier: Apache-2.0
// Layers that move nothing: Reshape, Flatten, Squeeze, Unsqueeze, Identity and inference Dropout,
// all ONNX versions. A Reshape must keep the number of elements. One whose constant target still
// names the batch that the model was exported with is repaired, and says so.
//
//   handle_reshape(call)   // Reshape/8x2048x1x1-8x2048; repair: "1x2048 became 8x2048"
#pragma once

#include "../core/text.hpp"
#include "call.hpp"

#include <cstdlib>

namespace benanza::onnx {

namespace detail {
inline answer of_view(const call& c, op::view_function f, const shape& result) {
  op::view p{.function = f, .input = c.dims(0), .result = result, .element = c.type(0)};
  return of_layer(c, p, result);
}

/// The dims that a Reshape's target means; nothing where the numbers of elements differ.
inline std::optional<shape> reshaped(const shape& input, std::span<const std::int64_t> target,
                                     bool zero_is_zero) {
  shape out;
  int open = -1;
  std::int64_t rest = 1;
  for (std::size_t i = 0; i < target.size(); ++i) {
    std::int64_t d = target[i];
    const int at = static_cast<int>(i);
    if (d == 0 && !zero_is_zero) {
      if (at >= input.size) return std::nullopt;
      d = input[at];
    }
    if (d < -1 || d > dim_limit || (d == -1 && open >= 0)) return std::nullopt;
    if (d == -1)
      open = at;
    else
      rest = checked_multiply(rest, d);
    out.push(d);
  }
  const std::int64_t all = benanza::elements(input);
  if (open >= 0) {
    if (rest == 0 ? all != 0 : all % rest != 0) return std::nullopt;
    out[open] = rest == 0 ? 0 : all / rest;
  }
  return benanza::elements(out) == all ? std::optional(out) : std::nullopt;
}

inline std::string numbers_text(std::span<const std::int64_t> values) {
  return values.empty() ? "scalar" : join(values, "x");
}

/// The target with the new batch in place of the old one; nothing where that does not fit.
inline std::optional<shape> repaired(const call& c, const shape& input,
                                     std::vector<std::int64_t>& target, bool zero_is_zero) {
  if (c.batch == c.old_batch || target.empty() || target[0] < 1 || input.empty())
    return std::nullopt;
  const std::int64_t written = target[0];
  if (written == c.old_batch && input[0] == c.batch) {
    target[0] = c.batch;
    if (auto fits = reshaped(input, target, zero_is_zero)) return fits;
  }
  if (written > dim_limit) return std::nullopt;
  const std::int64_t scaled = checked_multiply(written, c.batch);
  target[0] = scaled / c.old_batch;
  const bool open = std::find(target.begin(), target.end(), -1) != target.end();
  if (scaled % c.old_batch == 0 && !open)
    if (auto fits = reshaped(input, target, zero_is_zero)) return fits;
  target[0] = written;
  return std::nullopt;
}
} // namespace detail

inline answer handle_reshape(const call& c) {
  const shape& x = c.dims(0);
  std::vector<std::int64_t> target = c.opset() >= 5 ? c.whole_numbers(1) : c.integers("shape");
  if (target.size() > 8) throw error("its target has more than 8 dims");
  const bool zero_is_zero = c.integer("allowzero", 0) != 0;
  const std::string before = detail::numbers_text(target);
  const bool written_down = c.opset() < 5 || !c.operand(1).from_shapes;
  std::optional<shape> out;
  std::string repair;
  const bool may_repair = written_down && !c.constant(0);
  // Where the batch is a symbol, a target of 1x-1 means what it says.
  if (!c.batch_was_fixed || !may_repair) out = detail::reshaped(x, target, zero_is_zero);
  if (!out && may_repair) {
    out = detail::repaired(c, x, target, zero_is_zero);
    if (out) repair = "the target " + before + " became " + detail::numbers_text(target);
  }
  if (!out) out = detail::reshaped(x, target, zero_is_zero);
  if (!out)
    throw error("it makes " + before + " of " + text(x) +
                (c.batch != c.old_batch && written_down
                     ? ": exported with a fixed batch; export it with a dynamic batch axis"
                     : ", another number of elements"));
  answer a = detail::of_view(c, op::view_function::reshape, *out);
  a.repair = repair;
  return a;
}

inline answer handle_flatten(const call& c) {
  const shape& x = c.dims(0);
  const int axis = call::axis(c.integer("axis", 1), x.size, true);
  return detail::of_view(c, op::view_function::flatten,
                         {benanza::elements(x, 0, axis), benanza::elements(x, axis, x.size)});
}

/// Axes are an attribute up to opset 12, then an input.
inline answer handle_squeeze(const call& c) {
  const shape& x = c.dims(0);
  const bool listed = c.opset() >= 13 ? c.has(1) : c.has_attribute("axes");
  const std::vector<int> axes = call::axes(!listed           ? std::vector<std::int64_t>{}
                                           : c.opset() >= 13 ? c.whole_numbers(1)
                                                             : c.integers("axes"),
                                           x.size);
  shape out;
  for (int i = 0; i < x.size; ++i) {
    const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (named && x[i] != 1)
      throw error("it squeezes dim " + std::to_string(i) + " of " + text(x) + ", which is not 1");
    if (!named && (listed || x[i] != 1)) out.push(x[i]);
  }
  return detail::of_view(c, op::view_function::squeeze, out);
}

inline answer handle_unsqueeze(const call& c) {
  const shape& x = c.dims(0);
  const std::vector<std::int64_t> given = c.opset() >= 13 ? c.whole_numbers(1) : c.integers("axes");
  if (given.size() > 8) throw error("it gives its input more than 8 dims");
  const int rank = x.size + static_cast<int>(given.size());
  const std::vector<int> axes = call::axes(given, rank);
  shape out;
  int from = 0;
  for (int i = 0; i < rank; ++i)
    out.push(std::find(axes.begin(), axes.end(), i) != axes.end() ? 1 : x[from++]);
  return detail::of_view(c, op::view_function::unsqueeze, out);
}

inline answer handle_identity(const call& c) {
  return detail::of_view(c, op::view_function::identity, c.dims(0));
}

/// Dropout does nothing at inference, nor where it drops none; its second output, the mask, is all
/// ones.
inline answer handle_dropout(const call& c) {
  answer a = detail::of_view(c, op::view_function::dropout, c.dims(0));
  if (c.outputs() > 1)
    a.outputs.push_back({c.opset() >= 10 ? int{proto::BOOL} : c.element(0), c.dims(0)});
  if (c.opset() >= 12 && c.has(2)) {
    const auto is_zero = [&](int i) {
      const std::vector<double> v = c.numbers(i);
      return v.size() == 1 && v[0] == 0;
    };
    if (!is_zero(2) && !(c.has(1) && is_zero(1))) {
      a.layer.reset();
      a.problem = "it trains (training_mode), layers are those of inference";
    }
  }
  return a;
}

} // namespace benanza::onnx
