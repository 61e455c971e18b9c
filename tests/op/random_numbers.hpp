// SPDX-License-Identifier: Apache-2.0
// Random numbers, dims, element types and axes, the same ones on every machine.
#pragma once

#include <benanza/op/kinds.hpp>

#include <cstdint>
#include <random>

namespace benanza::test {

class random_numbers {
public:
  explicit random_numbers(std::uint64_t seed)
      : bits_(seed) {}

  /// A number from [low, high].
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  std::int64_t dim() { return chance(20) ? 1 : chance(10) ? pick(2, 3000) : pick(2, 24); }
  shape dims(int low, int high) {
    shape s;
    for (std::int64_t n = pick(low, high); n > 0; --n)
      s.push(dim());
    return s;
  }
  template <int N>
  list<N> values(int count, std::int64_t low, std::int64_t high) {
    if (chance(30)) return {};
    if (chance(40)) return list<N>::filled(count, pick(low, high));
    list<N> out;
    for (int i = 0; i < count; ++i)
      out.push(pick(low, high));
    if (N == 6 && chance(50)) // the same begins as ends
      for (int i = 0; i < count / 2; ++i)
        out[i + count / 2] = out[i];
    return out;
  }
  dtype any_element() {
    const auto last = static_cast<std::int64_t>(detail::dtype_names.size()) - 1;
    return detail::dtype_names[static_cast<std::size_t>(pick(0, last))].first;
  }
  dtype element() { return chance(60) ? dtype::real : any_element(); }
  template <class Enum, std::size_t N>
  Enum any_of(const std::string_view (&)[N]) {
    return static_cast<Enum>(pick(0, static_cast<std::int64_t>(N) - 1));
  }
  /// Dims that broadcast with `s`.
  shape partner(const shape& s) {
    shape out;
    for (std::int64_t i = chance(70) ? 0 : pick(0, s.size); i < s.size; ++i)
      out.push(chance(40) ? 1 : s[static_cast<int>(i)]);
    return out;
  }
  int axis_of(const shape& s) { return static_cast<int>(pick(0, s.size - 1)); }

private:
  std::mt19937_64 bits_;
};

} // namespace benanza::test
