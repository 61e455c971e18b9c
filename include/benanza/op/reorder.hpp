// SPDX-License-Identifier: Apache-2.0
// A change of layout: the same tensor, laid out another way in memory. No ONNX operator; it is
// between two layers whose algorithms want different layouts.
//
//   reorder{.input = {1, 64, 56, 56}, .from = layout::plain, .to = layout::blocked16}
//   family reorder, key 1x64x56x56-plain-blocked16
#pragma once

#include "../core/layout.hpp"
#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

struct reorder {
  shape input{};
  layout from = layout::plain, to = layout::plain;
  dtype element = dtype::real;

  static constexpr std::optional<reorder> of(std::string_view family) {
    return family == "reorder" ? std::optional(reorder{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "reorder"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.word("from", "layout", from, layout_names);
    a.word("to", "layout", to, layout_names);
    a.element("element", element);
  }
  constexpr void validate() const {
    if (input.size < 3 || input.size > 5) throw error("a reorder takes 3 to 5 dims");
    if (from == to) throw error("a reorder changes the layout");
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  /// Blocks are written whole: channels are padded to them.
  constexpr work cost() const { return moved(element, padded(from), padded(to)); }
  constexpr reorder canonical_form() const { return *this; }
  constexpr bool operator==(const reorder&) const = default;

private:
  constexpr std::int64_t padded(layout l) const {
    const std::int64_t block = l == layout::blocked8 ? 8 : l == layout::blocked16 ? 16 : 1;
    shape s = input;
    s[1] = (s[1] + block - 1) / block * block;
    return elements(s);
  }
};

} // namespace benanza::op
