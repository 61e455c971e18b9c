// SPDX-License-Identifier: Apache-2.0
// How does the text of a kernel come about? A `program` says for each element of the result from
// where in the operands it comes and what is done with it; this header makes CUDA C++ of that in
// which a thread writes one element, or several contiguous ones at once. Sizes and strides are
// constants of the text, so that the compiler turns divisions into multiplications.
//
//   kernel k = written(program, 4);   k.name == "v4";   k.blocks * k.threads >= elements / 4
#pragma once

#include "../../../core/error.hpp"
#include "../../../core/shape.hpp"

#include <memory>
#include <string>
#include <vector>

namespace benanza::backend::cuda::source {

/// Threads of a block, of every kernel.
inline constexpr int threads_of_a_block = 256;
/// Bytes that a thread reads or writes at once at most.
inline constexpr std::int64_t widest_access_bytes = 16;

/// A kernel to be compiled: it takes its operands' addresses and that of the result.
struct kernel {
  std::string name{}; ///< of the function, and in algorithms' ids
  std::string text{};
  std::int64_t blocks = 0;
  int threads = threads_of_a_block;
  bool table = false;         ///< all operands' addresses come as one argument, one after the other
  bool needs_cub = false;     ///< its text includes CUB's headers
  int least_architecture = 0; ///< that has its instructions: 80 for sm_80
  /// Another one, which runs before it. Both are also given the address of so many bytes of
  /// scratch.
  std::shared_ptr<const kernel> before{};
  std::int64_t scratch_bytes = 0;
};

/// Puts a text together, line by line.
class lines {
public:
  template <class... Parts>
  lines& operator()(const Parts&... parts) {
    (add(parts), ...);
    text_ += '\n';
    return *this;
  }
  const std::string& text() const { return text_; }

private:
  void add(std::string_view part) { text_ += part; }
  void add(std::int64_t number) { text_ += std::to_string(number); }
  std::string text_{};
};

/// The type in which elements are counted: 32 bits wherever they do.
struct counter {
  bool wide = false;

  /// For tensors that have `most` elements at most; some threads count a little further.
  static counter of(std::int64_t most) { return {most > 0x7fff0000}; }
  std::string_view name() const { return wide ? "unsigned long long" : "unsigned int"; }
  std::string_view with_sign() const { return wide ? "long long" : "int"; }
  /// A number as the text has it.
  std::string operator()(std::int64_t v) const { return std::to_string(v) + (wide ? "ull" : "u"); }
};

/// Where the element of an operand is that an element of the result takes.
struct reading {
  std::string element{}; ///< its type in C
  /// Statements of a function of `i`, the result's element, that returns its address.
  std::string place{};
  /// Each aligned group of so many elements of the result is contiguous, and aligned, in the
  /// operand too; 0: of any number.
  std::int64_t together = 1;
  bool may_lack = false; ///< the address may be null: then it is a zero
};

/// What is done for each element of the result.
struct program {
  counter count_in{};
  std::int64_t count = 0;         ///< of the result's elements
  std::string result = "float";   ///< type of its elements in C
  std::int64_t element_bytes = 4; ///< of the widest that is read or written
  std::string parameters{};       ///< "const float* __restrict__ x0, "
  std::string arguments{};        ///< "x0, "
  std::string functions{};        ///< that the others need
  std::vector<reading> readings{};
  /// Statements of a function of what was read, `a0`, `a1` ..., that returns the result's element;
  /// empty: what is read is the result.
  std::string combine{};
  /// Statements of a function of `i` that returns the result's element, where there are no
  /// readings.
  std::string alone{};
  /// Addresses of the operands come in one argument: the parameter is `const table& x, `.
  bool table = false;
};

namespace detail {

inline std::string at_index(std::string_view what, std::size_t k) {
  return std::string(what) + std::to_string(k);
}

/// The functions that give one element of the result.
inline void write_functions(const program& p, lines& out) {
  const std::string head = "static __device__ __forceinline__ ";
  for (std::size_t k = 0; k < p.readings.size(); ++k)
    out(head, "const ", p.readings[k].element, "* place", static_cast<std::int64_t>(k), "(",
        p.parameters, "idx i) {\n", p.readings[k].place, "}");
  if (!p.combine.empty()) {
    std::string taken;
    for (std::size_t k = 0; k < p.readings.size(); ++k)
      taken += (k == 0 ? "" : ", ") + p.readings[k].element + ' ' + at_index("a", k);
    out(head, p.result, " combined(", taken, ") {\n", p.combine, "}");
  }
  if (!p.alone.empty()) out(head, p.result, " alone(", p.parameters, "idx i) {\n", p.alone, "}");
}

/// `what` of element `i`: a call of a place, and what lacks is zero.
inline std::string element_at(const program& p, std::size_t k, const std::string& i) {
  const std::string call = at_index("place", k) + '(' + p.arguments + i + ')';
  if (!p.readings[k].may_lack) return '*' + call;
  return "present(" + call + ')';
}

/// The result's element number `i`, computed alone.
inline std::string result_at(const program& p, const std::string& i) {
  if (!p.alone.empty()) return "alone(" + p.arguments + i + ')';
  if (p.combine.empty()) return element_at(p, 0, i);
  std::string all;
  for (std::size_t k = 0; k < p.readings.size(); ++k)
    all += (k == 0 ? "" : ", ") + element_at(p, k, i);
  return "combined(" + all + ')';
}

/// What reads `width` elements at once, or one after the other, into a pack.
inline void write_reading(const program& p, std::size_t k, std::int64_t width, lines& out) {
  const reading& r = p.readings[k];
  const std::string name = at_index("a", k);
  const std::string packed = "pack<" + r.element + ", " + std::to_string(width) + '>';
  out("  ", packed, " ", name, ";");
  if (r.together % width != 0) {
    out("#pragma unroll");
    out("  for (int k = 0; k < ", width, "; ++k) ", name, ".at[k] = ", element_at(p, k, "i + k"),
        ";");
    return;
  }
  const std::string call = at_index("place", k) + '(' + p.arguments + "i)";
  if (!r.may_lack) {
    out("  ", name, " = *(const ", packed, "*)", call, ";");
    return;
  }
  out("  const ", r.element, "* at", static_cast<std::int64_t>(k), " = ", call, ";");
  out("  if (at", static_cast<std::int64_t>(k), ") ", name, " = *(const ", packed, "*)at",
      static_cast<std::int64_t>(k), ";");
  out("  else for (int k = 0; k < ", width, "; ++k) ", name, ".at[k] = 0;");
}
} // namespace detail

/// What all kernels begin with.
inline void write_preamble(const counter& c, lines& out) {
  out("typedef ", c.name(), " idx;");
  out("template <class E, int N> struct alignas(sizeof(E) * N) pack { E at[N]; };");
  out("template <class E> static __device__ __forceinline__ E present(const E* p) {");
  out("  return p ? *p : E(0);\n}");
}

/// The text before a kernel's parameters. Where so many blocks of it are to be on a multiprocessor
/// at once, that is how many registers it has; else the compiler takes its choice.
inline std::string kernel_head(const std::string& name, int resident_blocks = 0) {
  return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads_of_a_block) +
         (resident_blocks > 0 ? ", " + std::to_string(resident_blocks) : "") + ") " + name + '(';
}

/// The kernel in which a thread writes `width` elements.
inline kernel written(const program& p, std::int64_t width) {
  const counter& c = p.count_in;
  lines out;
  write_preamble(c, out);
  out(p.functions);
  detail::write_functions(p, out);
  kernel k{.name = detail::at_index("v", static_cast<std::size_t>(width)), .table = p.table};
  const std::int64_t groups = (p.count + width - 1) / width;
  k.blocks = (groups + k.threads - 1) / k.threads;
  out(kernel_head(k.name), p.table ? "const __grid_constant__ table x, " : p.parameters, p.result,
      "* __restrict__ y) {");
  out("  const idx i = ((idx)blockIdx.x * ", c(k.threads), " + threadIdx.x)",
      width == 1 ? "" : " * " + c(width), ";");
  out("  if (i >= ", c(p.count), ") return;");
  if (width == 1) {
    out("  y[i] = ", detail::result_at(p, "i"), ";\n}");
    k.text = out.text();
    return k;
  }
  if (p.count % width != 0) {
    out("  if (i + ", c(width), " > ", c(p.count), ") {");
    out("    for (idx j = i; j < ", c(p.count), "; ++j) y[j] = ", detail::result_at(p, "j"), ";");
    out("    return;\n  }");
  }
  const std::string packed = "pack<" + p.result + ", " + std::to_string(width) + '>';
  std::string written = "a0";
  if (!p.alone.empty() || !p.combine.empty()) {
    std::string value = detail::result_at(p, "i + k");
    if (!p.combine.empty()) {
      value = "combined(";
      for (std::size_t r = 0; r < p.readings.size(); ++r) {
        detail::write_reading(p, r, width, out);
        value += (r == 0 ? "" : ", ") + detail::at_index("a", r) + ".at[k]";
      }
      value += ')';
    }
    out("  ", packed, " out;");
    out("#pragma unroll");
    out("  for (int k = 0; k < ", width, "; ++k) out.at[k] = ", value, ";");
    written = "out";
  } else {
    detail::write_reading(p, 0, width, out);
  }
  out("  *(", packed, "*)(y + i) = ", written, ";\n}");
  k.text = out.text();
  return k;
}

/// All widths in which a program is worth being written.
inline std::vector<kernel> all_widths(const program& p) {
  std::vector<kernel> out{written(p, 1)};
  std::int64_t last = 1;
  const std::int64_t widest = widest_access_bytes / p.element_bytes;
  for (const std::int64_t width : {std::min<std::int64_t>(4, widest), widest})
    if (width > last && width <= p.count) {
      out.push_back(written(p, width));
      last = width;
    }
  return out;
}

} // namespace benanza::backend::cuda::source
