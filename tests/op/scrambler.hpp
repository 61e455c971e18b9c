// SPDX-License-Identifier: Apache-2.0
// Random layers with members scrambled to values that no layer should survive.
#pragma once

#include "random_layers.hpp"

#include <iterator>
#include <limits>

namespace benanza::test {

/// An archive that overwrites some members of a layer with numbers at and beyond every limit.
class scrambler {
public:
  explicit scrambler(layer_source& random)
      : random_(random) {}

  template <int N>
  void dims(std::string_view, list<N>& values) {
    scramble(values);
  }
  template <int N>
  void dims_or(std::string_view, list<N>& values, const list<N>&) {
    scramble(values);
  }
  template <int N>
  void count_and_dims(std::string_view, std::int64_t& count, std::string_view, list<N>& values) {
    scramble(count);
    scramble(values);
  }
  template <int N>
  void tagged(std::string_view, std::string_view, list<N>& values, int, std::int64_t,
              bool = false) {
    scramble(values);
  }
  template <int N>
  void tagged_list(std::string_view, std::string_view, list<N>& values) {
    scramble(values);
  }
  void number(std::string_view, std::string_view, auto& value, std::int64_t, bool = false) {
    std::int64_t wide = value;
    scramble(wide);
    value = static_cast<std::remove_reference_t<decltype(value)>>(wide);
  }
  void flag(std::string_view, std::string_view, bool& value) { value = random_.chance(50); }
  template <class Enum, std::size_t N>
  void choice(std::string_view, std::string_view, Enum& value, const std::string_view (&)[N]) {
    value = static_cast<Enum>(random_.pick(0, static_cast<std::int64_t>(N) - 1));
  }
  template <class Enum, std::size_t N>
  void word(std::string_view, std::string_view, Enum& value, const std::string_view (&)[N]) {
    value = static_cast<Enum>(random_.pick(0, static_cast<std::int64_t>(N) - 1));
  }
  void element(std::string_view, dtype& value, dtype = dtype::real) {
    constexpr std::int64_t last = std::ssize(detail::dtype_names) - 1;
    if (random_.chance(50))
      value = detail::dtype_names[static_cast<std::size_t>(random_.pick(0, last))].first;
  }

private:
  void scramble(std::int64_t& value) {
    constexpr std::int64_t extremes[] = {std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::min() + 1,
                                         -dim_limit - 1,
                                         -dim_limit,
                                         -1,
                                         0,
                                         1,
                                         2,
                                         3,
                                         1 << 20,
                                         dim_limit - 1,
                                         dim_limit,
                                         dim_limit + 1,
                                         count_limit,
                                         std::numeric_limits<std::int64_t>::max()};
    if (random_.chance(15)) value = extremes[random_.pick(0, std::size(extremes) - 1)];
  }
  template <int N>
  void scramble(list<N>& values) {
    for (int i = 0; i < values.size; ++i)
      scramble(values[i]);
    if (random_.chance(5) && values.size < N) values.push(random_.pick(0, 3));
    if (random_.chance(5) && !values.empty()) values[--values.size] = 0;
  }

  layer_source& random_;
};

} // namespace benanza::test
