// SPDX-License-Identifier: Apache-2.0
// What is known of a tensor of a model before it runs? Its element type, its dims where they follow
// from the model, and its elements where shapes are computed from them. Element types are ONNX's
// numbers (TensorProto::DataType), those of newer ONNX versions included; 0 is "not known".
//
//   to_dtype(::onnx::TensorProto::INT64) == dtype::s64
//   std::optional<elements_of> v = decode(initializer);   v->integers   // {1, -1}
#pragma once

#include "../core/dtype.hpp"
#include "../core/shape.hpp"
#include "../core/text.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::onnx {

using proto = ::onnx::TensorProto;

/// Tensors with more elements than this are not computed with.
inline constexpr std::int64_t most_elements = 4096;

/// Facts of an ONNX element type.
struct element_type {
  std::string_view name;
  int bits; ///< 0: elements are of no fixed size
  dtype storage;
  bool floating;
};

/// Facts of the ONNX element type of that number; nullptr where there is none.
inline const element_type* find_element_type(int type) {
  static constexpr element_type table[] = {
      {"undefined", 0, dtype::real, false},
      {"float", 32, dtype::f32, true},
      {"uint8", 8, dtype::u8, false},
      {"int8", 8, dtype::s8, false},
      {"uint16", 16, dtype::u16, false},
      {"int16", 16, dtype::s16, false},
      {"int32", 32, dtype::s32, false},
      {"int64", 64, dtype::s64, false},
      {"string", 0, dtype::real, false},
      {"bool", 8, dtype::boolean, false},
      {"float16", 16, dtype::f16, true},
      {"double", 64, dtype::f64, true},
      {"uint32", 32, dtype::u32, false},
      {"uint64", 64, dtype::u64, false},
      {"complex64", 64, dtype::real, false},
      {"complex128", 128, dtype::real, false},
      {"bfloat16", 16, dtype::bf16, true},
      {"float8e4m3fn", 8, dtype::e4m3, true},
      {"float8e4m3fnuz", 8, dtype::e4m3z, true},
      {"float8e5m2", 8, dtype::e5m2, true},
      {"float8e5m2fnuz", 8, dtype::e5m2z, true},
      {"uint4", 4, dtype::u4, false},
      {"int4", 4, dtype::s4, false},
      {"float4e2m1", 4, dtype::e2m1, true},
      {"float8e8m0", 8, dtype::e8m0, true},
      {"uint2", 2, dtype::u2, false},
      {"int2", 2, dtype::s2, false},
      {"float6e2m3", 6, dtype::real, true},
      {"float6e3m2", 6, dtype::real, true},
  };
  constexpr int count = static_cast<int>(std::size(table));
  return type > 0 && type < count ? &table[type] : nullptr;
}

/// The ONNX name of an element type.
inline std::string type_name(int type) {
  const element_type* t = find_element_type(type);
  return t ? std::string(t->name) : "of type number " + std::to_string(type);
}

/// The number of the element type that ONNX's text calls so; 0: there is none.
inline int element_type_called(std::string_view name) {
  const auto same = [&](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 32) : a) == b;
    });
  };
  int type = 1;
  while (const element_type* t = find_element_type(type)) {
    if (same(t->name)) return type;
    ++type;
  }
  return 0;
}

/// How a layer names operands of this type: floating ones are `real`, but for those narrow ones in
/// which no arithmetic is done.
inline dtype to_dtype(int type) {
  const element_type* t = find_element_type(type);
  if (t == nullptr) return dtype::real;
  if (t->floating) return t->storage > dtype::e5m2 ? t->storage : dtype::real;
  if (t->storage == dtype::real)
    throw error("its elements are " + std::string(t->name) + ", which no layer holds");
  return t->storage;
}

/// Bytes that `count` elements take in a file; those of strings are not known and count as 0.
inline std::int64_t stored_bytes(int type, std::int64_t count) {
  const element_type* t = find_element_type(type);
  return t ? count / 8 * t->bits + (count % 8 * t->bits + 7) / 8 : 0;
}

inline bool is_floating(int type) {
  const element_type* t = find_element_type(type);
  return t != nullptr && t->floating;
}

/// The elements of a small tensor: whole numbers and truth values exactly, or reals.
struct elements_of {
  bool real = false;
  std::vector<std::int64_t> integers{};
  std::vector<double> reals{};

  std::size_t size() const { return real ? reals.size() : integers.size(); }
  double number(std::size_t i) const { return real ? reals[i] : static_cast<double>(integers[i]); }
};

/// `1x64x56x56`, for messages.
inline std::string text(const shape& s) {
  return s.empty() ? "scalar" : join(s, "x");
}

namespace detail {
inline double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? std::numeric_limits<double>::infinity()
                                            : std::ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

/// True if a tensor holds no elements at all.
inline bool stripped(const ::onnx::TensorProto& t) {
  return t.raw_data().empty() && t.float_data().empty() && t.int32_data().empty() &&
         t.int64_data().empty() && t.double_data().empty() && t.uint64_data().empty() &&
         t.string_data().empty();
}

template <class T>
std::vector<T> from_raw(const std::string& raw, std::size_t count) {
  std::vector<T> out(count);
  if (count > 0) std::memcpy(out.data(), raw.data(), count * sizeof(T));
  return out;
}

template <class Stored, class Repeated>
std::vector<std::int64_t> whole(const ::onnx::TensorProto& t, std::size_t n, const Repeated& list) {
  std::vector<std::int64_t> out(n);
  if (t.has_raw_data()) {
    const auto stored = from_raw<Stored>(t.raw_data(), n);
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<std::int64_t>(stored[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<std::int64_t>(static_cast<Stored>(list.Get(static_cast<int>(i))));
  }
  return out;
}
} // namespace detail

/// Number of elements by the tensor's dims; nothing where they are negative or over 2^56.
inline std::optional<std::int64_t> declared_elements(const ::onnx::TensorProto& t) {
  std::int64_t n = 1;
  for (std::int64_t d : t.dims()) {
    if (d < 0 || (n != 0 && d > count_limit / n)) return std::nullopt;
    n *= d;
  }
  return n;
}

/// True if the elements are not in the file: stored elsewhere, or left out when it was read.
inline bool stored_elsewhere(const ::onnx::TensorProto& t) {
  return t.data_location() == ::onnx::TensorProto::EXTERNAL;
}

/// Entries that a tensor's payload holds, and how many its dims and type ask for.
struct payload {
  std::int64_t held = 0;
  std::int64_t asked = 0;
  std::string_view unit = "values";
};

namespace detail {
/// Entries of `int32_data` for `n` elements, of which those of 4 and 2 bits share an entry.
inline std::int64_t entries_for(int type, std::int64_t n) {
  return packed_in_bytes(find_element_type(type)->storage) ? stored_bytes(type, n) : n;
}

/// Packed whole numbers, the first in the lowest bits of a byte.
inline std::vector<std::int64_t> unpacked(const ::onnx::TensorProto& t, std::size_t n) {
  const element_type& type = *find_element_type(t.data_type());
  const auto bits = static_cast<std::size_t>(type.bits);
  const bool is_signed = type.storage == dtype::s4 || type.storage == dtype::s2;
  std::vector<std::int64_t> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = i * bits / 8;
    const auto byte = t.has_raw_data()
                          ? static_cast<unsigned>(static_cast<unsigned char>(t.raw_data()[at]))
                          : static_cast<unsigned>(t.int32_data(static_cast<int>(at)));
    const auto code = static_cast<std::int64_t>(byte >> (i * bits % 8) & ((1u << bits) - 1u));
    out[i] = is_signed && code >> (bits - 1) != 0 ? code - (std::int64_t{1} << bits) : code;
  }
  return out;
}
} // namespace detail

/// Compares a tensor's payload with its dims. One that is stored elsewhere agrees, and so does one
/// from which the payload was stripped.
inline payload payload_of(const ::onnx::TensorProto& t) {
  const std::int64_t n = declared_elements(t).value_or(-1);
  if (stored_elsewhere(t) || find_element_type(t.data_type()) == nullptr) return {n, n};
  if (detail::stripped(t)) return {n, n};
  if (t.has_raw_data() && t.data_type() != proto::STRING)
    return {static_cast<std::int64_t>(t.raw_data().size()), stored_bytes(t.data_type(), n),
            "bytes"};
  switch (t.data_type()) {
  case proto::FLOAT: return {t.float_data_size(), n};
  case proto::COMPLEX64: return {t.float_data_size(), 2 * n};
  case proto::DOUBLE: return {t.double_data_size(), n};
  case proto::COMPLEX128: return {t.double_data_size(), 2 * n};
  case proto::INT64: return {t.int64_data_size(), n};
  case proto::UINT32:
  case proto::UINT64: return {t.uint64_data_size(), n};
  case proto::STRING: return {t.string_data_size(), n};
  default: return {t.int32_data_size(), detail::entries_for(t.data_type(), n)};
  }
}

/// The elements of a small tensor; nothing where they are many, not in the file, or of a type that
/// shapes are not computed with.
inline std::optional<elements_of> decode(const ::onnx::TensorProto& t) {
  const std::optional<std::int64_t> count = declared_elements(t);
  if (!count || *count > most_elements || stored_elsewhere(t)) return std::nullopt;
  if (const payload p = payload_of(t); p.held != p.asked) return std::nullopt;
  if (*count > 0 && detail::stripped(t)) return std::nullopt;
  const auto n = static_cast<std::size_t>(*count);
  elements_of out;
  if (const element_type* type = find_element_type(t.data_type());
      type != nullptr && !type->floating && packed_in_bytes(type->storage)) {
    out.integers = detail::unpacked(t, n);
    return out;
  }
  switch (t.data_type()) {
  case proto::INT64: out.integers = detail::whole<std::int64_t>(t, n, t.int64_data()); return out;
  case proto::INT32: out.integers = detail::whole<std::int32_t>(t, n, t.int32_data()); return out;
  case proto::INT16: out.integers = detail::whole<std::int16_t>(t, n, t.int32_data()); return out;
  case proto::INT8: out.integers = detail::whole<std::int8_t>(t, n, t.int32_data()); return out;
  case proto::UINT16: out.integers = detail::whole<std::uint16_t>(t, n, t.int32_data()); return out;
  case proto::BOOL:
  case proto::UINT8: out.integers = detail::whole<std::uint8_t>(t, n, t.int32_data()); return out;
  case proto::UINT32:
    out.integers = detail::whole<std::uint32_t>(t, n, t.uint64_data());
    return out;
  case proto::FLOAT16:
  case proto::BFLOAT16: {
    out.real = true;
    for (std::int64_t bits : detail::whole<std::uint16_t>(t, n, t.int32_data()))
      out.reals.push_back(t.data_type() == proto::FLOAT16
                              ? detail::half_to_double(static_cast<std::uint16_t>(bits))
                              : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
    return out;
  }
  case proto::FLOAT: {
    out.real = true;
    const std::vector<float> stored =
        t.has_raw_data() ? detail::from_raw<float>(t.raw_data(), n)
                         : std::vector<float>(t.float_data().begin(), t.float_data().end());
    out.reals.assign(stored.begin(), stored.end());
    return out;
  }
  case proto::DOUBLE:
    out.real = true;
    out.reals = t.has_raw_data()
                    ? detail::from_raw<double>(t.raw_data(), n)
                    : std::vector<double>(t.double_data().begin(), t.double_data().end());
    return out;
  default: return std::nullopt;
  }
}

} // namespace benanza::onnx
