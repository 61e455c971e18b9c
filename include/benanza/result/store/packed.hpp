// SPDX-License-Identifier: Apache-2.0
// How does a measurement fit a short row? Its texts and the names of its numbers, which many
// results share, become a description (JSON); its numbers become bytes, each as short as it can be
// without losing a bit: whole numbers and times in hundredths of a ns as differences of variable
// length, any other time in eight bytes. Follows the fields of result/fields.hpp whatever they are.
//
//   packed p = pack(m);   unpack(n, description(p.description), p.numbers);   // n has all of m
#pragma once

#include "../../core/text.hpp"
#include "../fields.hpp"
#include "../json.hpp"
#include "checksum.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace benanza::result::store {

using bytes = std::vector<unsigned char>;

/// A measurement without what columns of their own hold.
struct packed {
  std::string description;
  bytes numbers;
};

namespace detail {
/// The fields that are columns, not part of what is packed.
inline bool is_column(std::string_view field) {
  constexpr std::array<std::string_view, 7> columns{"family",    "key",   "type",   "backend",
                                                    "algorithm", "state", "threads"};
  return std::find(columns.begin(), columns.end(), field) != columns.end();
}

/// The name that the benchmark gives to a case.
inline std::string case_name(const measurement& m) {
  std::string algorithm = m.algorithm;
  for (char& c : algorithm)
    if (c == '/' || c == ' ') c = '_';
  return m.family + '/' + m.key + '/' + m.type + '/' + m.backend + '/' + algorithm + '/' + m.state +
         "/t" + std::to_string(m.threads);
}

/// How a number is written: 'i' a whole one, 'd' a double, 't' a time near the case's other times,
/// 'v' a list of such times.
template <class Value>
constexpr char notation(field_kind kind) {
  if constexpr (std::is_integral_v<Value>) return 'i';
  if constexpr (std::is_same_v<Value, double>) return kind == field_kind::time ? 't' : 'd';
  return 'v';
}

/// Adds seven bits a byte, the lowest first.
inline void put_varint(bytes& out, std::uint64_t v) {
  for (; v >= 128; v >>= 7)
    out.push_back(static_cast<unsigned char>(v | 128));
  out.push_back(static_cast<unsigned char>(v));
}

/// Small numbers of either sign become small ones without: 0, -1, 1, -2 ... are 0, 1, 2, 3 ...
inline std::uint64_t fold(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
inline std::int64_t unfold(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

/// A time in hundredths of a ns, where that is exact and leaves room for differences and a flag.
inline std::optional<std::int64_t> hundredths(double ns) {
  const double h = std::round(ns * 100);
  if (!(std::abs(h) < 0x1p52)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(h);
  const double again = static_cast<double>(whole) / 100;
  if (std::bit_cast<std::uint64_t>(again) != std::bit_cast<std::uint64_t>(ns)) return std::nullopt;
  return whole;
}

/// Adds a double as the difference of its hundredths from `base`; as all of its bits where that is
/// not exact.
inline void put_double(bytes& out, double v, std::int64_t base) {
  if (const auto h = hundredths(v)) {
    put_varint(out, fold(*h - base) << 1);
    return;
  }
  put_varint(out, 1);
  const auto bits = std::bit_cast<std::uint64_t>(v);
  for (int shift = 0; shift < 64; shift += 8)
    out.push_back(static_cast<unsigned char>(bits >> shift));
}

/// Takes numbers out of bytes; refuses bytes that end too soon.
class taker {
public:
  explicit taker(std::span<const unsigned char> from)
      : rest_(from) {}

  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const unsigned char byte = one();
      v |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return v;
    }
    throw error("the numbers of a stored result are damaged");
  }
  double real(std::int64_t base) {
    const std::uint64_t v = varint();
    if (v % 2 == 0) {
      const auto sum =
          static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(unfold(v >> 1));
      return static_cast<double>(static_cast<std::int64_t>(sum)) / 100;
    }
    std::uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 8)
      bits |= static_cast<std::uint64_t>(one()) << shift;
    return std::bit_cast<double>(bits);
  }
  std::size_t left() const { return rest_.size(); }

private:
  unsigned char one() {
    if (rest_.empty()) throw error("the numbers of a stored result are cut off");
    const unsigned char byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }
  std::span<const unsigned char> rest_;
};
} // namespace detail

/// What a description says: texts of fields, and which numbers follow each other in the bytes.
class description {
public:
  /// Reads what `pack` wrote; refuses anything else.
  explicit description(std::string_view body)
      : sum_(checksum().add(body).value()) {
    const json j = json::parse(body, nullptr, false);
    if (!j.is_object()) throw error("the description of a stored result is damaged");
    for (const auto& [name, text] : j.items()) {
      if (!text.is_string()) throw error("the description of a stored result is damaged");
      texts_.emplace(name, text.get<std::string>());
    }
    for (const std::string_view number : items(text("numbers"), " ")) {
      if (number.size() < 3 || number[1] != ':')
        throw error("the description of a stored result is damaged");
      notations_ += number[0];
      names_.emplace_back(number.substr(2));
    }
    fields(*this_program(), [&](std::string_view name, const auto&, field_kind) {
      const auto at = std::find(names_.begin(), names_.end(), name);
      place_.push_back(at == names_.end() ? -1 : static_cast<int>(at - names_.begin()));
    });
  }

  /// The text of a field; empty where there is none.
  std::string_view text(std::string_view name) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? std::string_view() : std::string_view(found->second);
  }
  /// How each number is written, in order.
  const std::string& notations() const { return notations_; }
  /// Which number is that of the program's field `i`; -1: none.
  int place(std::size_t i) const { return place_[i]; }
  /// The checksum of what it was read from.
  std::int64_t sum() const { return sum_; }

private:
  static const measurement* this_program() {
    static const measurement m;
    return &m;
  }
  std::int64_t sum_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::string notations_;
  std::vector<std::string> names_;
  std::vector<int> place_;
};

/// The description and the numbers of a measurement; a failed one has no times.
inline packed pack(const measurement& m) {
  packed out;
  constexpr auto replaced = ordered_json::error_handler_t::replace;
  ordered_json texts = ordered_json::object();
  std::string numbers;
  const bool failed = !m.error.empty();
  std::int64_t base = 0;
  fields(m, [&](std::string_view name, const auto& value, field_kind kind) {
    if (detail::is_column(name) || (failed && kind == field_kind::time)) return;
    using type = std::decay_t<decltype(value)>;
    // A remark that says nothing leaves no trace: what was stored before there was such a field
    // stays equal to what is stored after.
    if (kind == field_kind::remark && value == type{}) return;
    if constexpr (std::is_same_v<type, std::string>) {
      if (!value.empty()) texts[std::string(name)] = value;
    } else if constexpr (is_list<type>) {
      texts[std::string(name)] = to_json(value).dump(-1, ' ', false, replaced);
    } else {
      const char notation = detail::notation<type>(kind);
      numbers.append(numbers.empty() ? "" : " ").append(1, notation).append(1, ':').append(name);
      if constexpr (std::is_integral_v<type>) {
        detail::put_varint(out.numbers, detail::fold(static_cast<std::int64_t>(value)));
      } else if constexpr (std::is_same_v<type, double>) {
        detail::put_double(out.numbers, value, notation == 't' ? base : 0);
        if (notation == 't') base = detail::hundredths(value).value_or(base);
      } else {
        detail::put_varint(out.numbers, value.size());
        for (double v : value)
          detail::put_double(out.numbers, v, base);
      }
    }
  });
  if (failed) texts["error"] = m.error;
  if (!m.name.empty() && m.name != detail::case_name(m)) texts["name"] = m.name;
  texts["numbers"] = numbers;
  out.description = texts.dump(-1, ' ', false, replaced);
  return out;
}

/// Fills `m`, of which the fields that are columns are set, with what was packed. Numbers of fields
/// that this program does not know are passed over.
inline void unpack(measurement& m, const description& d, std::span<const unsigned char> numbers) {
  struct number {
    std::int64_t whole = 0;
    double real = 0;
    std::vector<double> list{};
  };
  std::vector<number> values(d.notations().size());
  detail::taker take(numbers);
  std::int64_t base = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char notation = d.notations()[i];
    if (notation == 'i') {
      values[i].whole = detail::unfold(take.varint());
    } else if (notation == 'd') {
      values[i].real = take.real(0);
    } else if (notation == 't') {
      values[i].real = take.real(base);
      base = detail::hundredths(values[i].real).value_or(base);
    } else {
      const std::uint64_t n = take.varint();
      if (n > take.left()) throw error("the numbers of a stored result are cut off");
      for (std::uint64_t k = 0; k < n; ++k)
        values[i].list.push_back(take.real(base));
    }
  }
  std::size_t field = 0;
  fields(m, [&](std::string_view name, auto& value, field_kind) {
    using type = std::decay_t<decltype(value)>;
    const int place = d.place(field++);
    if constexpr (std::is_same_v<type, std::string>) {
      if (!detail::is_column(name)) value = d.text(name);
    } else if constexpr (is_list<type>) {
      if (const std::string_view text = d.text(name); !text.empty())
        from_json(value, json::parse(text, nullptr, false), "a stored result");
    } else if (place >= 0) {
      number& found = values[static_cast<std::size_t>(place)];
      if constexpr (std::is_integral_v<type>)
        value = static_cast<type>(found.whole);
      else if constexpr (std::is_same_v<type, double>)
        value = found.real;
      else
        value = std::move(found.list);
    }
  });
  m.error = d.text("error");
  m.name = d.text("name").empty() ? detail::case_name(m) : std::string(d.text("name"));
}

} // namespace benanza::result::store
