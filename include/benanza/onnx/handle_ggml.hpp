// SPDX-License-Identifier: Apache-2.0
// Layers of language models in GGUF files, whose weights are bytes of ggml's blocks. Their domain
// is ours: `benanza model.gguf` writes them.
//
//   handle_matmul_ggml(call)   // MatMulGgml/1x1x2048-n5632-q4_k
#pragma once

#include "call.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::onnx {

/// The domain of operators that no one else has.
inline constexpr std::string_view own_domain = "benanza";

namespace detail {
inline op::ggml_format ggml_format_of(const call& c) {
  const std::string_view name = c.word("format", "");
  for (std::size_t i = 0; i < std::size(op::ggml_names); ++i)
    if (op::ggml_names[i] == name) return static_cast<op::ggml_format>(i);
  throw error("its format is " + in_quotes(name) + ", which no layer has");
}
inline void check_blocks(const call& c, int input, const shape& wanted) {
  if (c.type(input) != dtype::u8 || !(c.dims(input) == wanted))
    throw error("its input " + std::to_string(input) + " is " + text(c.dims(input)) +
                ", not bytes of " + text(wanted));
}
} // namespace detail

namespace detail {
/// Experts have their matrices in one operand of three dims. Of these a run reads as many as it is
/// expected to: `chosen` for each token, each as likely as the others.
inline bool has_experts(const call& c) {
  return c.op() == "MatMulGgml" ? c.dims(1).size == 3
                                : c.op() == "MatMulNBits" && c.has_attribute("chosen");
}
inline std::int64_t touched_experts(const call& c) {
  const std::int64_t all = c.dims(1)[0], chosen = c.integer("chosen", 0);
  const shape& a = c.dims(0);
  if (chosen < 1 || chosen > all || a.size != 3 || a[0] != 1 || a[1] % chosen != 0)
    throw error("its rows " + text(a) + " are not " + std::to_string(chosen) + " of " +
                std::to_string(all) + " experts for each token");
  const double missed = 1 - static_cast<double>(chosen) / static_cast<double>(all);
  const double tokens = static_cast<double>(a[1] / chosen);
  const double expected = static_cast<double>(all) * (1 - std::pow(missed, tokens));
  return std::clamp<std::int64_t>(std::llround(expected), 1, std::min(all, a[1]));
}
/// What was assumed of them, in words.
inline std::string experts_assumed(const call& c) {
  const std::int64_t tokens = c.dims(0)[1] / c.integer("chosen", 1);
  return std::to_string(touched_experts(c)) + " of " + std::to_string(c.dims(1)[0]) +
         " experts are read in a layer, as " + std::to_string(tokens) +
         (tokens == 1 ? " token chooses"
                      : " tokens are expected to choose where all are as likely");
}
} // namespace detail

inline answer handle_matmul_ggml(const call& c) {
  op::matmul_ggml p{.a = c.dims(0), .n = c.integer("N", 0), .format = detail::ggml_format_of(c)};
  if (detail::has_experts(c)) {
    p.validate();
    detail::check_blocks(c, 1, {c.dims(1)[0], p.weights()[0], p.weights()[1]});
    p.experts = detail::touched_experts(c);
    p.validate();
  } else {
    p.experts = c.integer("experts", 1);
    p.validate();
    detail::check_blocks(c, 1, p.weights());
  }
  return of_layer(c, p, p.output());
}

inline answer handle_gather_ggml(const call& c) {
  const op::gather_ggml p{.data = {c.dims(0).empty() ? 0 : c.dims(0)[0], c.integer("K", 0)},
                          .indices = c.dims(1),
                          .format = detail::ggml_format_of(c)};
  p.validate();
  detail::check_blocks(c, 0, p.table());
  if (c.type(1) != dtype::s64) throw error("its indices are not of type s64");
  answer a = of_layer(c, p, p.output());
  a.outputs[0].element = proto::FLOAT;
  return a;
}

} // namespace benanza::onnx
