// SPDX-License-Identifier: Apache-2.0
// How is an operand filled with numbers that look random and are the same on every machine? By bits
// that depend on a seed and on a place alone. Places that indices name, and conditions, are drawn
// so that a layer does its usual work.
//
//   fill(t, {.low = -4, .high = 4}, false, seed_of("Relu/4x5"));
#pragma once

#include "number.hpp"
#include "operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>

namespace benanza::backend {

namespace detail {

/// Where values are drawn from: reals in [low, high), cut to `steps` distinct ones (a power of
/// two), whole numbers and quantised codes in closed ranges that are clamped to their types.
struct draw {
  double low = -1, high = 1;
  std::int64_t whole_low = -100, whole_high = 100;
  std::int64_t code_low = -127, code_high = 255;
  double factor = 1;
  std::uint32_t steps = 1u << 20;
};

/// 32 random bits that depend on `i` and the seed alone (two rounds of multiply and xor-shift).
constexpr std::uint32_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = seed + i * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>(x >> 32);
}

/// FNV-1a: a seed from a layer's name.
constexpr std::uint64_t seed_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : text)
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

inline constexpr std::int64_t drawn_block = 1048573; // prime: repeats never line up with dims

/// The same for elements that share bytes, from the part of a range that their type holds.
inline void fill_packed(tensor& t, const draw& d, std::uint64_t seed) {
  // Whole bytes of any packed type are repeated.
  const std::int64_t count = t.count(), drawn = std::min(count, drawn_block / 4 * 4);
  const bool reals = holds_reals(t.type);
  const auto end = [&](double v) {
    std::byte room{};
    store(t.type, &room, 0, v);
    return load(t.type, &room, 0);
  };
  const double low = end(reals ? d.low * d.factor : static_cast<double>(d.whole_low));
  const double high = end(reals ? d.high * d.factor : static_cast<double>(d.whole_high));
  t.bytes.assign(static_cast<std::size_t>(bytes_of(t.type, count)), std::byte{});
  for (std::int64_t i = 0; i < drawn; ++i) {
    const double share = random_bits(seed, static_cast<std::uint64_t>(i)) * 0x1p-32;
    store(t.type, t.bytes.data(), i,
          reals ? low + share * (high - low) : low + std::floor(share * (high - low + 1)));
  }
  const std::int64_t bytes = std::ssize(t.bytes), block = bytes_of(t.type, drawn);
  for (std::int64_t at = block; at < bytes; at += block)
    std::memcpy(t.bytes.data() + at, t.bytes.data(),
                static_cast<std::size_t>(std::min(block, bytes - at)));
}

/// Fills `t` with values from `d`. Reals are exact multiples of a power of two before `factor`, so
/// no machine rounds them differently.
inline void fill(tensor& t, const draw& d, bool codes, std::uint64_t seed) {
  if (packed_in_bytes(t.type)) return fill_packed(t, d, seed);
  const std::int64_t count = t.count(), drawn = std::min(count, drawn_block);
  const std::int64_t width = size_bytes(t.type);
  t.bytes.resize(static_cast<std::size_t>(count * width));
  const bool real = holds_reals(t.type);
  with_element(t.type, [&](auto e) {
    using storage = typename decltype(e)::storage;
    auto* to = reinterpret_cast<storage*>(t.bytes.data());
    if (real) {
      const double step = (d.high - d.low) / d.steps;
      for (std::int64_t i = 0; i < drawn; ++i) {
        const std::uint32_t k = random_bits(seed, static_cast<std::uint64_t>(i)) & (d.steps - 1);
        to[i] = e.store((d.low + step * k) * d.factor);
      }
      return;
    }
    std::int64_t low = codes ? d.code_low : d.whole_low, high = codes ? d.code_high : d.whole_high;
    if (t.type == dtype::boolean) low = 0, high = 1;
    if (t.type == dtype::s8) low = std::max<std::int64_t>(low, -127);
    if (t.type == dtype::s8) high = std::min<std::int64_t>(high, 127);
    if (std::is_unsigned_v<storage>) low = std::max<std::int64_t>(low, 0);
    high = std::max(high, low);
    const auto range = static_cast<std::uint64_t>(high - low + 1);
    for (std::int64_t i = 0; i < drawn; ++i) {
      const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(i));
      to[i] = static_cast<storage>(low + static_cast<std::int64_t>(bits * range >> 32));
    }
    const bool equal = std::all_of(to, to + drawn, [to](storage v) { return v == to[0]; });
    if (drawn > 1 && equal && high > low)
      to[0] = static_cast<storage>(to[0] == static_cast<storage>(low) ? high : low);
  });
  for (std::int64_t at = drawn; at < count; at += drawn)
    std::memcpy(t.bytes.data() + at * width, t.bytes.data(),
                static_cast<std::size_t>(std::min(drawn, count - at) * width));
}

/// The largest power of two that is at most `v`: results scaled by it are exact before rounding.
inline double power_below(double v) {
  return std::exp2(std::floor(std::log2(v)));
}

/// Places that indices name: at random; where updates replace elements each one once, as long as
/// there are enough.
inline void draw_places(const op::indexing& p, tensor& t, std::uint64_t seed) {
  const bool once = p.scatters() && p.reduction == op::scatter_reduction::none;
  const std::int64_t count = t.count(), n = p.named(), rows = n == 0 ? 0 : count / n;
  const shape bounds = p.index_bounds();
  const auto put = [&](std::int64_t i, std::int64_t v) {
    store(t.type, t.bytes.data(), i, static_cast<double>(v));
  };
  const auto random = [&](std::int64_t i, std::int64_t below) {
    const std::uint64_t high = random_bits(seed + 77, static_cast<std::uint64_t>(i));
    const std::uint64_t low = random_bits(seed + 78, static_cast<std::uint64_t>(i));
    return static_cast<std::int64_t>((high << 31 ^ low) % static_cast<std::uint64_t>(below));
  };
  if (count == 0) return;
  if (!once) {
    for (std::int64_t i = 0; i < count; ++i)
      put(i, random(i, bounds[static_cast<int>(i % n)]));
    return;
  }
  const auto all = elements(bounds);
  std::int64_t step = std::max<std::int64_t>(all * 5 / 8, 1); // round the places, by a stride
  while (std::gcd(step, all) != 1)
    ++step;
  if (p.of_elements()) {
    const std::int64_t inner = elements(p.indices, p.axis + 1, p.indices.size);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t k = i / inner % p.indices[p.axis];
      const std::int64_t line = i - k * inner;
      put(i, k == 0 ? random(line, all) : 0);
      if (k > 0) {
        const auto before = static_cast<std::int64_t>(load(t.type, t.bytes.data(), i - inner));
        put(i, (before + step) % all);
      }
    }
    return;
  }
  std::int64_t place = random(0, all);
  for (std::int64_t r = 0; r < rows; ++r, place = (place + step) % all)
    for (std::int64_t k = n, rest = place; k-- > 0; rest /= bounds[static_cast<int>(k)])
      put(r * n + k, rest % bounds[static_cast<int>(k)]);
}

/// A condition that holds as often as its layer keeps a slice, spread evenly.
inline void draw_condition(const op::compress& p, tensor& t) {
  const std::int64_t choices = std::min(p.length, p.size());
  std::int64_t due = 0, i = 0;
  for (std::uint8_t& holds : t.as<std::uint8_t>()) {
    due += i++ < choices ? p.kept : 0;
    holds = choices > 0 && due >= choices;
    if (holds != 0) due -= choices;
  }
}
} // namespace detail

} // namespace benanza::backend
