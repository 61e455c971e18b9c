// SPDX-License-Identifier: Apache-2.0
// What does a block of a log say? cuDNN and cuBLAS write a call as a line for each argument, and
// the members of a descriptor indented below it:
//
//   i!     xDesc: type=cudnnTensorDescriptor_t:
//   i!         dimA: type=int; val=[1,64,56,56];
//
// `fields` holds such lines, and finds them by name or type: f.below(*f.find("xDesc"), "dimA").
#pragma once

#include "../core/shape.hpp"
#include "../core/text.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace benanza::trace {

/// One argument, or one member of it. The texts are parts of the block's.
struct field {
  std::size_t indent = 0;
  std::string_view name, type, value; ///< each may be empty
  std::size_t end = 0;                ///< the place behind its last member
};

namespace detail {
inline std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t'))
    s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == ';'))
    s.remove_suffix(1);
  return s;
}

/// What follows `tag` up to the next ';', or to the end.
inline std::string_view tagged_part(std::string_view s, std::string_view tag) {
  const std::size_t at = s.find(tag);
  if (at == std::string_view::npos) return {};
  s.remove_prefix(at + tag.size());
  return trimmed(s.substr(0, s.find(';')));
}
} // namespace detail

/// `CUDNN_DATA_FLOAT (0)` and `CUDA_R_32F(0)` without the number behind them.
inline std::string_view word(std::string_view value) {
  return detail::trimmed(value.substr(0, value.find('(')));
}

/// The whole number that a text is.
inline std::optional<std::int64_t> number(std::string_view s) {
  std::int64_t v = 0;
  const auto [end, bad] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (s.empty() || bad != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return v;
}

/// The numbers of `[1,64,56,56]`; nothing if that is none, or of more than eight.
inline std::optional<shape> numbers(std::string_view s) {
  if (s.size() < 2 || s.front() != '[' || s.back() != ']') return std::nullopt;
  shape out;
  for (const std::string_view one : items(s.substr(1, s.size() - 2), ",")) {
    const auto v = number(detail::trimmed(one));
    if (!v || out.size == 8) return std::nullopt;
    out.push(*v);
  }
  return out;
}

/// The arguments of one call.
class fields {
public:
  static constexpr std::size_t limit_bytes = std::size_t{1} << 22;

  void clear() {
    text_.clear();
    all_.clear();
  }
  /// Adds a line, without the library's prefix.
  void add(std::string_view line) {
    if (text_.size() + line.size() > limit_bytes) return;
    text_.append(line).push_back('\n');
  }
  /// To be called when all lines are there.
  void parse() {
    all_.clear();
    for (const std::string_view line : items(text_, "\n"))
      add_field(line);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i <= all_.size(); ++i) {
      while (!open.empty() && (i == all_.size() || all_[open.back()].indent >= all_[i].indent)) {
        all_[open.back()].end = i;
        open.pop_back();
      }
      if (i < all_.size()) open.push_back(i);
    }
  }

  const std::vector<field>& all() const { return all_; }
  const std::string& text() const { return text_; }

  /// The first argument of that name; null: there is none.
  const field* find(std::string_view name) const {
    for (std::size_t i = 0; i < all_.size(); i = all_[i].end)
      if (all_[i].name == name) return &all_[i];
    return nullptr;
  }
  /// The members of an argument, or of a member, in their order.
  std::vector<const field*> members(const field& of) const {
    std::vector<const field*> out;
    for (std::size_t i = place(of) + 1; i < of.end; i = all_[i].end)
      out.push_back(&all_[i]);
    return out;
  }
  /// The first member of that name; null: there is none.
  const field* below(const field& of, std::string_view name) const {
    for (std::size_t i = place(of) + 1; i < of.end; i = all_[i].end)
      if (all_[i].name == name) return &all_[i];
    return nullptr;
  }
  /// The first member of that name at any depth.
  const field* deep_below(const field& of, std::string_view name) const {
    for (std::size_t i = place(of) + 1; i < of.end; ++i)
      if (all_[i].name == name) return &all_[i];
    return nullptr;
  }
  /// The value of an argument; empty where there is none.
  std::string_view value(std::string_view name) const {
    const field* f = find(name);
    return f == nullptr ? std::string_view{} : f->value;
  }
  /// The value of a member; empty where there is none.
  std::string_view value(const field& of, std::string_view name) const {
    const field* f = below(of, name);
    return f == nullptr ? std::string_view{} : f->value;
  }

private:
  std::size_t place(const field& f) const { return static_cast<std::size_t>(&f - all_.data()); }

  void add_field(std::string_view line) {
    field f;
    f.indent = line.find_first_not_of(' ');
    if (f.indent == std::string_view::npos) return;
    line.remove_prefix(f.indent);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    f.name = line.substr(0, colon);
    line.remove_prefix(colon + 1);
    f.type = detail::tagged_part(line, "type=");
    if (f.type.ends_with(':')) f.type.remove_suffix(1);
    f.value = detail::tagged_part(line, "val=");
    all_.push_back(f);
  }

  std::string text_;
  std::vector<field> all_;
};

} // namespace benanza::trace
