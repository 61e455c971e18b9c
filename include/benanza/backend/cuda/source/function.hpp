// SPDX-License-Identifier: Apache-2.0
// What does an elementwise function read like in C? Its formula (../../formula.hpp) as an
// expression of names that hold numbers of the computed type: f32 or f64 for real ones, 64 bits for
// whole ones, which have some functions of their own. Attribute values are those that every backend
// uses.
//
//   expression_of(op::binary_function::prelu, "a", "b", f32) == "((a < 0.0f) ? (a * b) : a)"
#pragma once

#include "../../formula.hpp"
#include "number.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::backend::cuda::source {

/// A text in C that calculates like a number: operators make longer ones.
class expression {
public:
  expression(double literal) // NOLINT: formulas have numbers in them
      : number_(literal) {}
  expression(std::string text, const arithmetic& a)
      : text_(std::move(text))
      , numbers_(&a) {}

  /// As `a` has it; a literal takes the type of what is beside it.
  std::string in(const arithmetic& a) const {
    if (numbers_ != nullptr) return text_;
    return a.whole ? std::to_string(static_cast<long long>(number_)) : literal(number_, a);
  }
  friend expression joined(const expression& x, std::string_view sign, const expression& y) {
    const arithmetic& a = type_of(x, y);
    return {'(' + x.in(a) + std::string(sign) + y.in(a) + ')', a};
  }
  friend expression called(std::string_view name, const expression& x) {
    return {std::string(name) + x.numbers_->suffix + '(' + x.text_ + ')', *x.numbers_};
  }
  friend expression called(std::string_view name, const expression& x, const expression& y) {
    const arithmetic& a = type_of(x, y);
    return {std::string(name) + a.suffix + '(' + x.in(a) + ", " + y.in(a) + ')', a};
  }
  friend expression chosen(const expression& when, const expression& x, const expression& y) {
    const arithmetic& a = *when.numbers_;
    return {'(' + when.text_ + " ? " + x.in(a) + " : " + y.in(a) + ')', a};
  }
  friend expression operator-(const expression& x) { return {"(-" + x.text_ + ')', *x.numbers_}; }

private:
  /// Of two, of which one at least is no literal.
  static const arithmetic& type_of(const expression& x, const expression& y) {
    return x.numbers_ != nullptr ? *x.numbers_ : *y.numbers_;
  }

  std::string text_{};
  double number_ = 0;
  const arithmetic* numbers_ = nullptr; ///< null: a literal
};

// clang-format off
using operand = const expression&;
inline expression operator+(operand x, operand y) { return joined(x, " + ", y); }
inline expression operator-(operand x, operand y) { return joined(x, " - ", y); }
inline expression operator*(operand x, operand y) { return joined(x, " * ", y); }
inline expression operator/(operand x, operand y) { return joined(x, " / ", y); }
inline expression operator<(operand x, operand y) { return joined(x, " < ", y); }
inline expression operator>(operand x, operand y) { return joined(x, " > ", y); }
inline expression operator<=(operand x, operand y) { return joined(x, " <= ", y); }
inline expression operator>=(operand x, operand y) { return joined(x, " >= ", y); }
inline expression operator==(operand x, operand y) { return joined(x, " == ", y); }
inline expression operator!=(operand x, operand y) { return joined(x, " != ", y); }
inline expression operator&&(operand x, operand y) { return joined(x, " && ", y); }
inline expression operator||(operand x, operand y) { return joined(x, " || ", y); }
} // namespace benanza::backend::cuda::source

template <>
struct benanza::backend::mathematics<benanza::backend::cuda::source::expression> {
  using text = cuda::source::expression;
  using operand = const text&;
  static text call(const c_function& f, operand v) { return called(f.name, v); }
  static text larger(operand a, operand b) { return called("fmax", a, b); }
  static text smaller(operand a, operand b) { return called("fmin", a, b); }
  static text select(operand when, operand a, operand b) { return chosen(when, a, b); }
  static text number(operand truth) { return truth; }
  static text infinite(operand v) { return v == v && v - v != 0.; }
  static text power(operand a, operand b) { return called("pow", a, b); }
  static text rest(operand a, operand b) { return called("fmod", a, b); }
  /// Without fmod, which takes a GPU long.
  static text modulus(operand a, operand b) { return a - b * called("floor", a / b); }
};
// clang-format on

namespace benanza::backend::cuda::source {

/// The expression of a function of one number; nothing where whole numbers have none.
inline std::optional<std::string> expression_of(op::unary_function f, const std::string& v,
                                                const arithmetic& a) {
  using enum op::unary_function;
  if (f == bitwise_not) return a.whole ? std::optional("(~" + v + ')') : std::nullopt;
  if (a.whole) switch (f) {
    case floor:
    case ceil:
    case round: return v;
    case abs: return '(' + v + " < 0 ? -" + v + " : " + v + ')';
    case relu:
    case neg:
    case sign:
    case logical_not: break;
    default: return std::nullopt;
    }
  return formula(f, expression(v, a)).in(a);
}

/// The expression of a function of two numbers; Mean adds, its division comes at the end.
inline std::string expression_of(op::binary_function f, const std::string& x, const std::string& y,
                                 const arithmetic& a) {
  using enum op::binary_function;
  const auto with = [&](std::string_view sign) {
    return '(' + x + ' ' + std::string(sign) + ' ' + y + ')';
  };
  const std::string last = a.stored == "int" ? "31" : "63";
  const std::string inside = '(' + y + " >= 0 && " + y + " <= " + last + ')';
  if (a.whole) switch (f) {
    case pow: return "whole_power(" + x + ", " + y + ')';
    case mod: return "whole_mod(" + x + ", " + y + ')';
    case fmod: return '(' + y + " == 0 ? 0 : " + with("%") + ')';
    case bitwise_and: return with("&");
    case bitwise_or: return with("|");
    case bitwise_xor: return with("^");
    case shift_left: // what is shifted by its width or more is gone
      return '(' + inside + " ? " + with("<<") + " : 0)";
    case shift_right: return '(' + x + " >> (" + inside + " ? " + y + " : " + last + "))";
    default: break;
    }
  return formula(f, expression(x, a), expression(y, a)).in(a);
}

/// What the expressions of whole numbers need.
inline std::string functions_of(op::binary_function f, const arithmetic& a) {
  if (f == op::binary_function::mod && a.whole)
    return "static __device__ __forceinline__ long long whole_mod(long long a, long long b) {\n"
           "  if (b == 0) return 0;\n"
           "  long long r = a % b;\n"
           "  return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n}\n";
  if (f != op::binary_function::pow || !a.whole) return {};
  return "static __device__ __forceinline__ long long whole_power(long long a, long long b) {\n"
         "  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;\n"
         "  long long p = 1;\n"
         "  for (; b > 0; --b) p *= a;\n"
         "  return p;\n}\n";
}

} // namespace benanza::backend::cuda::source
