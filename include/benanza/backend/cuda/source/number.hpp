// SPDX-License-Identifier: Apache-2.0
// In which types do kernels hold and compute elements? Movers take unsigned words of the element's
// width. Others compute narrow floats and codes of quantised values in f32, whole numbers in 64
// bits. f16 is converted by the GPU's instructions, bf16 by shifts; quantised results are scaled,
// rounded to even and saturated.
//
//   arithmetic a = *arithmetic_of(dtype::bf16);   a.stored == "unsigned short"
#pragma once

#include "../../../core/dtype.hpp"
#include "text.hpp"

#include <cstdio>
#include <optional>

namespace benanza::backend::cuda::source {

/// The word that movers take for an element of so many bytes.
inline std::string word_of(std::int64_t bytes) {
  return bytes == 1   ? "unsigned char"
         : bytes == 2 ? "unsigned short"
         : bytes == 4 ? "unsigned int"
                      : "unsigned long long";
}

/// How a type is computed with.
struct arithmetic {
  std::string stored{}, computed{}; ///< types in C
  std::string functions{};          ///< `load` of what is stored, `store` of what was computed
  bool whole = false;
  std::string suffix{}; ///< of the mathematical functions: "f" for f32
};

/// A number of f32 or f64 as the text has it.
inline std::string literal(double v, const arithmetic& a) {
  char text[40];
  std::snprintf(text, sizeof text, a.suffix.empty() ? "%.17g" : "%.9g", v);
  std::string out = text;
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out + a.suffix;
}

/// `from_half` and `to_half`, once in a text.
inline std::string half_functions() {
  const std::string head = "static __device__ __forceinline__ ";
  return "#if defined(__CUDACC__) && !defined(HALVES)\n#define HALVES\n" + head +
         "float from_half(unsigned short h) {\n  float f;\n"
         "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(h));\n  return f;\n}\n" +
         head +
         "unsigned short to_half(float f) {\n  unsigned short h;\n"
         "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(f));\n  return h;\n}\n"
         "#endif\n";
}

/// The arithmetic of a type; `scale` is what quantised results are multiplied with before they are
/// rounded (1: nothing). Nothing for types that kernels cannot compute with.
inline std::optional<arithmetic> arithmetic_of(dtype type, double scale = 1) {
  const std::string head = "static __device__ __forceinline__ ";
  const auto made = [&](std::string stored, std::string computed, const std::string& load,
                        const std::string& store) {
    arithmetic a{.stored = std::move(stored), .computed = std::move(computed)};
    a.whole = a.computed == "long long";
    a.suffix = a.computed == "float" ? "f" : "";
    a.functions = head + a.computed + " load(" + a.stored + " v) { return " + load + "; }\n" +
                  head + a.stored + " store(" + a.computed + " v) { return " + store + "; }\n";
    return a;
  };
  const auto whole = [&](std::string stored) {
    const std::string back = '(' + stored + ")v";
    return made(std::move(stored), "long long", "v", back);
  };
  const auto code = [&](const char* stored, const char* low, const char* high) {
    const arithmetic f32{.suffix = "f"};
    const std::string v = scale == 1 ? "v" : "v * " + literal(scale, f32);
    return made(stored, "float", "(float)v",
                std::string("(") + stored + ")fminf(fmaxf(rintf(" + v + "), " + low + "), " + high +
                    ")");
  };
  switch (type) {
  case dtype::f32: return made("float", "float", "v", "v");
  case dtype::f64: return made("double", "double", "v", "v");
  case dtype::f16: {
    arithmetic a = made("unsigned short", "float", "from_half(v)", "to_half(v)");
    a.functions = half_functions() + a.functions;
    return a;
  }
  case dtype::bf16: {
    arithmetic a =
        made("unsigned short", "float", "from_bits((unsigned int)v << 16)", "nearest(v)");
    a.functions =
        "union bits { unsigned int word; float value; };\n" + head +
        "float from_bits(unsigned int w) {\n  bits b;\n  b.word = w;\n"
        "  return b.value;\n}\n" +
        head +
        "unsigned short nearest(float v) {\n  bits b;\n  b.value = v;\n"
        "  if (v != v) return (unsigned short)((b.word | 0x400000u) >> 16);\n"
        "  return (unsigned short)((b.word + 0x7fffu + (b.word >> 16 & 1u)) >> 16);\n}\n" +
        a.functions;
    return a;
  }
  case dtype::s8: return code("signed char", "-128.0f", "127.0f");
  case dtype::u8: return code("unsigned char", "0.0f", "255.0f");
  case dtype::s32: return whole("int");
  case dtype::s64: return whole("long long");
  case dtype::boolean: return made("unsigned char", "long long", "v != 0", "v != 0");
  default: return std::nullopt;
  }
}

} // namespace benanza::backend::cuda::source
