// SPDX-License-Identifier: Apache-2.0
// How are an operand's elements stored in memory? Descriptors of plain, permuted, channels-last and
// channel-blocked operands, and the name of any descriptor as oneDNN's users write it.
//
//   layout_name(arranged({1, 64, 56, 56}, data_type::f32, arrangement::blocked), "nchw") ==
//   "nChw16c", or "nChw8c" where a vector has 8 floats
#pragma once

#include "operation.hpp"

#include <algorithm>
#include <numeric>

namespace benanza::backend::onednn {

/// The dims of a shape in the library's type.
template <int N>
dims to_dims(const list<N>& s) {
  return dims(s.begin(), s.end());
}

/// Strides of a dense operand whose last dim is innermost.
inline dims dense_strides(const dims& sizes) {
  dims strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
  return strides;
}

/// A dense operand in ONNX order.
inline description dense(const dims& sizes, data_type t) {
  return {sizes, t, dense_strides(sizes)};
}

/// An operand whose layout the library may choose.
inline description any_layout(const dims& sizes, data_type t) {
  return {sizes, t, dnnl::memory::format_tag::any};
}

/// Where a network's activations may keep their channels.
enum class arrangement { plain, channels_last, blocked };

/// Channels in a block of the library's kernels here: the floats of a vector.
inline std::int64_t channels_in_block() {
  static const std::int64_t channels =
      effective_instruction_set().find("avx512") != std::string::npos ||
              effective_instruction_set().find("avx10") != std::string::npos
          ? 16
          : 8;
  return channels;
}

/// An activation N x C x spatial in blocks of 8 or 16 channels, padded.
inline description in_blocks(const dims& sizes, data_type t, std::int64_t channels) {
  using tag = dnnl::memory::format_tag;
  static constexpr tag of8[] = {tag::nCw8c, tag::nChw8c, tag::nCdhw8c};
  static constexpr tag of16[] = {tag::nCw16c, tag::nChw16c, tag::nCdhw16c};
  return {sizes, t, (channels == 8 ? of8 : of16)[sizes.size() - 3]};
}

/// An activation N x C x spatial in that arrangement.
inline description arranged(const dims& sizes, data_type t, arrangement how) {
  using tag = dnnl::memory::format_tag;
  static constexpr tag last[] = {tag::nwc, tag::nhwc, tag::ndhwc};
  if (how == arrangement::plain) return dense(sizes, t);
  if (how == arrangement::blocked) return in_blocks(sizes, t, channels_in_block());
  return {sizes, t, last[sizes.size() - 3]};
}

/// Arrangements in which an activation of these dims is worth a listing of its own, the usual one
/// first: networks of eight bits keep channels last.
inline std::vector<arrangement> arrangements(const dims& sizes, bool floating, bool blocks = true) {
  if (sizes.size() < 3 || sizes.size() > 5 || sizes[1] == 1) return {arrangement::plain};
  if (!floating) return {arrangement::channels_last, arrangement::plain};
  if (sizes[1] % channels_in_block() != 0 || !blocks)
    return {arrangement::plain, arrangement::channels_last};
  return {arrangement::plain, arrangement::channels_last, arrangement::blocked};
}

/// Letters of an activation's dims.
inline std::string_view activation_letters(std::size_t rank) {
  return rank == 2   ? "nc"
         : rank == 3 ? "ncw"
         : rank == 4 ? "nchw"
         : rank == 5 ? "ncdhw"
                     : "abcdefghijkl";
}

/// Letters of a convolution's weights.
inline std::string_view weights_letters(std::size_t spatial, bool grouped) {
  static constexpr std::string_view names[] = {"goiw", "goihw", "goidhw"};
  return names[spatial - 1].substr(grouped ? 0 : 1);
}

/// The layout's name: dims from the outermost to the innermost, capital where blocks of them
/// follow.
inline std::string layout_name(const description& d, std::string_view letters) {
  const anatomy a(d);
  if (a.any) return "any";
  if (!a.plain) return a.opaque;
  std::vector<std::size_t> order(static_cast<std::size_t>(a.rank));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return a.strides[x] > a.strides[y]; });
  std::string text;
  for (const std::size_t i : order) {
    const bool blocked = std::find(a.block_dims.begin(), a.block_dims.end(),
                                   static_cast<std::int64_t>(i)) != a.block_dims.end();
    const char c = i < letters.size() ? letters[i] : '?';
    text += blocked ? static_cast<char>(c - 'a' + 'A') : c;
  }
  for (std::size_t i = 0; i < a.block_dims.size(); ++i) {
    text += std::to_string(a.block_sizes[i]);
    const auto at = static_cast<std::size_t>(a.block_dims[i]);
    text += at < letters.size() ? letters[at] : '?';
  }
  return text;
}

} // namespace benanza::backend::onednn
