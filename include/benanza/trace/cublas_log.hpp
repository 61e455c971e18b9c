// SPDX-License-Identifier: Apache-2.0
// What does a block of a cuBLAS log say (CUBLAS_LOGINFO_DBG=1)? A function with its prototype, a
// line for each argument, then time, thread and math mode. Products become layers; all else that
// computes is named.
//
//   I! cuBLAS (v13.1) function cublasStatus_t cublasSgemm_v2(cublasHandle_t, ...) called:
//   i!  transa: type=cublasOperation_t; val=CUBLAS_OP_T(1)
//
//   std::optional<call> c = read_cublas("cublasSgemm_v2", fields, "CUBLAS_DEFAULT_MATH");
#pragma once

#include "call.hpp"
#include "fields.hpp"
#include "product.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::trace {

namespace detail {
/// `cublasSgemm_v2_64` without what is behind the name.
inline std::string_view plain_function(std::string_view f) {
  for (std::string_view tail : {"_64", "_v2"})
    if (f.ends_with(tail)) f.remove_suffix(tail.size());
  return f;
}

/// True for functions that set up, ask, or copy to and from the host.
inline bool prepares(std::string_view rest) {
  for (std::string_view front : {"Create", "Destroy", "Set", "Get", "Logger", "Xerbla", "Migrate"})
    if (rest.starts_with(front)) return true;
  return false;
}

/// The element type that the letter before a routine's name means; empty: none.
inline std::string_view letter_type(char letter) {
  switch (letter) {
  case 'S': return "R_32F";
  case 'D': return "R_64F";
  case 'H': return "R_16F";
  default: return {};
  }
}

inline bool transposed(std::string_view operation) {
  return word(operation) != "CUBLAS_OP_N";
}

/// True for a stride between products that says that all of them take the same operand.
inline bool shared(const fields& f, std::string_view name) {
  return number(f.value(name)) == 0;
}
} // namespace detail

/// True for functions of cuBLAS that compute something.
inline bool cublas_computes(std::string_view function) {
  return function.starts_with("cublas") && !detail::prepares(function.substr(6));
}

/// The call that a block says; `mode` is the handle's math mode.
inline call read_cublas(std::string_view function, const fields& f, std::string_view mode) {
  const std::string_view name = detail::plain_function(function);
  const std::string_view rest = name.substr(6); // behind "cublas"
  call c{.from = library::cublas, .function = std::string(name)};
  const std::string_view compute = detail::without(word(f.value("computeType")), "CUBLAS_");
  mode = detail::without(word(mode), "CUBLAS_");
  c.math = compute;
  if (!mode.empty() && mode != "DEFAULT_MATH")
    c.math.append(c.math.empty() ? "" : " ").append(mode);
  c.algorithm = word(f.value("algo"));

  const bool vector = rest.find("gemv") != std::string_view::npos;
  if (rest.find("gemm") == std::string_view::npos && rest.find("Gemm") == std::string_view::npos &&
      !vector) {
    c.remark = "no product of matrices";
    return c;
  }
  const std::string_view typed = detail::letter_type(rest[0]);
  const auto type_of = [&](std::string_view argument) {
    const std::string_view said = detail::without(word(f.value(argument)), "CUDA_");
    return said.empty() ? typed : said;
  };
  const std::string_view a = type_of("Atype"), b = vector ? a : type_of("Btype");
  c.type = product_type(a, b, c.math);
  const auto size = [&](std::string_view argument, std::int64_t otherwise) {
    return number(f.value(argument)).value_or(otherwise);
  };
  product p{.m = size("m", 0),
            .n = size("n", 0),
            .k = size("k", 0),
            .transpose_a = detail::transposed(f.value(vector ? "trans" : "transa")),
            .transpose_b = !vector && detail::transposed(f.value("transb")),
            .batch = size("batchCount", 1),
            .one_a = detail::shared(f, "strideA"),
            .one_b = detail::shared(f, vector ? "stridex" : "strideB")};
  if (vector) { // y = op(A) x, with A of m rows and n columns
    if (p.transpose_a) std::swap(p.m, p.n);
    p.k = p.n;
    p.n = 1;
  }
  c.layer = product_layer(p);
  c.layout = transposes(p);
  if (!c.layer) c.remark = "a product whose sizes cannot be read, or of groups";
  return c;
}

} // namespace benanza::trace
