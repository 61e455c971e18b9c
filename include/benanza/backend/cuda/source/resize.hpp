// SPDX-License-Identifier: Apache-2.0
// The program of a Resize: for each element of the result the places of its neighbours, exact
// fractions as in ONNX's definition, and their weights. Nearest moves words; linear and cubic blend
// in f32 along the dims whose size changes.
//
//   program p = *program_of(op::resize{.input = {1, 8, 7, 7}, .sizes = {1, 8, 14, 14}}, type, 1);
#pragma once

#include "../../operands.hpp"
#include "move.hpp"

namespace benanza::backend::cuda::source {

namespace detail {

/// A dim of a resize, neighbours that keep their size being one.
struct resized_dim {
  std::int64_t in = 1, out = 1;
  bool resized() const { return in != out; }
};

inline std::vector<resized_dim> resized_dims(const op::resize& l) {
  std::vector<resized_dim> out;
  for (int i = 0; i < l.input.size; ++i) {
    const resized_dim d{l.input[i], l.sizes[i]};
    if (!d.resized() && !out.empty() && !out.back().resized()) {
      out.back().in *= d.in;
      out.back().out *= d.out;
    } else {
      out.push_back(d);
    }
  }
  return out;
}

/// Statements that give `up` and `down`: the place in the operand of coordinate `c` is up / down.
inline void write_fraction(op::sampling how, const resized_dim& d, lines& out) {
  const auto fraction = [&out](const std::string& up, std::int64_t down) {
    out("    const sig up = ", up, ", down = ", down, ";");
  };
  const std::string in = std::to_string(d.in);
  switch (how) {
  case op::sampling::pytorch_half_pixel:
    if (d.out == 1) return fraction("0", 1);
    [[fallthrough]];
  case op::sampling::half_pixel:
    return fraction("(2 * (sig)c + 1) * " + in + " - " + std::to_string(d.out), 2 * d.out);
  case op::sampling::asymmetric: return fraction("(sig)c * " + in, d.out);
  case op::sampling::align_corners:
    return d.out == 1 ? fraction("0", 1)
                      : fraction("(sig)c * " + std::to_string(d.in - 1), d.out - 1);
  default: return fraction("0", 1); // there is no program
  }
}

/// Statements that fill `near<k>` and `weight<k>`.
inline void write_taps(const op::resize& l, const resized_dim& d, std::int64_t k, lines& out) {
  const bool cubic = l.mode == op::interpolation::cubic;
  const std::int64_t last = d.in - 1, first = cubic ? -1 : 0, taps = cubic ? 4 : 2;
  out("  {");
  write_fraction(l.coordinates, d, out);
  out("    const sig low = floored(up, down);");
  out("    const float x = (float)(up - low * down) / (float)down;");
  if (cubic) {
    out("    weight", k, "[0] = far_weight(1.0f + x);\n    weight", k, "[1] = near_weight(x);");
    out("    weight", k, "[2] = near_weight(1.0f - x);\n    weight", k,
        "[3] = far_weight(2.0f - x);");
  } else {
    out("    weight", k, "[0] = 1.0f - x;\n    weight", k, "[1] = x;");
  }
  for (std::int64_t t = 0; t < taps; ++t)
    out("    near", k, "[", t, "] = (idx)inside(low + ", first + t, ", ", last, ");");
  out("  }");
}

/// Keys' cubic convolution, ONNX Resize-11.
inline void write_cubic(lines& out) {
  const arithmetic f32{.suffix = "f"};
  const auto n = [&f32](double v) { return literal(v, f32); };
  const double a = attribute::cubic;
  const std::string head = "static __device__ __forceinline__ float ";
  out(head, "near_weight(float d) { return ((", n(a + 2), " * d - ", n(a + 3),
      ") * d) * d + 1.0f; }");
  out(head, "far_weight(float d) { return ((", n(a), " * d - ", n(5 * a), ") * d + ", n(8 * a),
      ") * d - ", n(4 * a), "; }");
}
} // namespace detail

/// The program of a layer whose elements are of `type`; nothing for types that cannot be blended,
/// and for more neighbours than 64. `scale` is that of quantised results.
inline std::optional<program> program_of(const op::resize& l, dtype type, double scale) {
  if (!l.plain()) return std::nullopt;
  const auto dims = detail::resized_dims(l);
  const bool nearest = l.mode == op::interpolation::nearest || l.input == l.sizes;
  const std::int64_t taps = nearest ? 1 : l.mode == op::interpolation::linear ? 2 : 4;
  std::int64_t neighbours = 1, largest = 1;
  for (const auto& d : dims) {
    if (d.resized()) neighbours *= taps;
    largest = std::max(largest, d.resized() ? 4 * d.in * d.out : d.in);
  }
  const auto numbers = arithmetic_of(type, scale);
  const bool as_it_is = nearest && scale == 1;
  if (neighbours > 64 || (!as_it_is && (!numbers || numbers->computed != "float")))
    return std::nullopt;
  program p = detail::moving(size_bytes(type), elements(l.sizes), elements(l.input));
  p.count_in.wide = p.count_in.wide || largest > 0x7fff0000;
  const counter& c = p.count_in;
  lines functions, place;
  functions("typedef ", c.with_sign(), " sig;");
  functions("static __device__ __forceinline__ sig floored(sig a, sig b) {");
  functions("  return a / b - (a % b < 0 ? 1 : 0);\n}");
  functions("static __device__ __forceinline__ sig inside(sig x, sig last) {");
  functions("  return x < 0 ? 0 : x > last ? last : x;\n}");
  shape in;
  for (const auto& d : dims)
    in.push(d.in);
  const shape strides = packed(in);
  place("  idx at = 0, c;");
  for (std::size_t k = dims.size(); k-- > 0;) {
    const auto& d = dims[k];
    const auto n = static_cast<std::int64_t>(k);
    const std::string stride = c(strides[static_cast<int>(k)]);
    if (d.resized() && !nearest)
      place("  idx near", n, "[", taps, "];\n  float weight", n, "[", taps, "];");
    place("  c = ", k > 0 ? "i % " + c(d.out) : "i", ";");
    if (k > 0) place("  i /= ", c(d.out), ";");
    if (!d.resized()) {
      place("  at += c * ", stride, ";");
    } else if (nearest) {
      place("  {");
      detail::write_fraction(l.coordinates, d, place);
      // Halves go down, but `asymmetric` floors.
      const bool floors = l.coordinates == op::sampling::asymmetric;
      place("    at += (idx)inside(",
            floors ? "floored(up, down)" : "-floored(down - 2 * up, 2 * down)", ", ", d.in - 1,
            ") * ", stride, ";\n  }");
    } else {
      detail::write_taps(l, d, n, place);
    }
  }
  place("  (void)c;");
  if (nearest) {
    place("  return x0 + at;");
    p.functions = functions.text();
    p.readings[0].place = place.text();
    p.readings[0].together = dims.back().resized() ? 1 : dims.back().in;
    if (as_it_is) return p;
    p.functions += numbers->functions;
    p.result = p.readings[0].element = numbers->stored;
    p.parameters = "const " + p.result + "* __restrict__ x0, ";
    p.combine = "  return store(load(a0));\n";
    return p;
  }
  if (l.mode == op::interpolation::cubic) detail::write_cubic(functions);
  p.functions = functions.text() + numbers->functions;
  p.result = numbers->stored;
  p.parameters = "const " + p.result + "* __restrict__ x0, ";
  p.readings.clear();
  place("  float sum = 0.0f;");
  std::string from = "at", weight = "1.0f", close;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (!dims[k].resized()) continue;
    const std::string n = std::to_string(k);
    place("#pragma unroll\n  for (int t", n, " = 0; t", n, " < ", taps, "; ++t", n, ")");
    from += " + near" + n + "[t" + n + "] * " + c(strides[static_cast<int>(k)]);
    weight = (weight == "1.0f" ? "" : weight + " * ") + "weight" + n + "[t" + n + ']';
  }
  place("    sum += ", weight, " * load(x0[", from, "]);");
  place("  return store(sum);");
  p.alone = place.text();
  return p;
}

} // namespace benanza::backend::cuda::source
