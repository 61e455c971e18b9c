// SPDX-License-Identifier: Apache-2.0
// Kernels of layers in which whole rows are seen before anything is written: reductions over any
// axes, softmax along any axis, normalizations by a row's own deviation. 1, 32 or 256 threads share
// a row, which is read once for each thing that must be known of it, and once more to write it.
//
//   rows r = *rows_of(op::softmax{.input = {4, 50}, .axis = 1}, type, 1);
//   kernel k = written(r, 32);   k.name == "row32"
#pragma once

#include "function.hpp"
#include "place.hpp"

#include <optional>

namespace benanza::backend::cuda::source {

/// What is done with each row. Statements see `first`, the place of the row, `load`, `store` and
/// what was found before.
struct rows {
  counter count_in{};
  std::int64_t count = 0, length = 0;
  bool contiguous = false; ///< neighbours in a row are neighbours in memory
  std::string stored{}, computed{};
  std::string functions{}; ///< among them `place_of_row(r)` and `place_in_row(j)`
  std::string parameters{};
  /// Things to find out about a row, one after the other.
  struct finding {
    std::string name{};  ///< of the variable that holds it
    std::string begin{}; ///< value for a row without elements
    std::string each{};  ///< what an element `v` adds; `so_far` is what there is
    std::string both{};  ///< of two partial findings `a` and `b`
    std::string end{};   ///< what is made of it; empty: nothing
  };
  std::vector<finding> findings{};
  std::string result{};      ///< the only element that a row gives; empty: as many as it has
  std::string each_result{}; ///< otherwise of element `v` at place `at`
  std::string element = "load(x0[at])"; ///< `v`
  std::string second_result{}; ///< of `v`, where there is another result; empty: there is none
};

namespace detail {

/// The functions that find a row and an element in it; loops of the operand's places.
inline void set_places(const std::vector<loop>& outer, const std::vector<loop>& inner, rows& r) {
  const auto write = [&r](std::string_view name, const std::vector<loop>& loops) {
    lines out;
    out("static __device__ __forceinline__ idx ", name, "(idx i) {");
    write_place(loops, r.count_in, 0, out);
    out("  return at;\n}");
    r.functions += out.text();
  };
  write("place_of_row", outer);
  write("place_in_row", inner);
  r.contiguous = inner.empty() || (inner.size() == 1 && inner[0].from == 1);
}

/// Loops over dims of a tensor for which `wanted` says so; merged.
template <class F>
std::vector<loop> loops_over(const shape& dims, F&& wanted) {
  const shape strides = packed(dims);
  std::int64_t count = 1;
  for (int i = 0; i < dims.size; ++i)
    if (wanted(i)) count *= dims[i];
  block b;
  for (int i = 0; i < dims.size; ++i)
    if (wanted(i)) {
      count /= dims[i];
      b.push({dims[i], count, strides[i]});
    }
  return b.loops;
}

inline rows begun(const shape& input, const arithmetic& a) {
  rows r;
  r.count_in = counter::of(elements(input));
  r.stored = a.stored;
  r.computed = a.computed;
  r.functions = a.functions;
  r.parameters = "const " + a.stored + "* __restrict__ x0, ";
  return r;
}

inline rows::finding sum_of(const std::string& name, const std::string& each) {
  return {.name = name, .begin = "0", .each = "so_far + (" + each + ')', .both = "a + b"};
}

/// The largest of a row; every row has an element.
inline rows::finding largest(const arithmetic& a) {
  const std::string lowest = a.whole            ? "(-9223372036854775807ll - 1)"
                             : a.suffix.empty() ? "-1.7976931348623157e308"
                                                : "-3.402823466e38f";
  return {
      .name = "most", .begin = lowest, .each = "v > so_far ? v : so_far", .both = "a > b ? a : b"};
}
inline rows::finding smallest(const arithmetic& a) {
  const std::string highest = a.whole            ? "9223372036854775807ll"
                              : a.suffix.empty() ? "1.7976931348623157e308"
                                                 : "3.402823466e38f";
  return {.name = "least",
          .begin = highest,
          .each = "v < so_far ? v : so_far",
          .both = "a < b ? a : b"};
}

/// Rows that follow each other, each of which is normalized by its own deviation; each `run`
/// elements in turn have the next scale of `scales`.
inline rows normalized(const shape& input, std::int64_t length, std::int64_t run,
                       std::int64_t scales, bool centred, bool shifted, const arithmetic& a) {
  rows r = begun(input, a);
  const counter& c = r.count_in;
  r.length = length;
  r.count = elements(input) / length;
  block outer, inner;
  outer.push({r.count, 1, length});
  inner.push({length, 1, 1});
  set_places(outer.loops, inner.loops, r);
  r.parameters += "const float* __restrict__ x1, ";
  if (shifted) r.parameters += "const float* __restrict__ x2, ";
  const std::string n = literal(static_cast<double>(length), a);
  if (centred) {
    r.findings.push_back(sum_of("mean", "v"));
    r.findings.back().end = "mean / " + n;
  }
  const std::string off = centred ? "(v - mean)" : "v";
  r.findings.push_back(sum_of("scale", off + " * " + off));
  r.findings.back().end =
      "1.0f / sqrtf(scale / " + n + " + " + literal(attribute::epsilon, a) + ')';
  const std::string which = (run == 1 ? "at" : "at / " + c(run)) + " % " + c(scales);
  r.each_result = off + " * scale * x1[" + which + ']' + (shifted ? " + x2[" + which + ']' : "");
  return r;
}
} // namespace detail

/// What is done with the rows of a layer whose elements are of `type`; nothing where kernels cannot
/// compute it. `scale` is that of quantised results.
inline std::optional<rows> rows_of(const op::reduce& l, dtype type, double scale) {
  using enum op::reduction;
  const auto a = arithmetic_of(type, scale);
  if (!a) return std::nullopt;
  const op::reduction f = l.function;
  if (a->whole && (f == l2 || f == log_sum || f == log_sum_exp)) return std::nullopt;
  rows r = detail::begun(l.input, *a);
  r.count = elements(l.output());
  r.length = elements(l.input) / r.count;
  detail::set_places(detail::loops_over(l.input, [&l](int i) { return !l.reduces(i); }),
                     detail::loops_over(l.input, [&l](int i) { return l.reduces(i); }), r);
  const std::string n =
      a->whole ? std::to_string(r.length) : literal(static_cast<double>(r.length), *a);
  const auto call = [&a](const char* name, const std::string& of) {
    return name + a->suffix + '(' + of + ')';
  };
  const auto found = [&r](rows::finding what, std::string result) {
    r.findings.push_back(std::move(what));
    r.result = std::move(result);
  };
  switch (f) {
  case mean: found(detail::sum_of("sum", "v"), "sum / " + n); break;
  case sum: found(detail::sum_of("sum", "v"), "sum"); break;
  case max: found(detail::largest(*a), "most"); break;
  case min: found(detail::smallest(*a), "least"); break;
  case product:
    found({.name = "all", .begin = "1", .each = "so_far * v", .both = "a * b"}, "all");
    break;
  case l1: found(detail::sum_of("sum", "v < 0 ? -v : v"), "sum"); break;
  case l2: found(detail::sum_of("sum", "v * v"), call("sqrt", "sum")); break;
  case sum_square: found(detail::sum_of("sum", "v * v"), "sum"); break;
  case log_sum: found(detail::sum_of("sum", "v"), call("log", "sum")); break;
  case log_sum_exp:
    r.findings.push_back(detail::largest(*a));
    found(detail::sum_of("sum", call("exp", "v - most")), "most + " + call("log", "sum"));
    break;
  }
  return r;
}

inline std::optional<rows> rows_of(const op::softmax& l, dtype type, double scale) {
  const auto a = arithmetic_of(type, scale);
  if (!a || a->whole) return std::nullopt;
  rows r = detail::begun(l.input, *a);
  r.length = l.input[l.axis];
  r.count = elements(l.input) / r.length;
  detail::set_places(detail::loops_over(l.input, [&l](int i) { return i != l.axis; }),
                     detail::loops_over(l.input, [&l](int i) { return i == l.axis; }), r);
  const std::string power = "exp" + a->suffix + "(v - most)";
  r.findings.push_back(detail::largest(*a));
  r.findings.push_back(detail::sum_of("sum", power));
  r.findings.back().end = l.log ? "log" + a->suffix + "(sum)" : "1.0f / sum";
  r.each_result = l.log ? "v - most - sum" : power + " * sum";
  return r;
}

inline std::optional<rows> rows_of(const op::layer_norm& l, dtype type, double scale) {
  const auto a = arithmetic_of(type, scale);
  if (!a || a->whole) return std::nullopt;
  return detail::normalized(l.input, l.row(), 1, l.row(), true, l.bias, *a);
}
inline std::optional<rows> rows_of(const op::rms_norm& l, dtype type, double scale) {
  const auto a = arithmetic_of(type, scale);
  if (!a || a->whole) return std::nullopt;
  return detail::normalized(l.input, l.row(), 1, l.row(), false, false, *a);
}
/// The rows of a sum. Codes of a quantised type are not added.
template <class Norm>
std::optional<rows> rows_of(const op::residual<Norm>& l, dtype type, double scale) {
  if (type == dtype::s8 || type == dtype::u8) return std::nullopt;
  std::optional<rows> r = rows_of(l.base, type, scale);
  if (!r) return r;
  r->parameters += "const " + r->stored + "* __restrict__ added, ";
  r->element += " + load(added[at])";
  if (l.sum) r->second_result = "store(v)";
  return r;
}
inline std::optional<rows> rows_of(const op::group_norm& l, dtype type, double scale) {
  const auto a = arithmetic_of(type, scale);
  if (!a || a->whole) return std::nullopt;
  return detail::normalized(l.input, l.row(), elements(l.input, 2, l.input.size), l.input[1], true,
                            true, *a);
}
inline std::optional<rows> rows_of(const op::instance_norm& l, dtype type, double scale) {
  const auto a = arithmetic_of(type, scale);
  if (!a || a->whole) return std::nullopt;
  return detail::normalized(l.input, l.row(), l.row(), l.input[1], true, true, *a);
}

/// The kernel in which `lanes` threads share a row: 1, or a power of two up to a block.
inline kernel written(const rows& r, std::int64_t lanes) {
  const counter& c = r.count_in;
  const std::int64_t at_once = threads_of_a_block / lanes;
  kernel k{.name = "row" + std::to_string(lanes), .blocks = (r.count + at_once - 1) / at_once};
  lines out;
  write_preamble(c, out);
  out(r.functions);
  out(kernel_head(k.name), r.parameters, r.stored, "* __restrict__ y",
      r.second_result.empty() ? ") {" : ", " + r.stored + "* __restrict__ second) {");
  if (lanes > 1) {
    out("  __shared__ ", r.computed, " part[", threads_of_a_block, "];");
    out("  const int lane = threadIdx.x % ", lanes, ";");
  } else {
    out("  const int lane = 0;");
  }
  out("  const idx row = (idx)blockIdx.x * ", c(at_once), " + threadIdx.x / ", c(lanes), ";");
  // Threads without a row still meet the others at barriers.
  out("  const idx length = row < ", c(r.count), " ? ", c(r.length), " : 0;");
  out("  const idx first = place_of_row(row);");
  const auto each_element = [&](const std::string& what) {
    out("  for (idx j = lane; j < length; j += ", c(lanes), ") {");
    out("    const idx at = first + place_in_row(j);");
    out("    const ", r.computed, " v = ", r.element, ";\n    ", what, "\n  }");
  };
  for (const rows::finding& f : r.findings) {
    out("  ", r.computed, " ", f.name, " = ", f.begin, ";");
    out("  {\n  ", r.computed, " so_far = ", f.begin, ";");
    each_element("so_far = " + f.each + ';');
    if (lanes > 1) {
      out("  part[threadIdx.x] = so_far;\n  __syncthreads();");
      out("  for (int half = ", lanes / 2, "; half > 0; half /= 2) {");
      out("    if (lane < half) {");
      out("      const ", r.computed,
          " a = part[threadIdx.x], b = part[threadIdx.x + half];\n      part[threadIdx.x] = ",
          f.both, ";\n    }\n    __syncthreads();\n  }");
      out("  so_far = part[threadIdx.x / ", lanes, " * ", lanes, "];\n  __syncthreads();");
    }
    out("  ", f.name, " = so_far;\n  }");
    if (!f.end.empty()) out("  ", f.name, " = ", f.end, ";");
  }
  if (r.result.empty())
    each_element("y[at] = store(" + r.each_result + ");" +
                 (r.second_result.empty() ? "" : " second[at] = " + r.second_result + ';'));
  else
    out("  if (lane == 0 && row < ", c(r.count), ") y[row] = store(", r.result, ");");
  out("}");
  k.text = out.text();
  return k;
}

/// The kernels that are worth a try: a thread a row where rows are short or threads side by side
/// read neighbours that way, whole blocks where rows are long.
inline std::vector<kernel> all_shares(const rows& r) {
  std::vector<kernel> out;
  if (r.length <= 64 || !r.contiguous) out.push_back(written(r, 1));
  if (r.length >= 8) out.push_back(written(r, 32));
  if (r.length >= 256) out.push_back(written(r, 256));
  return out;
}

} // namespace benanza::backend::cuda::source
