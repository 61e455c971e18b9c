// SPDX-License-Identifier: Apache-2.0
// How may a tensor N x C x spatial be stored so that layers of any library can hand it on? In ONNX
// order, with channels last, or in blocks of 8 or 16 channels (padded to whole blocks). Texts name
// them as results do; `any` is for an algorithm that takes whatever its operands share.
//
//   name(layout::blocked16) == "blocked16";   letters(layout::channels_last, 4) == "nhwc"
#pragma once

#include "shape.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza {

/// A layout that producers and consumers of a tensor can agree on.
enum class layout : std::uint8_t { plain, channels_last, blocked8, blocked16 };

inline constexpr layout all_layouts[] = {layout::plain, layout::channels_last, layout::blocked8,
                                         layout::blocked16};

/// What an algorithm says that keeps the layout of its operands.
inline constexpr std::string_view any_layout_name = "any";

/// The tokens of the layouts, in their order.
inline constexpr std::string_view layout_names[] = {"plain", "channels_last", "blocked8",
                                                    "blocked16"};

/// The token of a layout.
constexpr std::string_view name(layout l) {
  return layout_names[static_cast<int>(l)];
}

/// The layout of that token, if there is one.
constexpr std::optional<layout> parse_layout(std::string_view text) {
  for (layout l : all_layouts)
    if (name(l) == text) return l;
  return std::nullopt;
}

/// The name that libraries give to a layout of a tensor of rank 3 to 5; empty for other ranks.
constexpr std::string_view letters(layout l, int rank) {
  constexpr std::string_view names[4][3] = {{"ncw", "nchw", "ncdhw"},
                                            {"nwc", "nhwc", "ndhwc"},
                                            {"nCw8c", "nChw8c", "nCdhw8c"},
                                            {"nCw16c", "nChw16c", "nCdhw16c"}};
  return rank < 3 || rank > 5 ? std::string_view{} : names[static_cast<int>(l)][rank - 3];
}

/// True if a tensor of those dims is the same memory in both layouts.
constexpr bool same_memory(layout a, layout b, const shape& dims) {
  if (a == b || dims.size < 3) return true;
  const std::int64_t channels = dims[1], plane = elements(dims, 2, dims.size);
  const auto block = [](layout l) {
    return l == layout::blocked8 ? 8 : l == layout::blocked16 ? 16 : 0;
  };
  const int of_a = block(a), of_b = block(b);
  if (of_a == 0 && of_b == 0) return channels == 1 || plane == 1;
  if ((of_a != 0 && channels % of_a != 0) || (of_b != 0 && channels % of_b != 0)) return false;
  if (plane == 1) return true;
  const bool last = a == layout::channels_last || b == layout::channels_last;
  return last && channels == of_a + of_b;
}

/// True if the layout holds the tensor's elements and nothing else: blocks are full. Only then can
/// an algorithm take it that goes through memory element by element.
constexpr bool dense(layout l, const shape& dims) {
  const int block = l == layout::blocked8 ? 8 : l == layout::blocked16 ? 16 : 1;
  return dims.size < 3 || dims[1] % block == 0;
}

/// Strides of N x C x spatial with the channels last.
inline shape channels_last(const shape& dims) {
  shape s = dims;
  std::int64_t step = 1;
  s[1] = step;
  step *= dims[1];
  for (int i = dims.size - 1; i >= 2; --i) {
    s[i] = step;
    step *= dims[i];
  }
  s[0] = step;
  return s;
}

} // namespace benanza
