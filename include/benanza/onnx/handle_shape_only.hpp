// SPDX-License-Identifier: Apache-2.0
// Operators whose output's dims we know but that no layer kind is for: Einsum, and some of ONNX
// Runtime's own. What follows them can be resolved.
//
//   handle_einsum(call)   // "bij,bjk->bik" of 8x2x3 and 8x3x5: 8x2x5
#pragma once

#include "../core/text.hpp"
#include "handle_eltwise.hpp"

#include <map>

namespace benanza::onnx {

/// One operand whose dims stay, of an operator that no layer kind is for.
inline answer handle_same(const call& c) {
  answer a;
  a.outputs.push_back({c.element(0), c.dims(0)});
  return a;
}

/// FastGelu of ONNX Runtime's domain; with a second operand, which is added before, only its dims.
inline answer handle_fast_gelu(const call& c) {
  return c.size() > 1 ? handle_same(c) : handle_unary(c);
}

namespace detail {
inline answer of_dims(const call& c, const shape& dims) {
  answer a;
  a.outputs.push_back({c.element(0), dims});
  return a;
}

/// Binds the letters of one operand's term to its dims; those under an ellipsis broadcast.
inline void bind_term(std::string_view term, const shape& x, std::map<char, std::int64_t>& letters,
                      shape& ellipsis) {
  const std::size_t dots = term.find("...");
  const int named = static_cast<int>(term.size()) - (dots == std::string_view::npos ? 0 : 3);
  if (x.size < named || (dots == std::string_view::npos && x.size != named))
    throw error("its equation does not fit its operand " + text(x));
  int at = 0;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      shape covered;
      for (int n = x.size - named; n > 0; --n)
        covered.push(x[at++]);
      ellipsis = broadcast_of(ellipsis, covered);
      i += 2;
      continue;
    }
    const std::int64_t d = x[at++];
    const auto [found, fresh] = letters.emplace(term[i], d);
    if (!fresh && found->second != d && found->second != 1 && d != 1)
      throw error("its equation does not fit its operand " + text(x));
    found->second = std::max(found->second, d);
  }
}
} // namespace detail

inline answer handle_einsum(const call& c) {
  std::string equation;
  for (char letter : c.word("equation", ""))
    if (letter != ' ') equation += letter;
  const std::size_t arrow = equation.find("->");
  const auto terms = split_at(std::string_view(equation).substr(0, arrow), ",");
  std::map<char, std::int64_t> letters;
  std::map<char, int> uses;
  shape ellipsis;
  const auto operands = static_cast<std::size_t>(c.size());
  for (std::size_t i = 0; i < operands; ++i) {
    const std::string_view term = i < terms.size() ? terms[i] : std::string_view();
    detail::bind_term(term, c.dims(static_cast<int>(i)), letters, ellipsis);
    for (char letter : term)
      ++uses[letter];
  }
  if (terms.size() > operands) throw error("its equation has more terms than it has operands");
  std::string right;
  if (arrow == std::string::npos) { // in order of the alphabet, those that occur there once
    right = "...";
    for (const auto& [letter, count] : uses)
      if (count == 1 && letter != '.') right += letter;
  } else {
    right = equation.substr(arrow + 2);
  }
  shape out;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (right.compare(i, 3, "...") == 0) {
      for (std::int64_t d : ellipsis)
        out.push(d);
      i += 2;
    } else if (const auto found = letters.find(right[i]); found != letters.end()) {
      out.push(found->second);
    } else {
      throw error("its equation's result has a letter that no operand has");
    }
  }
  return detail::of_dims(c, out);
}

/// ONNX Runtime's GatherBlockQuantized: rows of codes with a scale for each block, as real numbers.
/// Two codes of 4 bits, or one of 8, are in a byte.
inline answer handle_gather_blocks(const call& c) {
  shape data = c.dims(0);
  const int axis = call::axis(c.integer("gather_axis", 0), data.size);
  const std::int64_t bits = c.integer("bits", 4);
  if (data.size < 2) throw error("its codes " + text(data) + " are no matrix");
  if (c.type(0) == dtype::u8 && bits == 4) data[data.size - 1] = checked_multiply(data.back(), 2);
  shape out;
  for (int i = 0; i < axis; ++i)
    out.push(data[i]);
  for (const std::int64_t d : c.dims(1))
    out.push(d);
  for (int i = axis + 1; i < data.size; ++i)
    out.push(data[i]);
  answer a;
  a.outputs.push_back({c.element(2), out});
  return a;
}

/// ONNX Runtime's LSTM with weights in codes, which are directions x inputs x gates.
inline answer handle_dynamic_quantize_lstm(const call& c) {
  const shape &x = c.dims(0), &r = c.dims(2);
  if (x.size != 3 || r.size != 3) throw error("its operands " + text(x) + " do not fit");
  const shape last{r[0], x[1], r[1]};
  answer a;
  a.outputs.push_back({c.element(0), shape{x[0], r[0], x[1], r[1]}});
  a.outputs.push_back({c.element(0), last});
  a.outputs.push_back({c.element(0), last});
  return a;
}

/// ONNX Runtime's RelativePositionBias: a number for each head, query and key.
inline answer handle_relative_position_bias(const call& c) {
  const auto length = [&c](int i) { return c.whole_numbers(i).at(0); };
  if (c.dims(0).size != 2) throw error("its table " + text(c.dims(0)) + " is not a matrix");
  return detail::of_dims(c, {1, c.dims(0)[1], length(1), length(2)});
}

/// ONNX Runtime's EmbedLayerNormalization: word numbers to rows of the embedding.
inline answer handle_embed_layer_norm(const call& c) {
  shape out = c.dims(0);
  if (c.dims(2).size != 2) throw error("its embedding " + text(c.dims(2)) + " is not a matrix");
  out.push(c.dims(2)[1]);
  answer a;
  a.outputs.push_back({c.element(2), out});
  if (c.outputs() > 1) a.outputs.push_back({proto::INT32, shape{c.dims(0)[0]}});
  return a;
}

/// ONNX Runtime's Attention: batch x sequence x hidden; a second output is what it remembers.
inline answer handle_packed_attention(const call& c) {
  shape out = c.dims(0);
  const shape& weights = c.dims(1);
  if (out.size != 3 || weights.size != 2)
    throw error("its operands " + text(out) + " and " + text(weights) + " do not fit");
  const std::vector<std::int64_t> sizes = c.integers("qkv_hidden_sizes");
  out[2] = sizes.size() == 3 ? sizes[2] : weights[1] / 3;
  answer a = detail::of_dims(c, out);
  if (c.outputs() > 1 && c.has(4) && c.dims(4).size == 5) {
    shape kept = c.dims(4);
    kept[3] += out[1];
    a.outputs.push_back({c.element(0), kept});
  }
  return a;
}

} // namespace benanza::onnx
