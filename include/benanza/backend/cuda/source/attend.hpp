// SPDX-License-Identifier: Apache-2.0
// The kernel of an attention with any mask, cap, window, lengths or types of keys and values: a
// block of threads is a query of a head. Its scores are kept in shared memory, so each key and each
// value is read once for it; queries share nothing.
//
//   std::vector<kernel> k = attentions_of(op::attention{...}, numeric::f16);   // attend256, or
//   none
#pragma once

#include "../../../op/attention.hpp"
#include "typed.hpp"

namespace benanza::backend::cuda::source {

/// Keys whose scores fit into a block's shared memory, which has 48 KiB.
inline constexpr std::int64_t most_attended = 11 * 1024;

namespace detail {
/// Statements by which all threads get `name` of all, by `both` of `a` and `b`.
inline void over_block(lines& out, const std::string& name, const char* both) {
  out("  part[threadIdx.x] = ", name, ";\n  __syncthreads();");
  out("  for (int half = ", threads_of_a_block / 2, "; half > 0; half /= 2) {");
  out("    if (threadIdx.x < half) {");
  out("      const float a = part[threadIdx.x], b = part[threadIdx.x + half];");
  out("      part[threadIdx.x] = ", both, ";\n    }\n    __syncthreads();\n  }");
  out("  ", name, " = part[0];\n  __syncthreads();");
}
} // namespace detail

inline std::vector<kernel> attentions_of(const op::attention& l, numeric t) {
  const dtype real = source_of(t), stored = storage_of(l.stored, t);
  const auto a = arithmetic_of(real), of_keys = arithmetic_of(stored);
  if (quantised(t) || !a || !of_keys || l.keys > most_attended) return {};
  constexpr std::int64_t threads = threads_of_a_block;
  const counter c = counter::of(std::max({elements(l.query_shape()), elements(l.key_shape()),
                                          elements(l.value_shape()), elements(l.output())}));
  kernel k{.name = "attend" + std::to_string(threads), .blocks = l.batch * l.heads * l.queries};
  lines out;
  write_preamble(c, out);
  out(a->functions);
  if (stored != real) out(detail::renamed(of_keys->functions, "_key"));
  const std::string load_key = stored == real ? "load(" : "load_key(";
  std::string parameters = "const " + a->stored + "* __restrict__ x0, const " + of_keys->stored +
                           "* __restrict__ x1, const " + of_keys->stored + "* __restrict__ x2, ";
  if (!l.mask.empty())
    parameters += "const " + (l.truth_mask ? "unsigned char" : a->stored) + "* __restrict__ mask, ";
  if (l.lengths) parameters += "const long long* __restrict__ lengths, ";
  out(kernel_head(k.name), parameters, a->stored, "* __restrict__ y) {");
  out("  __shared__ float weights[", l.keys, "], part[", threads, "];");
  out("  const idx row = blockIdx.x, batch = row / ", c(l.heads * l.queries), ", rest = row % ",
      c(l.heads * l.queries), ";");
  const std::string minor = c(l.sequence_major ? l.heads : l.queries);
  out("  const idx head = rest ", l.sequence_major ? "% " : "/ ", minor, ", query = rest ",
      l.sequence_major ? "/ " : "% ", minor, ";");
  // Row `j` of keys or values is `apart` rows behind the one before.
  const std::string kv_head = "head / " + c(l.heads / l.kv_heads);
  const bool apart = l.sequence_major && !l.cached;
  if (apart)
    out("  const idx rows = batch * ", c(l.keys * l.kv_heads), " + ", kv_head, ";");
  else
    out("  const idx rows = (batch * ", c(l.kv_heads), " + ", kv_head, ") * ", c(l.keys), ";");
  const std::string step = c(apart ? l.kv_heads : 1);
  if (l.lengths)
    out("  const int length = (int)lengths[batch];");
  else
    out("  const int length = ", l.keys, ";");
  out("  int first = 0, end = length;");
  if (l.causal) {
    out("  const int place = (int)query + 1 + ", l.past, l.lengths ? " + length - " : " - ",
        l.lengths ? l.queries : 0, ";");
    out("  if (place < end) end = place < 0 ? 0 : place;");
    if (l.window > 0)
      out("  if (place - ", l.window, " > 0) first = place - ", l.window, " < end ? place - ",
          l.window, " : end;");
  }
  out("  const float nothing = -1.0f / 0.0f;\n  float most = nothing;");
  out("  for (int j = first + (int)threadIdx.x; j < end; j += ", threads, ") {");
  out("    const ", of_keys->stored, "* key = x1 + (rows + j * ", step, ") * ", c(l.head_size),
      ";");
  out("    float score = 0.0f;");
  out("    for (int d = 0; d < ", l.head_size, "; ++d) score += load(x0[row * ", c(l.head_size),
      " + d]) * ", load_key, "key[d]);");
  out("    score *= ", literal(1 / std::sqrt(static_cast<double>(l.head_size)), *a), ";");
  if (l.softcap) {
    const std::string cap = literal(attribute::softcap, *a);
    out("    score = ", cap, " * tanhf(score / ", cap, ");");
  }
  if (!l.mask.empty()) {
    const shape m = expanded(l.mask, 4), strides = packed(m);
    std::string at = "0";
    const char* const places[] = {"batch", "head", "query", "j"};
    for (int d = 0; d < 4; ++d)
      if (m[d] != 1) at += std::string(" + ") + places[d] + " * " + c(strides[d]);
    if (l.truth_mask)
      out("    if (!mask[", at, "]) score = nothing;");
    else
      out("    score += load(mask[", at, "]);");
  }
  out("    weights[j - first] = score;\n    most = score > most ? score : most;\n  }");
  detail::over_block(out, "most", "a > b ? a : b");
  out("  float sum = 0.0f;");
  out("  for (int j = (int)threadIdx.x; j < end - first; j += ", threads, ") {");
  out("    const float w = most == nothing ? 0.0f : expf(weights[j] - most);");
  out("    weights[j] = w;\n    sum += w;\n  }");
  detail::over_block(out, "sum", "a + b");
  // So many threads are beside each other along a value, and so many groups share its rows.
  const std::int64_t width = std::min(l.value_size, threads), groups = threads / width;
  out("  const int d = threadIdx.x % ", width, ", group = threadIdx.x / ", width, ";");
  out("  for (int from = 0; from < ", l.value_size, "; from += ", width, ") {");
  out("    const bool mine = from + d < ", l.value_size, " && group < ", groups, ";");
  out("    float v = 0.0f;");
  out("    for (int j = group; mine && j < end - first; j += ", groups, ")");
  out("      v += weights[j] * ", load_key, "x2[(rows + (first + j) * ", step, ") * ",
      c(l.value_size), " + from + d]);");
  out("    part[threadIdx.x] = v;\n    __syncthreads();");
  out("    if (mine && group == 0) {");
  out("      for (int g = 1; g < ", groups, "; ++g) v += part[d + g * ", width, "];");
  out("      y[row * ", c(l.value_size),
      " + from + d] = store(sum > 0.0f ? v / sum : 0.0f);\n    }");
  out("    __syncthreads();\n  }\n}");
  k.text = out.text();
  return {k};
}

} // namespace benanza::backend::cuda::source
