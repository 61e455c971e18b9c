// SPDX-License-Identifier: Apache-2.0
// A layer with elementwise steps done on its result before that is written: Conv+Relu, Gemm+Add,
// Conv+Add+Relu. A step is a function of one number, or joins the result with a further operand,
// which broadcasts to it. A library that fuses saves the trips through memory in between.
//
//   fused<conv>{.base = conv{...}, .steps = {binary_function::add, unary_function::relu}}
//   family Conv+Add+Relu; the key is the base's; a joined operand of other dims is added:
//   -w1x64x1x1
#pragma once

#include "eltwise.hpp"

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace benanza::op {

/// One step on the result of a layer.
struct step {
  bool joins = false; ///< takes a further operand
  unary_function function = unary_function::relu;
  binary_function join = binary_function::add; ///< the result so far is its first operand
  shape operand{};                             ///< of a join; empty: of the result's dims

  constexpr step() = default;
  constexpr step(unary_function f)
      : function(f) {}
  constexpr step(binary_function f, const shape& with = {})
      : joins(true)
      , join(f)
      , operand(with) {}

  constexpr std::string_view family() const {
    return joins ? binary_families[static_cast<std::size_t>(join)]
                 : unary_families[static_cast<std::size_t>(function)];
  }
  constexpr bool operator==(const step&) const = default;
};

/// The steps of a fused layer, in order; structural, so it can be part of a template argument.
struct step_list {
  static constexpr int capacity = 6;
  step at[capacity]{};
  int size = 0;

  constexpr step_list() = default;
  constexpr step_list(std::initializer_list<step> steps) {
    for (const step& s : steps)
      push(s);
  }
  constexpr void push(const step& s) {
    if (size >= capacity) throw error("a fused layer has more than six steps");
    at[size++] = s;
  }
  constexpr const step* begin() const { return at; }
  constexpr const step* end() const { return at + size; }
  constexpr bool operator==(const step_list& o) const {
    if (size != o.size) return false;
    for (int i = 0; i < size; ++i)
      if (!(at[i] == o.at[i])) return false;
    return true;
  }
};

namespace detail {
/// Text that lives as long as the program, for families that are put together.
inline std::string_view kept(const std::string& text) {
  static std::set<std::string> all;
  return *all.insert(text).first;
}

/// The step of that family; a join's operand has the result's dims.
inline std::optional<step> step_of(std::string_view family) {
  if (const auto f = find_family<unary_function>(unary_families, family)) return step(*f);
  if (const auto f = find_family<binary_function>(binary_families, family)) return step(*f);
  return std::nullopt;
}

/// Functions of two operands that a step may be.
constexpr bool joinable(binary_function f) {
  return f <= binary_function::div || f == binary_function::min || f == binary_function::max;
}

constexpr std::string_view operand_tags[step_list::capacity] = {"w",    "ww",    "www",
                                                                "wwww", "wwwww", "wwwwww"};
} // namespace detail

/// A layer and what is done on its result.
template <class Base>
struct fused {
  Base base{};
  step_list steps{};

  static std::optional<fused> of(std::string_view family) {
    const std::size_t plus = family.find('+');
    if (plus == std::string_view::npos) return std::nullopt;
    const auto base_of = Base::of(family.substr(0, plus));
    if (!base_of) return std::nullopt;
    fused out{.base = *base_of};
    for (std::string_view rest = family.substr(plus + 1);;) {
      const std::size_t end = rest.find('+');
      const auto s = detail::step_of(rest.substr(0, end));
      if (!s) return std::nullopt;
      out.steps.push(*s);
      if (end == std::string_view::npos) return out;
      rest = rest.substr(end + 1);
    }
  }
  std::string_view family() const {
    std::string text(base.family());
    for (const step& s : steps)
      text.append("+").append(s.family());
    return detail::kept(text);
  }

  template <class Archive>
  constexpr void fields(Archive& a) {
    base.fields(a);
    for (int i = 0; i < steps.size; ++i)
      if (steps.at[i].joins) a.tagged_list("", detail::operand_tags[i], steps.at[i].operand);
  }

  constexpr void validate() const {
    base.validate();
    if (steps.size < 1) throw error("a fused layer has no steps");
    if constexpr (requires { base.element; })
      if (base.element != dtype::real) throw error("only layers of real numbers are fused");
    if constexpr (requires { base.comparison(); })
      if (base.truth() || of_bits(base.function))
        throw error("truth values and bits are not fused");
    if constexpr (std::is_same_v<Base, unary>)
      if (!of_reals(base.function)) throw error("truth values and bits are not fused");
    for (const step& s : steps) {
      if (!s.joins) {
        if (!of_reals(s.function)) throw error("truth values and bits are not fused");
        continue;
      }
      if (!detail::joinable(s.join)) throw error("this function of two operands is not fused");
      check_dims(operand_of(s));
      if (!(broadcast(output(), operand_of(s)) == output()))
        throw error("a joined operand does not broadcast to the result");
    }
    (void)cost();
  }

  constexpr shape output() const { return base.output(); }
  /// Dims of the operand that a joining step takes.
  constexpr shape operand_of(const step& s) const {
    return s.operand.empty() ? output() : s.operand;
  }

  constexpr work cost() const { return with_steps(base.cost()); }
  constexpr std::int64_t direct_flops() const {
    work w;
    if constexpr (requires { base.direct_flops(); })
      w.other = base.direct_flops();
    else
      w.other = base.cost().flops();
    return with_steps(w).other;
  }

  constexpr fused canonical_form() const {
    fused out{.base = base.canonical_form(), .steps = steps};
    for (int i = 0; i < steps.size; ++i)
      if (out.steps.at[i].operand == output()) out.steps.at[i].operand = {};
    return out;
  }
  constexpr bool operator==(const fused&) const = default;

private:
  constexpr work with_steps(work w) const {
    const std::int64_t n = elements(output());
    for (const step& s : steps) {
      w.other += n;
      if (s.joins) w.sources += elements(operand_of(s));
    }
    return w;
  }
};

/// True for fused layers of any base.
template <class Layer>
inline constexpr bool is_fused = false;
template <class Base>
inline constexpr bool is_fused<fused<Base>> = true;

} // namespace benanza::op
