// SPDX-License-Identifier: Apache-2.0
// A product with weights as ggml stores them in GGUF files: rows of blocks, each with codes of few
// bits and what scales them. A row of weights makes a column of the result. Rows may be shared out
// to several such matrices, as a model's experts are, which then lie one behind the other.
//
//   matmul_ggml{.a = {1, 1, 2048}, .n = 5632, .format = ggml_format::q4_k}
//   key: 1x1x2048-n5632-q4_k
#pragma once

#include "experts.hpp"
#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

/// The order is that of `ggml_names`.
enum class ggml_format : std::uint8_t {
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4
};
inline constexpr std::string_view ggml_names[] = {"f16",    "bf16",   "q4_0", "q4_1", "q5_0",
                                                  "q5_1",   "q8_0",   "q4_k", "q5_k", "q6_k",
                                                  "iq4_nl", "iq4_xs", "mxfp4"};

/// Weights in a block, and the bytes that it takes.
struct ggml_block {
  std::int64_t weights = 0, bytes = 0;
};
constexpr ggml_block block_of(ggml_format f) {
  constexpr ggml_block blocks[] = {{1, 2},   {1, 2},     {32, 18},   {32, 20},   {32, 22},
                                   {32, 24}, {32, 34},   {256, 144}, {256, 176}, {256, 210},
                                   {32, 18}, {256, 136}, {32, 17}};
  return blocks[static_cast<int>(f)];
}

struct matmul_ggml {
  shape a{}; ///< rows of the sum's length
  std::int64_t n = 0;
  ggml_format format = ggml_format::f16;
  std::int64_t experts = 1; ///< matrices of `n` rows each, which share the operand's rows

  static constexpr std::optional<matmul_ggml> of(std::string_view family) {
    return family == "MatMulGgml" ? std::optional(matmul_ggml{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "MatMulGgml"; }

  template <class Archive>
  constexpr void fields(Archive& archive) {
    archive.dims("a", a);
    archive.number("n", "n", n, 0, true);
    archive.word("format", "ggml_format", format, ggml_names);
    archive.number("experts", "e", experts, 1);
  }

  constexpr void validate() const {
    if (a.empty()) throw error("a product's first operand is a scalar");
    check_dims(a);
    check_dims({n, length()});
    if (n < 1 || length() < 1) throw error("a product's weights are empty");
    check_shares(shares());
    if (length() % block_of(format).weights != 0)
      throw error("a product's rows of weights are no whole blocks");
    (void)checked_multiply(experts, rows());
    check_dims(weights());
    check_dims(output());
    (void)cost();
  }

  constexpr std::int64_t length() const { return a.back(); }
  constexpr std::int64_t rows() const { return elements(a, 0, a.size - 1); }
  constexpr std::int64_t blocks() const { return length() / block_of(format).weights; }
  /// Bytes of the weights, a row of them for each column of the result.
  constexpr shape weights() const {
    return {checked_multiply(experts, n), checked_multiply(blocks(), block_of(format).bytes)};
  }
  constexpr row_shares shares() const { return {experts, rows()}; }
  /// The product of one expert, of `its_rows` rows.
  constexpr matmul_ggml of_one(std::int64_t its_rows) const {
    return {.a = {its_rows, length()}, .n = n, .format = format};
  }
  constexpr shape output() const {
    shape out = a;
    out[out.size - 1] = n;
    return out;
  }

  constexpr numeric may_round_to() const {
    return format == ggml_format::f16    ? numeric::f16
           : format == ggml_format::bf16 ? numeric::bf16
                                         : numeric::u8s8u8;
  }

  /// Codes are scaled once each, however many rows there are.
  constexpr work cost() const {
    work w;
    w.sources = elements(a);
    w.results = elements(output());
    w.macs = checked_multiply(w.results, length());
    w.constant_fixed_bytes = elements(weights());
    return w;
  }
  constexpr matmul_ggml canonical_form() const { return *this; }
  constexpr bool operator==(const matmul_ggml&) const = default;
};

} // namespace benanza::op
