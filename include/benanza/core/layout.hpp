// SPDX-License-Identifier: Apache-2.0
// How may a tensor N x C x spatial lie in memory so that layers of any library can hand it on? In
// ONNX order, with channels last, or in blocks of 8 or 16 channels (padded to whole blocks). Texts
// name them as results do; `any` stands for an algorithm that takes whatever its operands share.
//
//   name(layout::blocked16) == "blocked16";   letters(layout::channels_last, 4) == "nhwc"
#pragma once

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

/// The token of a layout.
constexpr std::string_view name(layout l) {
  constexpr std::string_view names[] = {"plain", "channels_last", "blocked8", "blocked16"};
  return names[static_cast<int>(l)];
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

} // namespace benanza
