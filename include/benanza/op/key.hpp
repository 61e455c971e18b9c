// SPDX-License-Identifier: Apache-2.0
// How is a layer written as text, and read back? Each operator describes its members once, in
// `fields(archive)`; the archives here turn that into the canonical key, and a key into the
// members. A key is a row of fields joined by '-': dims first (`1x64x56x56`), then tagged numbers
// (`s2`, `p3x1`) and flags (`ceil`), in a fixed order with defaults left out. Negative numbers
// start with 'm'.
//
//   write_key(conv{...}) == "1x64x56x56-64x3x3-s1-p1"
#pragma once

#include "../core/dtype.hpp"
#include "../core/error.hpp"
#include "../core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace benanza::op {

/// Text of bounded length that can be made at compile time.
struct key_text {
  static constexpr int capacity = 384;
  char at[capacity]{};
  int size = 0;

  constexpr std::string_view view() const { return {at, static_cast<std::size_t>(size)}; }
  constexpr void append(char c) {
    if (size >= capacity) throw error("a key is longer than 384 characters");
    at[size++] = c;
  }
  constexpr void append(std::string_view s) {
    for (char c : s)
      append(c);
  }
  constexpr void append(std::int64_t v) {
    if (v < 0) append('m');
    std::uint64_t rest =
        v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    char digits[20]{};
    int n = 0;
    do
      digits[n++] = static_cast<char>('0' + rest % 10);
    while ((rest /= 10) != 0);
    while (n > 0)
      append(digits[--n]);
  }
  constexpr bool operator==(std::string_view s) const { return view() == s; }
};

/// True if `values` (a list for `count` positions) says the same as `fallback` everywhere.
template <int N>
constexpr bool is_default(const list<N>& values, std::int64_t fallback) {
  return values.all(fallback);
}

/// The archive that writes a key.
class key_writer {
public:
  constexpr const key_text& text() const { return text_; }

  /// Dims that every key has: `1x64x56x56`, or `scalar`.
  template <int N>
  constexpr void dims(std::string_view, const list<N>& values) {
    next();
    numbers(values);
  }
  /// Dims that are left out when they equal `same`.
  template <int N>
  constexpr void dims_or(std::string_view member, const list<N>& values, const list<N>& same) {
    if (!(values == same)) dims(member, values);
  }
  /// One leading number joined to dims: `64x3x3`.
  template <int N>
  constexpr void count_and_dims(std::string_view, std::int64_t count, std::string_view,
                                const list<N>& values) {
    next();
    text_.append(count);
    for (std::int64_t v : values) {
      text_.append('x');
      text_.append(v);
    }
  }
  /// A tagged list with one value for each of `count` positions; empty means `fallback` everywhere.
  /// Equal values are written as one number; of paddings, equal begins and ends as half of the
  /// numbers.
  template <int N>
  constexpr void tagged(std::string_view, std::string_view tag, const list<N>& values, int,
                        std::int64_t fallback, bool always = false) {
    if (is_default(values, fallback) && !always) return;
    next();
    text_.append(tag);
    if (values.empty()) return text_.append(fallback);
    if (values.all(values[0])) return text_.append(values[0]);
    bool mirrored = N == 6 && values.size % 2 == 0;
    for (int i = 0; mirrored && i < values.size / 2; ++i)
      mirrored = values[i] == values[i + values.size / 2];
    list<N> shown = values;
    if (mirrored) shown.size /= 2;
    numbers(shown);
  }
  /// A tagged list of any length, left out when empty.
  template <int N>
  constexpr void tagged_list(std::string_view, std::string_view tag, const list<N>& values) {
    if (values.empty()) return;
    next();
    text_.append(tag);
    numbers(values);
  }
  /// A tagged number, left out when it equals `fallback`.
  constexpr void number(std::string_view, std::string_view tag, std::int64_t value,
                        std::int64_t fallback, bool always = false) {
    if (value == fallback && !always) return;
    next();
    text_.append(tag);
    text_.append(value);
  }
  /// A word that is there or not.
  constexpr void flag(std::string_view, std::string_view word, bool value) {
    if (!value) return;
    next();
    text_.append(word);
  }
  /// One word of a table of names, left out when it is the first.
  template <class Enum, std::size_t N>
  constexpr void choice(std::string_view, std::string_view, Enum value,
                        const std::string_view (&names)[N]) {
    if (value == Enum{}) return;
    next();
    const auto i = static_cast<std::size_t>(value);
    if (i < N) text_.append(names[i]);
  }
  /// One word of a table of names, always there.
  template <class Enum, std::size_t N>
  constexpr void word(std::string_view, std::string_view, Enum value,
                      const std::string_view (&names)[N]) {
    next();
    const auto i = static_cast<std::size_t>(value);
    if (i < N) text_.append(names[i]);
  }
  /// The element type of operands that are not of the case's type.
  constexpr void element(std::string_view, dtype value, dtype fallback = dtype::real) {
    if (value == fallback) return;
    next();
    text_.append(name(value));
  }

private:
  constexpr void next() {
    if (text_.size != 0) text_.append('-');
  }
  template <int N>
  constexpr void numbers(const list<N>& values) {
    if (values.empty()) text_.append("scalar");
    for (int i = 0; i < values.size; ++i) {
      if (i != 0) text_.append('x');
      text_.append(values[i]);
    }
  }
  key_text text_;
};

/// The archive that reads a key. Refuses with the place in the key at which it stopped.
class key_reader {
public:
  explicit constexpr key_reader(std::string_view text)
      : all_(text)
      , rest_(text) {
    if (text.size() > key_text::capacity)
      throw error("a key is longer than 384 characters",
                  std::string("it begins \"").append(text.substr(0, 40)).append("\""), remedy);
    advance();
  }

  /// To be called when all fields were read: refuses what is left over.
  constexpr void finish() const {
    if (more_) refuse("has a field that does not belong here");
  }

  template <int N>
  constexpr void dims(std::string_view, list<N>& values) {
    if (!more_) refuse("ends before its dims");
    values = numbers<N>(field_);
    advance();
  }
  template <int N>
  constexpr void dims_or(std::string_view member, list<N>& values, const list<N>& same) {
    values = same;
    if (more_ && (digit(field_[0]) || field_ == "scalar")) dims(member, values);
  }
  template <int N>
  constexpr void count_and_dims(std::string_view member, std::int64_t& count, std::string_view,
                                list<N>& values) {
    list<N + 1> both;
    dims(member, both);
    if (both.empty()) refuse("lacks a count");
    count = both[0];
    values = {};
    for (int i = 1; i < both.size; ++i)
      values.push(both[i]);
  }
  template <int N>
  constexpr void tagged(std::string_view, std::string_view tag, list<N>& values, int count,
                        std::int64_t fallback, bool = false) {
    values = {};
    if (!starts(tag)) return;
    const list<N> read = numbers<N>(field_.substr(tag.size()));
    if (read.size == 1 && count > 0)
      values = list<N>::filled(count, read[0]);
    else if (read.size == count)
      values = read;
    else if (N == 6 && 2 * read.size == count) {
      values = read;
      for (std::int64_t v : read)
        values.push(v);
    } else
      refuse("has a list of the wrong length");
    if (is_default(values, fallback)) values = {};
    advance();
  }
  template <int N>
  constexpr void tagged_list(std::string_view, std::string_view tag, list<N>& values) {
    values = {};
    if (!starts(tag)) return;
    values = numbers<N>(field_.substr(tag.size()));
    advance();
  }
  constexpr void number(std::string_view, std::string_view tag, auto& value, std::int64_t fallback,
                        bool = false) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(fallback);
    if (!starts(tag)) return;
    const auto read = numbers<1>(field_.substr(tag.size()));
    if (read.empty()) refuse("lacks a number");
    if (!std::in_range<std::remove_reference_t<decltype(value)>>(read[0]))
      refuse("has a number that is too large");
    value = static_cast<std::remove_reference_t<decltype(value)>>(read[0]);
    advance();
  }
  constexpr void flag(std::string_view, std::string_view word, bool& value) {
    value = more_ && field_ == word;
    if (value) advance();
  }
  template <class Enum, std::size_t N>
  constexpr void choice(std::string_view, std::string_view, Enum& value,
                        const std::string_view (&names)[N]) {
    value = Enum{};
    for (std::size_t i = 0; more_ && i < N; ++i)
      if (field_ == names[i]) {
        value = static_cast<Enum>(i);
        return advance();
      }
  }
  template <class Enum, std::size_t N>
  constexpr void word(std::string_view, std::string_view, Enum& value,
                      const std::string_view (&names)[N]) {
    for (std::size_t i = 0; more_ && i < N; ++i)
      if (field_ == names[i]) {
        value = static_cast<Enum>(i);
        return advance();
      }
    refuse("lacks a word");
  }
  constexpr void element(std::string_view, dtype& value, dtype fallback = dtype::real) {
    value = fallback;
    if (!more_) return;
    if (const auto read = parse_dtype(field_)) {
      value = *read;
      advance();
    }
  }

private:
  static constexpr bool digit(char c) { return c >= '0' && c <= '9'; }
  constexpr bool starts(std::string_view tag) const {
    return more_ && field_.size() > tag.size() && field_.substr(0, tag.size()) == tag &&
           (digit(field_[tag.size()]) || field_[tag.size()] == 'm');
  }
  constexpr void advance() {
    more_ = !rest_.empty();
    const std::size_t end = rest_.find('-');
    field_ = rest_.substr(0, end);
    if (more_ && (field_.empty() || end + 1 == rest_.size())) refuse("has an empty field");
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
  }
  template <int N>
  constexpr list<N> numbers(std::string_view s) const {
    list<N> out;
    if (s == "scalar") return out;
    std::size_t i = 0;
    while (true) {
      const bool negative = i < s.size() && s[i] == 'm';
      if (negative) ++i;
      if (i >= s.size() || !digit(s[i])) refuse("has a field that is not a number");
      std::int64_t v = 0;
      for (; i < s.size() && digit(s[i]); ++i) {
        v = v * 10 + (s[i] - '0');
        if (v > dim_limit) refuse("has a number over 2^40");
      }
      if (out.size == N) refuse("has more numbers in a field than its layer takes");
      out.push(negative ? -v : v);
      if (i == s.size()) return out;
      if (s[i++] != 'x') refuse("has a field that is not a number");
    }
  }
  [[noreturn]] void refuse(std::string_view why) const {
    throw error(std::string("the key \"").append(all_).append("\" ").append(why),
                more_ ? std::string("at \"").append(field_).append("\"")
                      : std::string("at its end"),
                remedy);
  }
  static constexpr std::string_view remedy = "write it as benanza_generate stats prints it";

  std::string_view all_, rest_, field_;
  bool more_ = false;
};

/// The canonical key of one operator's parameters.
template <class Parameters>
constexpr key_text write_key(Parameters p) {
  key_writer w;
  p.fields(w);
  return w.text();
}

/// Fills `p` from a key of its operator; refuses what is not one.
template <class Parameters>
constexpr Parameters read_key(Parameters p, std::string_view text) {
  key_reader r(text);
  p.fields(r);
  r.finish();
  return p;
}

} // namespace benanza::op
