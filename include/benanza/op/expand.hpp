// SPDX-License-Identifier: Apache-2.0
// A tensor repeated along some of its dims: each of one element again and again (ONNX Expand), or
// the whole of it several times (Tile).
//
//   expand{.input = {1, 8, 1, 64}, .sizes = {2, 8, 4, 64}}           key: 1x8x1x64-2x8x4x64
//   expand{.input = {2, 3}, .sizes = {4, 9}, .tile = true}           key: 2x3-4x9
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

struct expand {
  shape input{};
  shape sizes{}; ///< the output's dims
  dtype element = dtype::real;
  bool tile = false; ///< Tile

  static constexpr std::optional<expand> of(std::string_view family) {
    if (family == "Expand") return expand{};
    if (family == "Tile") return expand{.tile = true};
    return std::nullopt;
  }
  constexpr std::string_view family() const { return tile ? "Tile" : "Expand"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.dims("sizes", sizes);
    a.element("element", element);
  }
  constexpr void validate() const {
    check_dims(input);
    check_dims(sizes);
    if (tile) {
      if (sizes.size != input.size) throw error("a Tile names another number of dims than it has");
      for (int i = 0; i < input.size; ++i)
        if (input[i] == 0 ? sizes[i] != 0 : sizes[i] % input[i] != 0)
          throw error("a Tile gives no multiple of its input");
    } else if (!(broadcast(input, sizes) == sizes)) {
      throw error("an Expand's input does not broadcast to its result");
    }
    (void)cost();
  }
  constexpr shape output() const { return sizes; }
  /// The element of dim `i` of the input that is at `place` of the same dim of the output.
  constexpr std::int64_t taken(int i, std::int64_t place) const {
    return input[i] == 1 ? 0 : place % input[i];
  }
  constexpr work cost() const {
    const std::int64_t out = elements(sizes), in = elements(input);
    return moved(element, out == 0 ? 0 : in, out);
  }
  constexpr expand canonical_form() const { return *this; }
  constexpr bool operator==(const expand&) const = default;
};

} // namespace benanza::op
