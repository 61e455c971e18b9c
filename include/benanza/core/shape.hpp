// SPDX-License-Identifier: Apache-2.0
// How large is a tensor? `list<N>` is a short, structural list of whole numbers, so that it can be
// part of a template argument; `shape` is a list of up to eight dims, outermost first.
// Dims reach up to 2^40 and counts up to 2^56, so that sums of flops and of bytes fit 64 bits: what
// is larger is an error, never a negative count.
//
//   constexpr shape s{1, 64, 56, 56};   elements(s) == 200704;   s[1] == 64
#pragma once

#include "error.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

namespace benanza {

/// A short list of whole numbers; structural, so it can be part of a template argument.
template <int Capacity>
struct list {
  std::int64_t at[Capacity]{};
  int size = 0;

  constexpr list() = default;
  constexpr list(std::initializer_list<std::int64_t> values) {
    for (std::int64_t v : values)
      push(v);
  }
  /// `count` times the same value.
  static constexpr list filled(int count, std::int64_t value) {
    list out;
    for (int i = 0; i < count; ++i)
      out.push(value);
    return out;
  }

  constexpr void push(std::int64_t v) {
    if (size >= Capacity)
      throw error("a list is longer than the layer's parameters can hold", "",
                  std::string("at most ")
                      .append(std::to_string(Capacity))
                      .append(" entries are supported"));
    at[size++] = v;
  }
  constexpr std::int64_t operator[](int i) const { return at[i]; }
  constexpr std::int64_t& operator[](int i) { return at[i]; }
  constexpr const std::int64_t* begin() const { return at; }
  constexpr const std::int64_t* end() const { return at + size; }
  constexpr std::int64_t back() const { return at[size - 1]; }
  constexpr bool empty() const { return size == 0; }

  /// True if every entry equals `value` (also for an empty list).
  constexpr bool all(std::int64_t value) const {
    for (std::int64_t v : *this)
      if (v != value) return false;
    return true;
  }

  constexpr bool operator==(const list& o) const {
    if (size != o.size) return false;
    for (int i = 0; i < size; ++i)
      if (at[i] != o.at[i]) return false;
    return true;
  }
};

/// Dims of a tensor, outermost first; at most eight.
using shape = list<8>;
/// One value for each spatial dim; at most three.
using extents = list<3>;
/// Begin and end values in ONNX order (all begins, then all ends) for spatial dims; at most six.
using paddings = list<6>;

/// a + b for sums of counts: what passes 64 bits stays at the most that they hold.
constexpr std::int64_t capped_add(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return b > most - a ? most : a + b;
}

/// a * b for counts, capped in the same way.
constexpr std::int64_t capped_multiply(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return a != 0 && b > most / a ? most : a * b;
}

/// Distances in elements between neighbours along each dim, where the last dim's are adjacent.
constexpr shape packed(const shape& dims) {
  shape strides = dims;
  std::int64_t step = 1;
  for (int i = dims.size - 1; i >= 0; --i) {
    strides[i] = step;
    step = capped_multiply(step, dims[i]); // next to a dim of 0 others may be of any size
  }
  return strides;
}

inline constexpr std::int64_t dim_limit = std::int64_t{1} << 40;
inline constexpr std::int64_t count_limit = std::int64_t{1} << 56;

/// a * b for counts; an error where it passes 2^56.
constexpr std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) throw error("a size is negative");
  if (a != 0 && b > count_limit / a) throw error("a size passes 2^56");
  return a * b;
}

/// Refuses dims that are negative or over 2^40.
constexpr void check_dims(const shape& s) {
  for (std::int64_t d : s)
    if (d < 0 || d > dim_limit) throw error("a dim is negative or over 2^40");
}

/// Product of the dims in [first, last); 0 if one of them is, however large the others are.
constexpr std::int64_t elements(const shape& s, int first, int last) {
  std::int64_t n = 1;
  for (int i = first; i < last; ++i) {
    if (s[i] < 0) throw error("a size is negative");
    if (s[i] == 0) n = 0;
  }
  for (int i = first; n != 0 && i < last; ++i)
    n = checked_multiply(n, s[i]);
  return n;
}

/// Number of elements of a tensor of these dims (1 for a scalar).
constexpr std::int64_t elements(const shape& s) {
  return elements(s, 0, s.size);
}

/// The shape that `a` and `b` broadcast to (NumPy's rule); an error where they do not fit.
constexpr shape broadcast(const shape& a, const shape& b) {
  const int rank = a.size > b.size ? a.size : b.size;
  shape out = shape::filled(rank, 1);
  for (int i = 0; i < rank; ++i) {
    const std::int64_t da = i < rank - a.size ? 1 : a[i - (rank - a.size)];
    const std::int64_t db = i < rank - b.size ? 1 : b[i - (rank - b.size)];
    if (da != db && da != 1 && db != 1) throw error("two shapes do not broadcast");
    out[i] = da == 1 ? db : da;
  }
  return out;
}

/// `s` with dims of one put before it until it has `rank` dims.
constexpr shape expanded(const shape& s, int rank) {
  shape out = shape::filled(rank > s.size ? rank - s.size : 0, 1);
  for (std::int64_t d : s)
    out.push(d);
  return out;
}

} // namespace benanza
