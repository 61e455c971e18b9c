// SPDX-License-Identifier: Apache-2.0
// What all tests of layers use: a check at compile time and at run time, checks of refusals, and
// how doctest prints lists and layers.
#pragma once

#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

/// The same fact twice: as a constant expression and as the running program sees it.
#define CHECK_TWICE(...)                                                                           \
  static_assert(__VA_ARGS__);                                                                      \
  CHECK(__VA_ARGS__)

/// `expression` throws benanza::error with a text that holds `part` and no line break.
#define CHECK_REFUSED(expression, part)                                                            \
  do {                                                                                             \
    const std::string refusal = benanza::test::refusal_of([&] { (void)(expression); });            \
    CAPTURE(refusal);                                                                              \
    CHECK(refusal.find(part) != std::string::npos);                                                \
    CHECK(refusal.find('\n') == std::string::npos);                                                \
  } while (false)

namespace benanza::test {

/// The text of the benanza::error that `f` throws; "(accepted)" if it throws none.
template <class F>
std::string refusal_of(F&& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "(accepted)";
}

/// What doctest prints for a list of dims: `[1 64 56 56]`.
template <int N>
std::string text_of(const list<N>& values) {
  std::string out = "[";
  for (std::int64_t v : values) {
    if (out.size() > 1) out += ' ';
    out += std::to_string(v);
  }
  out += ']';
  return out;
}

/// The canonical layer as a variant, checked as a frontend would before it uses it.
template <class Kind>
op::layer checked(const Kind& kind) {
  kind.validate();
  return op::layer(kind.canonical_form());
}

} // namespace benanza::test

namespace doctest {
template <int N>
struct StringMaker<benanza::list<N>> {
  static String convert(const benanza::list<N>& values) {
    return benanza::test::text_of(values).c_str();
  }
};
template <>
struct StringMaker<benanza::op::key_text> {
  static String convert(const benanza::op::key_text& k) { return std::string(k.view()).c_str(); }
};
template <>
struct StringMaker<benanza::op::layer> {
  static String convert(const benanza::op::layer& l) { return benanza::op::name(l).c_str(); }
};
} // namespace doctest
