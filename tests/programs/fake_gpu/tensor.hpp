// SPDX-License-Identifier: Apache-2.0
// What are the elements of a tensor somewhere in memory with strides, in whatever type? Numbers in
// f64, in the order of the dims; and back. Tensors between two operations are such numbers only.
//
//   facts f = facts_of(bag);   dense x = load(f, bytes);   store(f, x, bytes);
#pragma once

#include "bag.hpp"

#include <benanza/backend/number.hpp>

#include <array>
#include <numeric>

namespace fake {

using dims = std::vector<std::int64_t>;

inline std::int64_t product(const dims& d) {
  return std::accumulate(d.begin(), d.end(), std::int64_t{1}, std::multiplies<>());
}

/// Calls `f` with each index below `d`, the last one fastest, and its number.
template <class F>
void each_index(const dims& d, F&& f) {
  const std::int64_t count = product(d);
  dims at(d.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    f(std::as_const(at), i);
    for (std::size_t k = d.size(); k-- > 0;) {
      if (++at[k] < d[k]) break;
      at[k] = 0;
    }
  }
}

/// A tensor's numbers in the order of its dims.
struct dense {
  dims size{};
  std::vector<double> at{};

  explicit dense(dims d = {})
      : size(std::move(d))
      , at(static_cast<std::size_t>(product(size)), 0.0) {}
  double& operator[](std::int64_t i) { return at[static_cast<std::size_t>(i)]; }
  double operator[](std::int64_t i) const { return at[static_cast<std::size_t>(i)]; }
};

/// What a tensor descriptor says.
struct facts {
  std::int64_t id = 0;
  dims size{}, strides{};
  benanza::dtype type = benanza::dtype::f32;
  bool is_virtual = false, by_value = false;
  std::int64_t alignment = 1;
  std::int64_t vector = 1; ///< so many of the second dim are one element of the strides

  std::int64_t bytes() const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < size.size(); ++i)
      last += ((i == 1 ? size[i] / vector : size[i]) - 1) * strides[i];
    return (last + 1) * vector * benanza::size_bytes(type);
  }
};

inline benanza::dtype type_of(cudnnDataType_t t) {
  using benanza::dtype;
  switch (t) {
  case CUDNN_DATA_FLOAT: return dtype::f32;
  case CUDNN_DATA_DOUBLE: return dtype::f64;
  case CUDNN_DATA_HALF: return dtype::f16;
  case CUDNN_DATA_BFLOAT16: return dtype::bf16;
  case CUDNN_DATA_INT8: return dtype::s8;
  case CUDNN_DATA_UINT8: return dtype::u8;
  case CUDNN_DATA_INT32: return dtype::s32;
  case CUDNN_DATA_INT64: return dtype::s64;
  case CUDNN_DATA_BOOLEAN: return dtype::boolean;
  case CUDNN_DATA_FP8_E4M3: return dtype::e4m3;
  case CUDNN_DATA_FP8_E5M2: return dtype::e5m2;
  default: throw not_understood("data type " + std::to_string(t));
  }
}

inline facts facts_of(const bag& b) {
  facts f{.id = b.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0),
          .size = b.numbers(CUDNN_ATTR_TENSOR_DIMENSIONS),
          .strides = b.numbers(CUDNN_ATTR_TENSOR_STRIDES),
          .type = type_of(b.one(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT)),
          .is_virtual = b.one(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false),
          .by_value = b.one(CUDNN_ATTR_TENSOR_IS_BY_VALUE, false),
          .alignment = b.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1)};
  if (f.size.size() != f.strides.size()) throw not_understood("a tensor without strides");
  return f;
}

/// Calls `f` with the number of each element and its place in memory.
template <class F>
void each_place(const facts& t, F&& f) {
  if (t.vector > 1)
    return each_index(t.size, [&](const dims& at, std::int64_t i) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < at.size(); ++d)
        place += (d == 1 ? at[d] / t.vector : at[d]) * t.strides[d];
      f(i, place * t.vector + at[1] % t.vector);
    });
  const dims rows(t.size.begin(), t.size.end() - (t.size.empty() ? 0 : 1));
  const std::int64_t columns = t.size.empty() ? 1 : t.size.back(),
                     step = t.size.empty() ? 0 : t.strides.back();
  each_index(rows, [&](const dims& at, std::int64_t row) {
    const std::int64_t first =
        std::inner_product(at.begin(), at.end(), t.strides.begin(), std::int64_t{0});
    for (std::int64_t i = 0; i < columns; ++i)
      f(row * columns + i, first + i * step);
  });
}

/// The numbers of all codes of a type of 16 bits, which are looked up: there are many elements.
template <class Element>
const std::vector<double>& numbers_of_codes() {
  static const std::vector<double> all = [] {
    std::vector<double> out(1 << 16);
    for (std::size_t code = 0; code < out.size(); ++code)
      out[code] = Element::load(static_cast<typename Element::storage>(code));
    return out;
  }();
  return all;
}

/// Calls `f` with what gives the number at a place among elements of a type.
template <class F>
void with_numbers(benanza::dtype type, const std::byte* bytes, F&& f) {
  benanza::backend::with_element(type, [&](auto e) {
    using element = decltype(e);
    const auto* const from = reinterpret_cast<const typename element::storage*>(bytes);
    if constexpr (std::is_same_v<typename element::storage, std::uint16_t>)
      f([from, known = numbers_of_codes<element>().data()](std::int64_t place) {
        return known[from[place]];
      });
    else
      f([from](std::int64_t place) { return element::load(from[place]); });
  });
}

inline dense load(const facts& t, const std::byte* bytes) {
  dense out(t.size);
  with_numbers(t.type, bytes, [&](auto number) {
    each_place(t, [&](std::int64_t i, std::int64_t place) { out[i] = number(place); });
  });
  return out;
}

inline void store(const facts& t, const dense& x, std::byte* bytes) {
  benanza::backend::with_element(t.type, [&](auto e) {
    auto* to = reinterpret_cast<typename decltype(e)::storage*>(bytes);
    each_place(t, [&](std::int64_t i, std::int64_t place) { to[place] = e.store(x[i]); });
  });
}

} // namespace fake
