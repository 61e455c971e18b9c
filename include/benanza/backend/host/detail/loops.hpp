// SPDX-License-Identifier: Apache-2.0
// Which loops does a kernel need? `loops<N>` holds dims with the strides of N operands, simplified:
// no dims of one, neighbours joined wherever every operand walks them as one. `walker` steps
// through the outer dims and keeps each operand's offset.
//
//   loops<2> l;  l.push(64, {196, 196});  l.push(196, {1, 1});  l.simplify();  // one dim of 12544
#pragma once

#include "../../../core/shape.hpp"

#include <array>

namespace benanza::backend::host::detail {

/// Nested loops, outermost first, with a stride in elements for each operand.
template <int N>
struct loops {
  int rank = 0;
  std::int64_t size[9]{};
  std::array<std::int64_t, N> stride[9]{};

  void push(std::int64_t n, std::array<std::int64_t, N> strides) {
    size[rank] = n;
    stride[rank++] = strides;
  }

  /// Drops dims of one and joins neighbours that all operands walk as one.
  void simplify() {
    int kept = 0;
    for (int i = 0; i < rank; ++i) {
      if (size[i] == 1) continue;
      bool joins = kept > 0;
      for (int k = 0; joins && k < N; ++k) {
        const auto at = static_cast<std::size_t>(k);
        joins = stride[kept - 1][at] == stride[i][at] * size[i];
      }
      if (joins) {
        size[kept - 1] *= size[i];
        stride[kept - 1] = stride[i];
      } else {
        size[kept] = size[i];
        stride[kept++] = stride[i];
      }
    }
    rank = kept;
  }

  /// Puts dims of one before the others until there are `wanted`.
  void widen(int wanted) {
    for (; rank < wanted; ++rank) {
      for (int i = rank; i > 0; --i)
        size[i] = size[i - 1], stride[i] = stride[i - 1];
      size[0] = 1;
      stride[0] = {};
    }
  }

  std::int64_t count(int first, int last) const {
    std::int64_t n = 1;
    for (int i = first; i < last; ++i)
      n *= size[i];
    return n;
  }
};

/// A place in the first `dims` dims of some loops, and the offsets of the operands there.
template <int N>
class walker {
public:
  walker(const loops<N>& l, int dims, std::int64_t start)
      : loops_(l)
      , dims_(dims) {
    for (int i = dims - 1; i >= 0; --i) {
      place_[i] = start % l.size[i];
      start /= l.size[i];
      for (std::size_t k = 0; k < N; ++k)
        at[k] += place_[i] * l.stride[i][k];
    }
  }
  void next() {
    for (int i = dims_ - 1; i >= 0; --i) {
      for (std::size_t k = 0; k < N; ++k)
        at[k] += loops_.stride[i][k];
      if (++place_[i] < loops_.size[i]) return;
      for (std::size_t k = 0; k < N; ++k)
        at[k] -= loops_.stride[i][k] * loops_.size[i];
      place_[i] = 0;
    }
  }
  std::int64_t place(int i) const { return place_[i]; }

  std::array<std::int64_t, N> at{};

private:
  const loops<N>& loops_;
  int dims_;
  std::int64_t place_[9]{};
};

/// Strides with which a tensor of `dims` is read when broadcast to `rank` dims: 0 along dims of
/// one.
inline shape broadcast_strides(const shape& dims, int rank) {
  const shape own = packed(dims);
  shape s = shape::filled(rank - dims.size, 0);
  for (int i = 0; i < dims.size; ++i)
    s.push(dims[i] == 1 ? 0 : own[i]);
  return s;
}

} // namespace benanza::backend::host::detail
