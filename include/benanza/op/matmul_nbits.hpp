// SPDX-License-Identifier: Apache-2.0
// A product with weights of a few bits (ONNX Runtime's MatMulNBits): codes of 4 or 8 bits in blocks
// along the length of the sum, each block of a column with a scale of its own, and perhaps a zero
// point. Weights are codes of columns: {n, blocks, bytes of a block}. Rows may be shared out to
// several such matrices, as a model's experts are, which then lie one behind the other.
//
//   matmul_nbits{.a = {1, 1, 2048}, .n = 5632, .block = 32}             key: 1x1x2048-n5632-k32
#pragma once

#include "experts.hpp"
#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

struct matmul_nbits {
  shape a{}; ///< rows of the sum's length
  std::int64_t n = 0;
  std::int64_t bits = 4;
  std::int64_t block = 0;   ///< codes that share a scale: a power of two of 16 or more
  bool zero_points = false; ///< else the middle of the codes is zero
  bool bias = false;
  std::int64_t experts = 1; ///< matrices of `n` columns each, which share the operand's rows

  static constexpr std::optional<matmul_nbits> of(std::string_view family) {
    return family == "MatMulNBits" ? std::optional(matmul_nbits{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "MatMulNBits"; }

  template <class Archive>
  constexpr void fields(Archive& archive) {
    archive.dims("a", a);
    archive.number("n", "n", n, 0, true);
    archive.number("bits", "q", bits, 4);
    archive.number("block", "k", block, 0, true);
    archive.flag("zero_points", "z", zero_points);
    archive.flag("bias", "b", bias);
    archive.number("experts", "e", experts, 1);
  }

  constexpr void validate() const {
    if (a.empty()) throw error("a product's first operand is a scalar");
    if (bits != 4 && bits != 8) throw error("a product's weights are codes of 4 or 8 bits");
    if (block < 16 || block > dim_limit || (block & (block - 1)) != 0)
      throw error("a product's blocks are a power of two, 16 or more");
    check_dims(a);
    check_dims({n, length()});
    if (n < 1 || length() < 1) throw error("a product's weights are empty");
    check_shares(shares());
    (void)checked_multiply(experts, rows());
    check_dims(codes());
    check_dims(output());
    (void)cost();
  }

  constexpr std::int64_t length() const { return a.back(); }
  constexpr std::int64_t rows() const { return elements(a, 0, a.size - 1); }
  constexpr std::int64_t blocks() const { return (length() + block - 1) / block; }
  constexpr numeric may_round_to() const { return numeric::u8s8u8; }
  constexpr row_shares shares() const { return {experts, rows()}; }
  /// Columns of all matrices.
  constexpr std::int64_t columns() const { return checked_multiply(experts, n); }
  constexpr shape codes() const { return {columns(), blocks(), block * bits / 8}; }
  constexpr shape scales() const { return {columns(), blocks()}; }
  /// Zero points of a column, packed as codes are.
  constexpr shape packed_zero_points() const { return {columns(), (blocks() * bits + 7) / 8}; }
  /// The product of one expert, of `its_rows` rows.
  constexpr matmul_nbits of_one(std::int64_t its_rows) const {
    matmul_nbits one = *this;
    one.a = {its_rows, length()};
    one.experts = 1;
    return one;
  }
  constexpr shape output() const {
    shape out = a;
    out[out.size - 1] = n;
    return out;
  }

  /// Codes are scaled once each, however many rows there are.
  constexpr work cost() const {
    work w;
    w.sources = elements(a);
    w.results = elements(output());
    w.macs = checked_multiply(w.results, length());
    w.other = bias ? w.results : 0;
    w.weights = elements(scales());
    if (bias) w.weights += columns();
    w.constant_fixed_bytes = elements(codes());
    if (zero_points) w.constant_fixed_bytes += elements(packed_zero_points());
    return w;
  }
  constexpr matmul_nbits canonical_form() const { return *this; }
  constexpr bool operator==(const matmul_nbits&) const = default;
};

} // namespace benanza::op
