// SPDX-License-Identifier: Apache-2.0
// Rows of a table that is stored in ggml's blocks, as real numbers: the embedding of a language
// model in a GGUF file.
//
//   gather_ggml{.data = {32000, 2048}, .indices = {1, 1}, .format = ggml_format::q4_k}
//   key: 32000x2048-1x1-q4_k
#pragma once

#include "matmul_ggml.hpp"

namespace benanza::op {

struct gather_ggml {
  shape data{}; ///< rows and their length
  shape indices{};
  ggml_format format = ggml_format::f16;

  static constexpr std::optional<gather_ggml> of(std::string_view family) {
    return family == "GatherGgml" ? std::optional(gather_ggml{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "GatherGgml"; }

  template <class Archive>
  constexpr void fields(Archive& archive) {
    archive.dims("data", data);
    archive.dims("indices", indices);
    archive.word("format", "ggml_format", format, ggml_names);
  }

  constexpr void validate() const {
    if (data.size != 2 || data[0] < 1 || data[1] < 1) throw error("a table is no matrix");
    if (data[1] % block_of(format).weights != 0) throw error("a table's rows are no whole blocks");
    check_dims(data);
    check_dims(indices);
    check_dims(table());
    check_dims(output());
    (void)cost();
  }
  constexpr std::int64_t row_bytes() const {
    return data[1] / block_of(format).weights * block_of(format).bytes;
  }
  /// Bytes of the table.
  constexpr shape table() const { return {data[0], row_bytes()}; }
  constexpr shape output() const {
    shape out = indices;
    out.push(data[1]);
    return out;
  }
  constexpr shape index_bounds() const { return {data[0]}; }

  /// Only what is taken is read, and what is taken twice only once.
  constexpr work cost() const {
    work w;
    const std::int64_t taken = elements(indices);
    w.results = elements(output());
    w.fixed_bytes = checked_multiply(taken < data[0] ? taken : data[0], row_bytes()) + 8 * taken;
    w.other = w.results;
    return w;
  }
  constexpr gather_ggml canonical_form() const { return *this; }
  constexpr bool operator==(const gather_ggml&) const = default;
};

} // namespace benanza::op
