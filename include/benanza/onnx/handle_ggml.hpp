// SPDX-License-Identifier: Apache-2.0
// Layers of language models in GGUF files, whose weights are bytes of ggml's blocks. Their domain
// is ours: `benanza model.gguf` writes them.
//
//   handle_matmul_ggml(call)   // MatMulGgml/1x1x2048-n5632-q4_k
#pragma once

#include "call.hpp"

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

inline answer handle_matmul_ggml(const call& c) {
  const op::matmul_ggml p{
      .a = c.dims(0), .n = c.integer("N", 0), .format = detail::ggml_format_of(c)};
  p.validate();
  detail::check_blocks(c, 1, p.weights());
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
