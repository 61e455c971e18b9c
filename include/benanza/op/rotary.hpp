// SPDX-License-Identifier: Apache-2.0
// Rotary embedding (ONNX RotaryEmbedding-23): pairs of numbers of a head are turned by angles that
// depend on the place in the sequence. A pair is a number of the first half and one of the second,
// or two neighbours (`interleaved`). Cosines and sines are given for each place, the same for all
// batches or each its own; or places name rows of a `table`. Models that write it in pieces give
// them for both numbers of a pair (`wide`). Operands are batch x heads x sequence x size, or with
// `sequence_major` batch x sequence x (heads x size).
//
//   rotary{.sizes = {1, 32, 128, 64}, .table = 2048, .sequence_major = true}
//                                                                 key: 1x32x128x64-t2048-bshd
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <algorithm>
#include <optional>

namespace benanza::op {

struct rotary {
  shape sizes{};            ///< batch, heads, sequence, and size of a head
  std::int64_t rotated = 0; ///< the first so many of a head are turned; 0: all
  bool interleaved = false; ///< neighbours are turned together
  std::int64_t table = 0;   ///< rows of cosines and sines, of which places name one; 0: no places
  bool own_places = false;  ///< each batch has cosines and sines of its own
  bool wide = false;        ///< a cosine and a sine for each number, not for each pair
  bool sequence_major = false; ///< the sequence comes before the heads

  static constexpr std::optional<rotary> of(std::string_view family) {
    return family == "RotaryEmbedding" ? std::optional(rotary{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "RotaryEmbedding"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("sizes", sizes);
    a.number("rotated", "r", rotated, 0);
    a.flag("interleaved", "interleaved", interleaved);
    a.number("table", "t", table, 0);
    a.flag("own_places", "own", own_places);
    a.flag("wide", "wide", wide);
    a.flag("sequence_major", "bshd", sequence_major);
  }

  constexpr void validate() const {
    if (sizes.size != 4)
      throw error("a rotary embedding takes batch, heads, sequence and size of a head");
    for (std::int64_t n : sizes)
      if (n < 1 || n > dim_limit)
        throw error("a rotary embedding takes batch, heads and sizes of 1 to 2^40");
    if (rotated < 0 || rotated > size() || turned() % 2 != 0)
      throw error("a rotary embedding turns pairs of a head");
    if (table < 0 || table > dim_limit || (table > 0 && own_places))
      throw error("a rotary embedding's table is negative or over 2^40, or not shared");
    check_dims(output());
    (void)cost();
  }

  constexpr std::int64_t batch() const { return sizes[0]; }
  constexpr std::int64_t heads() const { return sizes[1]; }
  constexpr std::int64_t length() const { return sizes[2]; }
  constexpr std::int64_t size() const { return sizes[3]; }
  /// Numbers of a head that are turned.
  constexpr std::int64_t turned() const { return rotated == 0 ? size() : rotated; }

  constexpr shape output() const {
    return sequence_major ? shape{batch(), length(), checked_multiply(heads(), size())} : sizes;
  }
  /// Cosines of one place, and sines.
  constexpr std::int64_t angle_size() const { return wide ? turned() : turned() / 2; }
  /// Dims of the cosines, and of the sines.
  constexpr shape angles() const {
    if (table > 0) return {table, angle_size()};
    return {own_places ? batch() : 1, length(), angle_size()};
  }

  /// What places may not reach.
  constexpr shape index_bounds() const { return table > 0 ? shape{table} : shape{}; }

  /// Four products and two sums for each pair; of a table the rows that are named.
  constexpr work cost() const {
    work w;
    w.results = elements(output());
    w.other = checked_multiply(checked_multiply(batch(), heads()),
                               checked_multiply(length(), 3 * turned()));
    const std::int64_t places = checked_multiply(batch(), length());
    const std::int64_t rows = table > 0 ? std::min(table, places) : elements(angles(), 0, 2);
    w.sources = w.results + checked_multiply(rows, 2 * angle_size());
    if (table > 0) w.fixed_bytes = checked_multiply(places, size_bytes(dtype::s64));
    return w;
  }

  constexpr rotary canonical_form() const {
    rotary p = *this;
    if (rotated == size()) p.rotated = 0;
    if (batch() == 1) p.own_places = false;
    if (turned() == 2) p.interleaved = false;
    if (heads() == 1 || length() == 1) p.sequence_major = false;
    return p;
  }
  constexpr bool operator==(const rotary&) const = default;
};

} // namespace benanza::op
